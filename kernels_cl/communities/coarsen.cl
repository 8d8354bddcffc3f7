<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="bisect" file="/rows/bisect.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// A graph whose vertices are the communities, or parts of them, of another.
//
// Edges within a community become its loop; the others are listed by community, as pairs with the one
// that they lead to. A stable sort by the latter alone brings them into the order of the edges in the
// other direction, which are the same; every run of equal pairs becomes an edge. No races: whatever
// several work-items add to is atomic, of whole numbers.
${level.declarations()}
typedef ${key} pair_t;
#define LEADS_TO(pair) ((uint)((pair) & (((pair_t)1 << width) - 1)))

// How many edges leave each community; what stays becomes the new vertex's loop.
__kernel KERNEL void coarsen_count(
${level.rows()}\
${level.chunk_parameters()}\
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global const uint *restrict numbers,      // [n] new vertex of a label
    __global const sum_t *restrict strengths,   // [n]
    __global const sum_t *restrict loops,       // [n]
    volatile __global uint *leaving,            // [new n] in/out, 0 on entry
    volatile __global sum_t *new_strengths,     // [new n] in/out, 0 on entry
    volatile __global sum_t *new_loops)         // [new n] in/out, 0 on entry
{
    ${lanes.setup()}
    <%level:each_part args="part">
        const uint own = labels[row];
        sum_t inner = 0;
        uint left = 0u;
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const uint u = indices[e];
            if (labels[u] != own) ++left;
            else if (u != row) inner += WEIGHT(e);
        }
        inner = lane_reduce_sum(inner);
        left = lane_reduce_add(left);
        if (lane_id() == 0u) {
            if (left) atomic_add(&leaving[numbers[own]], left);
            if (${f"{part} == 0u" if part else "1"}) {
                inner += loops[row];
                sum_add_global(&new_strengths[numbers[own]], strengths[row]);
            }
            if (inner) sum_add_global(&new_loops[numbers[own]], inner);
        }
    </%level:each_part>
}

__kernel KERNEL void coarsen_pairs(
${level.rows()}\
${level.chunk_parameters()}\
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global const uint *restrict numbers,      // [n]
    volatile __global uint *places,             // [new n] in/out: where pairs of each begin
    const uint width,                           // bits of a number, in whole digits of the sort
    __global pair_t *restrict pairs,            // out: from where, and in the low bits where to
    __global sum_t *restrict pair_weights)      // out, where there are weights
{
    ${lanes.setup()}
    <%level:each_part args="part">
        const uint own = labels[row], number = numbers[own];
        for (offset_t step = begin; step < row_end; step += LANES) {
            const offset_t e = step + lane_id();
            const uint other = e < row_end ? labels[indices[e]] : own;
            const lanemask_t leave = lane_ballot(other != own);
            // Which pair of a community is before which changes nothing.
            uint place = 0u;
            if (lane_id() == 0u && leave) place = atomic_add(&places[number], lanemask_count(leave));
            place = lane_shuffle(place, 0u);
            if (other != own) {
                const uint at = place + lanemask_count(leave & lane_mask_lt());
                pairs[at] = (pair_t)number << width | numbers[other];
% if weighted:
                pair_weights[at] = WEIGHT(e);
% endif
            }
        }
    </%level:each_part>
}

// Where runs of equal pairs begin.
__kernel KERNEL void coarsen_runs(
    __global const pair_t *restrict pairs,      // [count] sorted
    const uint count,
    __global uchar *restrict begins,            // [count] out
    __global uint *restrict places)             // [count] out: all
{
    <%share:each_item count="count">
        begins[item] = item == 0u || pairs[item] != pairs[item - 1u];
        places[item] = item;
    </%share:each_item>
}

__kernel KERNEL void coarsen_rows(
    __global const pair_t *restrict pairs,      // [pair_count] sorted
    __global const uint *restrict run_places,   // [count] where runs begin
    const uint count,
    const uint pair_count,
    const uint width,
    __global const sum_t *restrict before,      // [pair_count] sum of all weights before
    __global const sum_t *restrict all,         // [1] sum of all
    __global uint *restrict indices,            // [count] out
    __global sum_t *restrict weights)           // [count] out
{
    <%share:each_item count="count">
        const uint place = run_places[item];
        const uint end = item + 1u < count ? run_places[item + 1u] : pair_count;
        const pair_t pair = pairs[place];
        indices[item] = (uint)(pair >> width);
% if weighted:
        weights[item] = (end < pair_count ? before[end] : all[0]) - before[place];
% else:
        weights[item] = end - place;
% endif
    </%share:each_item>
}

// Where rows begin; those without edges where the next one does.
__kernel KERNEL void coarsen_begins(
    __global const pair_t *restrict pairs,      // [pair_count] sorted
    __global const uint *restrict run_places,   // [count] where runs begin
    const uint count,
    const uint width,
    const uint n,                               // new vertices
    __global offset_t *restrict indptr)         // [n + 1] out
{
    <%share:each_item count="n + 1u">
        uint low = 0u, high = count;
        ${bisect.first("low", "high", "LEADS_TO(pairs[run_places[middle]]) < item")}
        indptr[item] = low;
    </%share:each_item>
}

// Of each community the least new vertex in it, as the complement so that 0 is no vertex.
__kernel KERNEL void coarsen_least(
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global const uint *restrict parts,        // [n]
    __global const uint *restrict numbers,      // [n] new vertex of a part
    volatile __global uint *least)              // [n] in/out, 0 on entry
{
    <%share:each_item count="n">
        const uint own = ~numbers[parts[item]];
        if (own > least[labels[item]]) atomic_max(&least[labels[item]], own);
    </%share:each_item>
}

// New vertices are in the communities that their parts are in.
__kernel KERNEL void coarsen_inherit(
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global const uint *restrict parts,        // [n]
    __global const uint *restrict numbers,      // [n]
    __global const uint *restrict least,        // [n]
    __global uint *restrict new_labels)         // [new n] out
{
    <%share:each_item count="n">
        new_labels[numbers[parts[item]]] = ~least[labels[item]];
    </%share:each_item>
}
