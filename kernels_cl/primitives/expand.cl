<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="find" file="/balance/shared/find.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
// Load balancing by itself: every unit of every item once, as (item, place in the item).
//
// Races: none; a unit is written by whoever it was given to, and the test of this file is that this
// is exactly one work-item. Counters are atomic.
${group.words()}
#define entry_t uint
#define ENTRY_VERTEX(entry_) (entry_)
#define ENTRY_BEGIN(entry_) ${items.module.prefix_at(config, "", "entry_")}
#define ENTRY_DEGREE(entry_) ((uint)(${items.module.prefix_at(config, "", "(entry_) + 1")} - ENTRY_BEGIN(entry_)))
% for index, name in enumerate(counters):
#define ${name} ${index}
% endfor
% if config.read_only:
#define OFFSETS __global const offset_t *restrict
% else:
#define OFFSETS __global offset_t *
% endif

<%def name="write(count)">
% if count == 4 and not config.with_ranks and not config.counts:
// Consecutive and, because chunks are, aligned.
if (active3) *(__global uint4 *)(owners + e0) = (uint4)(u0, u1, u2, u3);
else {
    % for k in range(3):
    if (active${k}) owners[e${k}] = u${k};
    % endfor
}
% else:
% for k in range(count):
if (active${k}) {
    owners[e${k}] = u${k};
    % if config.with_ranks:
    ranks[e${k}] = (uint)(e${k} - ENTRY_BEGIN(u${k}));
    % endif
    % if config.counts:
    atomic_inc(visits + e${k});
    writers[e${k}] = (uint)get_global_id(0);
    % endif
}
% endfor
% endif
</%def>

${group.kernel()} expand(
    OFFSETS indptr,                             // [items + 1] exclusive prefix sums of the sizes
    const uint items,
    const uint resident_items,                  // work-items that the device holds at once
    __global const uint *restrict chunk_items,  // [chunks + 1], or one element
    const uint dyn_threshold,                   // larger items are cut in tiles
    const uint tile_units,
    __global uint2 *restrict tiles,             // [tiles] out: item and number of the tile in it
    volatile __global uint *tile_count,         // [1] in/out
    __global uint *restrict owners,             // [units] out
    __global uint *restrict ranks,              // [units] out, or one element
    volatile __global uint *visits,             // [units] in/out, or one element
    __global uint *restrict writers,            // [units] out: global ids, or one element
    volatile __global uint *counters)           // [counters] in/out, or one element
{
    ${lanes.setup()}
    ${advance.setup()}
    const uint member = (uint)get_group_id(0), slot = 0;
    struct { uint members; } now;
    now.members = (uint)get_num_groups(0);
    const uint tile_size = ${config.tile}u;
    ${advance.each_edge("", "items", write)}
}

% if config.balance.name in ("two_phase", "multi_phase"):
// Where each chunk begins: one search a chunk, by a work-item each or by all lanes of a SIMD group.
${group.kernel()} expand_partition(
    OFFSETS indptr,                             // [items + 1]
    const uint items,
    const uint chunks,
    __global uint *restrict chunk_items,        // [chunks + 1] out
    volatile __global uint *counters)
{
    ${lanes.setup()}
    const offset_t units = ENTRY_BEGIN(items);
    <% by_lanes = config.search == "lanes" and config.balance.partition == "units" %>
    % if by_lanes:
    const uint searcher = (uint)get_global_id(0) / LANES, searchers = (uint)get_global_size(0) / LANES;
    % else:
    const uint searcher = (uint)get_global_id(0), searchers = (uint)get_global_size(0);
    % endif
    for (uint chunk = searcher; chunk <= chunks; chunk += searchers) {
        % if config.balance.partition == "merge":
        ${find.merge("found", items.module.prefix_at(config, "", "{}"), "items", "units", f"(offset_t)chunk * {config.chunks.units}u")}
        % else:
        const offset_t key = min((offset_t)chunk * ${config.chunks.units}u, units - 1u);
        % if by_lanes:
        ${find.by_lanes("found", items.module.prefix_at(config, "", "{}"), "items", "key")}
        % elif config.search == "interpolation":
        ${find.interpolation("found", items.module.prefix_at(config, "", "{}"), "items", "key", config.estimates)}
        % else:
        ${find.binary("found", items.module.prefix_at(config, "", "{}"), "items", "key")}
        % endif
        % endif
        ${"if (lane_id() == 0) " if by_lanes else ""}chunk_items[chunk] = found;
    }
}
% endif

% if config.tiles:
// The units of large items, a tile to a work-group at a time.
${group.kernel()} expand_tiles(
    OFFSETS indptr,                             // [items + 1]
    const uint tile_units,
    __global const uint2 *restrict tiles,       // [tiles]
    __global const uint *restrict tile_count,   // [1]
    __global uint *restrict owners,
    __global uint *restrict ranks,
    volatile __global uint *visits,
    __global uint *restrict writers,
    volatile __global uint *counters)
{
    for (uint tile = (uint)get_group_id(0); tile < *tile_count; tile += (uint)get_num_groups(0)) {
        const uint u0 = tiles[tile].x;
        const offset_t row_end = ENTRY_BEGIN(u0 + 1);
        const offset_t begin = ENTRY_BEGIN(u0) + (offset_t)tiles[tile].y * tile_units;
        const offset_t end = min(begin + tile_units, row_end);
        for (offset_t e0 = begin + (uint)get_local_id(0); e0 < end; e0 += GROUP_SIZE) {
            const int active0 = 1;
            ${write(1)}
        }
    }
}
% endif
