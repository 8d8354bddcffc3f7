<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="row_parts" file="/balance/shared/row_parts.mako"/>
<%namespace name="row_bits" file="/multi_search/ms_bfs_rows.mako"/>
// Breadth-first searches from many sources in one pass over the edges: every vertex has a row of bits,
// a bit for each search.
//
// A level gathers, for every vertex that some search has not seen, the rows of those in-neighbours
// that the level before reached. Rows of such vertices alone are valid: `active` says which.
// Levels are launches; one that follows the last finds nothing to do and returns. The rows of the last
// SLOTS_KEPT levels are kept, in slots that take turns, and settled together (ms_bfs_settle.cl).
//
// Races: a long row is gathered in parts, by several SIMD groups, which claim what they found in
// `seen` and `next` by atomics. One that already sees another's claim leaves it out, as it may.

${group.words()}

${row_bits.declarations()}
#define ROW_LANES ${min(config.row_words, config.lanes)}u
#define LANE_WORDS ${config.lane_words}u
#define SLOTS ${config.slots}u                      // edges of one vertex that are read at the same time
#define PART_EDGES ${config.part_edges}u

## The other words of this lane's share of a row.
<%def name="each_word()">
for (uint p = 0; p < LANE_WORDS; ++p) {
    ${caller.body()}
}
</%def>


${group.kernel()} ms_bfs_gather(
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    __global const uint *restrict in_indices,       // [m]
    const uint parts,
    __global const uint *restrict part_vertices,    // [parts] rows longer than PART_EDGES, in parts
    __global const offset_t *restrict part_begins,  // [parts]
    __global uint *seen,                            // [n, ROW_WORDS] in/out
    __global uint *rows,                            // [SLOTS_KEPT, n, ROW_WORDS] found, by level
    __global uchar *actives,                        // [SLOTS_KEPT, n] whether a row counts
    ${row_bits.arguments()})
{
    ${lanes.setup()}
    if (!LAST_FOUND(level)) return;
    __global const uint *const frontier = rows + SLOT(level - 1) * ROW_WORDS;
    __global const uchar *const active = actives + SLOT(level - 1);
    __global uint *const next = rows + SLOT(level) * ROW_WORDS;
    __global uchar *const next_active = actives + SLOT(level);
    const uint units = GROUP_LANES * (uint)get_num_groups(0), unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    const uint first_word = lane_id() % ROW_LANES, my_slot = lane_id() / ROW_LANES;
    int found_any = 0;
    <%row_parts:each_row begins="in_indptr">
        const ulong row = (ulong)v * ROW_WORDS + first_word;
        uint wanted[LANE_WORDS], got[LANE_WORDS], pending = 0;
        <%self:each_word>
            wanted[p] = ~seen[row + p * LANES];
            got[p] = 0;
            pending |= wanted[p];
        </%self:each_word>
        if (lane_any(pending != 0)) {
            for (; e < row_end; e += LANES) {
                const int has_edge = e + lane_id() < row_end;
                const uint my_u = has_edge ? in_indices[e + lane_id()] : 0u;
                lanemask_t mask = lane_ballot(has_edge && active[my_u]);
                if (!mask) continue;
                while (mask) {
                    ${take_edges()}
                }
                ${join_slots()}
                pending = 0;
                <%self:each_word>
                    pending |= wanted[p] & ~got[p];
                </%self:each_word>
                if (!lane_any(pending != 0)) break;
            }
        }
        uint any = 0;
        <%self:each_word>
            got[p] &= wanted[p];
            any |= got[p];
        </%self:each_word>
        const int found_here = lane_any(any != 0);
        found_any |= found_here;
        if (found_here && my_slot == 0) {
            if (is_part) {
                <%self:each_word>
                    if (got[p]) {
                        atomic_or(next + row + p * LANES, got[p]);
                        atomic_or(seen + row + p * LANES, got[p]);
                    }
                </%self:each_word>
            } else {
                <%self:each_word>
                    next[row + p * LANES] = got[p];
                    seen[row + p * LANES] = ~wanted[p] | got[p];
                </%self:each_word>
            }
        }
        if (lane_id() == 0 && (found_here || !is_part)) next_active[v] = (uchar)found_here;
    </%row_parts:each_row>
    if (lane_id() == 0 && found_any) FOUND(level) = 1;
}

## The rows of the next edges in `mask`: SLOTS of them side by side, or several one after the other so
## that their loads overlap.
<%def name="take_edges()">
% if config.slots > 1:
uint place = 0;
int taken = 0;
for (uint s = 0; s < SLOTS; ++s) {
    if (s == my_slot && mask) {
        place = lanemask_first(mask);
        taken = 1;
    }
    mask &= mask - 1;
}
const uint u = lane_shuffle(my_u, place);
if (taken) got[0] |= frontier[(ulong)u * ROW_WORDS + first_word];
% else:
% for j in range(config.batch):
const uint place${j} = ${"lanemask_first(mask)" if j == 0 else f"mask ? lanemask_first(mask) : place{j - 1}"};
mask &= mask - 1;
const ulong row${j} = (ulong)lane_shuffle(my_u, place${j}) * ROW_WORDS + first_word;
% endfor
<%self:each_word>
    got[p] |= ${" | ".join(f"frontier[row{j} + p * LANES]" for j in range(config.batch))};
</%self:each_word>
% endif
</%def>

<%def name="join_slots()">
% if config.slots > 1:
for (uint step = ROW_LANES; step < LANES; step <<= 1) got[0] |= lane_shuffle(got[0], lane_id() ^ step);
% endif
</%def>

// By one work-item a word: no search has seen anything; those that do not exist have seen everything.
__kernel void ms_bfs_clear(
    const uint n,
    const uint searches,
    __global const uint *restrict sources,          // [searches]
    __global uint *seen, __global uint *rows, __global uchar *actives,
    volatile __global uint *found)
{
    const ulong first = get_global_id(0), step = get_global_size(0);
    for (ulong x = first; x < (ulong)n * ROW_WORDS; x += step) {
        const uint bit = (uint)(x % ROW_WORDS) * 32u;
        const uint exist = searches <= bit ? 0u : searches - bit >= 32u ? 0xffffffffu : (1u << (searches - bit)) - 1u;
        seen[x] = ~exist;
    }
    for (ulong x = first; x < n; x += step) actives[x] = 0;
    for (ulong x = first; x < (ulong)searches * ROW_WORDS; x += step)
        rows[(ulong)sources[x / ROW_WORDS] * ROW_WORDS + x % ROW_WORDS] = 0;
    for (ulong x = first; x < ${config.found_words}u; x += step) found[x] = x == 0;
}

// By one work-item a search.
__kernel void ms_bfs_start(
    const uint searches,
    __global const uint *restrict sources,
    __global uint *seen, __global uint *rows, __global uchar *actives)
{
    for (uint s = (uint)get_global_id(0); s < searches; s += (uint)get_global_size(0)) {
        const ulong word = (ulong)sources[s] * ROW_WORDS + s / 32u;
        atomic_or(seen + word, 1u << s % 32u);
        atomic_or(rows + word, 1u << s % 32u);
        actives[sources[s]] = 1;
    }
}

// Before the levels after `level`: rows that are gathered in parts must be empty, in all slots but its.
__kernel void ms_bfs_renew(
    const uint long_rows,
    __global const uint *restrict long_vertices,
    __global uint *rows, __global uchar *actives,
    ${row_bits.arguments()})
{
    const ulong first = get_global_id(0), step = get_global_size(0), words = (ulong)long_rows * ROW_WORDS;
    for (uint later = 1; later < SLOTS_KEPT; ++later) {
        for (ulong x = first; x < words; x += step)
            rows[(SLOT(level + later) + long_vertices[x / ROW_WORDS]) * ROW_WORDS + x % ROW_WORDS] = 0;
        for (ulong x = first; x < long_rows; x += step) actives[SLOT(level + later) + long_vertices[x]] = 0;
        if (first == 0 && level) FOUND(level + later) = 0;
    }
}
