## betweenness_rows: what betweenness.cl does with a row: sum up neighbours, and settle what is new.
##
## In scope      the kernels' arguments and what betweenness.cl declares for all of them

<%namespace name="row_parts" file="/balance/shared/row_parts.mako"/>

## The sum over the edges in_indices[e .. row_end) of `values` of those neighbours that have `depth`.
<%def name="sum_neighbours(values, depth)">
reals_t sum = 0;
for (; e < row_end; e += LANES) {
    const int has_edge = e + lane_id() < row_end;
    const uint my_u = has_edge ? row_indices[e + lane_id()] : 0u;
    lanemask_t mask = lane_ballot(has_edge${" && active[my_u]" if values == "paths" else ""});
    while (mask) {
        % for j in range(config.batch):
        const uint place${j} = ${"lanemask_first(mask)" if j == 0 else f"mask ? lanemask_first(mask) : place{j - 1}"};
        const int taken${j} = ${1 if j == 0 else "mask != 0"};
        mask &= mask - 1;
        const ulong row${j} = (ulong)lane_shuffle(my_u, place${j}) * ROW + lane_id();
        % endfor
        % for j in range(config.batch):
        const hits_t hits${j} = depths[row${j}] == (depths_t)(uchar)(${depth});
        % endfor
        % for j in range(config.batch):
        if (taken${j} && any(hits${j})) sum += select((reals_t)0, ${values}[row${j}], REALS_MASK(hits${j}));
        % endfor
    }
}
</%def>

## Rows by SIMD groups, with this lane's place in the vertex's row of places.
<%def name="each_row()">
const uint units = GROUP_LANES * (uint)get_num_groups(0), unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
<%row_parts:each_row begins="row_begins">
    const ulong row = (ulong)v * ROW + lane_id();
    ${caller.body()}
</%row_parts:each_row>
</%def>

<%def name="add_part()">
{
    __global ${config.real} *const target = (__global ${config.real} *)(partial + (ulong)part_rows[item] * ROW + lane_id());
    ${config.real} parts_of[WIDTH];
    vstore${config.width}(sum, 0, parts_of);
    for (uint q = 0; q < WIDTH; ++q)
        if (parts_of[q] != 0) atomic_add_${config.real}(target + q, parts_of[q]);
}
</%def>

<%def name="arguments()">
    __global const offset_t *restrict row_begins,   // [n + 1]
    __global const uint *restrict row_indices,      // [m]
    const uint n,
    const uint parts,
    __global const uint *restrict part_vertices,    // [parts] rows longer than PART_EDGES, in parts
    __global const offset_t *restrict part_begins,  // [parts]
    __global const uint *restrict part_rows,        // [parts] which of the long rows it is of
    __global reals_t *partial,                      // [long_rows, ROW] zero
</%def>

## What was summed up of each long row, by SIMD group `unit` of `units`.
<%def name="each_long_row(settle)">
for (uint long_row = unit; long_row < long_rows; long_row += units) {
    const uint v = long_vertices[long_row];
    const ulong row = (ulong)v * ROW + lane_id(), of_row = (ulong)long_row * ROW + lane_id();
    const reals_t sum = partial[of_row];
    partial[of_row] = 0;
    ${settle()}
}
</%def>

## What is new in a row, given the sums over its in-neighbours.
<%def name="settle_forward()">
const hits_t fresh = (depths[row] == (depths_t)UNSEEN) & convert_char${config.width}(sum != (reals_t)0);
const int any_fresh = lane_any(any(fresh));
if (any(fresh)) {
    depths[row] = select(depths[row], (depths_t)(uchar)level, as_uchar${config.width}(fresh));
    paths[row] = select(paths[row], sum, REALS_MASK(fresh));
    if (any(isinf(sum))) flags[1] = 1;
}
found_any |= any_fresh;
if (lane_id() == 0) next_active[v] = (uchar)any_fresh;
</%def>

<%def name="settle_back()">
const hits_t here = depths[row] == (depths_t)(uchar)level;
${config.real} share = 0;
if (any(here)) {
    const reals_t mine = paths[row];
    coefs[row] = select(coefs[row], sum + (reals_t)1 / mine, REALS_MASK(here));
    const reals_t shares = select((reals_t)0, sum * mine, REALS_MASK(here));
    ${config.real} share_of[WIDTH];
    vstore${config.width}(shares, 0, share_of);
    for (uint q = 0; q < WIDTH; ++q) share += share_of[q];
}
share = lane_reduce_in_real_sum(LANE_ARGS share);
if (lane_id() == 0 && share != 0) scores[v] += share;
</%def>
