<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
// Sharing out a frontier by itself: each of its edges exactly once.
//
// Race: counters are atomic; nothing else is written by two work-items.
${group.words()}
${queue.declarations()}
${stage.declarations()}

<%def name="count_visits(count)">
    % for k in range(count):
    if (active${k}) {
        atomic_add(visits + e${k}, 1u | (uint)get_group_id(0) << 16);
        if (indices[e${k}] != v${k}) atomic_inc(mistakes);
    }
    % endfor
</%def>

// All groups are members of one stage.
<%def name="begin(length)">
    ${lanes.setup()}
    const uint member = (uint)get_group_id(0), slot = 0;
    stage_t now = stage_first(0u);
    now.members = (uint)get_num_groups(0);
    now.length = ${length};
</%def>

${group.kernel()} check_advance(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    __global const uint *restrict vertices,     // [count]
    const uint count,
    const uint as_hubs,
    const uint tile,
    __global entry_t *restrict entries,         // [count + lanes] scratch
    __global const uint *restrict prefix,       // [count + 1] exclusive sums of their degrees
    __global const uint *restrict chunk_items,  // [chunks + 1] see /balance/shared/chunks.mako
    __global uint *restrict visits,             // [m] in/out: how often, and above 16 bits by which group
    __global uint *restrict mistakes,           // [1] in/out
    volatile __global uint *state)
{
    ${begin("count")}
    ${advance.setup()}
    const uint tile_size = tile;
    if (as_hubs) {
        ${advance.each_hub_edge("entries", "count", count_visits)}
    } else {
        ${advance.each_edge("entries", "count", count_visits)}
    }
}

__kernel void make_entries(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict vertices,     // [count]
    const uint count,
    __global entry_t *restrict entries)         // [count] out
{
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        const uint v = vertices[i];
        entries[i] = MAKE_ENTRY(v, indptr[v], (uint)(indptr[v + 1] - indptr[v]));
    }
}
