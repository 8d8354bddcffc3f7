<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
// Brandes' betweenness from many sources in one traversal: a row of depths and one of path counts for
// every vertex, with a place for each source, so that neighbours are read side by side.
//
// Forward, level by level: paths to a vertex are those of its in-neighbours one level up. Backward:
// coefs is what each path has, on the average, of itself and of the paths that lead on. A SIMD group
// does a vertex; long rows are cut in parts, whose sums are added up and settled in a second launch.
//
// Race: a vertex's depth may be written while it is read as a neighbour's. It changes from UNSEEN to
// this level, and readers ask for another.

${lanes.vocabulary()}
${memory.vocabulary()}
${adding.vocabulary()}
${group.declarations()}
${lane_scan.functions("real_sum", config.real, "0", "a + b")}

#define WIDTH ${config.width}                       // sources of a lane
#define ROW LANES                                   // vectors of a row
#define PART_EDGES ${config.part_edges}u
#define UNSEEN 255                                  // a depth that no search has
#define NO_SEARCH 254                               // in places without a source
#define FOUND(level) found[(level) & ${config.found_words - 1}u]
typedef uchar${config.width} depths_t;
typedef char${config.width} hits_t;
typedef ${config.real}${config.width} reals_t;
#define REALS_MASK(hits) convert_${"long" if config.real == "double" else "int"}${config.width}(hits)

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

## Rows by SIMD groups: those that are long in parts, then the others.
<%def name="each_row()">
const uint units = GROUP_LANES * (uint)get_num_groups(0), unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
const ulong items = (ulong)parts + n;
for (ulong tile = (ulong)unit * ${config.tile}u; tile < items; tile += (ulong)units * ${config.tile}u)
for (ulong item = tile; item < min(tile + ${config.tile}u, items); ++item) {
    const int is_part = item < parts;
    const uint v = is_part ? part_vertices[item] : (uint)(item - parts);
    offset_t e = is_part ? part_begins[item] : row_begins[v];
    offset_t row_end = row_begins[v + 1];
    if (is_part) row_end = min(row_end, e + PART_EDGES);
    else if (row_end - e > PART_EDGES) continue;
    const ulong row = (ulong)v * ROW + lane_id();
    ${caller.body()}
}
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

<%def name="rows_arguments()">
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

${group.kernel()} betweenness_forward(
    ${rows_arguments()}
    const uint level,                               // the depth that is given out
    __global depths_t *depths,                      // [n, ROW] in/out
    __global reals_t *paths,                        // [n, ROW] in/out, where there is a depth
    __global const uchar *restrict active,          // [n] whether the level before found anything
    __global uchar *next_active,                    // [n] out
    volatile __global uint *found,
    volatile __global uint *flags)
{
    ${lanes.setup()}
    if (!load_relaxed(found + (level - 1 & ${config.found_words - 1}u))) return;
    int found_any = 0;
    <%self:each_row>
        const int open = lane_any(any(depths[row] == (depths_t)UNSEEN));
        if (!open) {
            if (lane_id() == 0 && !is_part) next_active[v] = 0;
            continue;
        }
        ${sum_neighbours("paths", "level - 1")}
        if (is_part) {
            ${add_part()}
        } else {
            ${settle_forward()}
        }
    </%self:each_row>
    if (lane_id() == 0 && found_any) FOUND(level) = 1;
}

${group.kernel()} betweenness_settle_forward(
    const uint long_rows,
    __global const uint *restrict long_vertices,    // [long_rows]
    __global reals_t *partial,                      // [long_rows, ROW] in; zero out
    const uint level,
    __global depths_t *depths, __global reals_t *paths, __global uchar *next_active,
    volatile __global uint *found,
    volatile __global uint *flags)
{
    ${lanes.setup()}
    if (get_global_id(0) == 0) FOUND(level + 1) = 0;
    if (!load_relaxed(found + (level - 1 & ${config.found_words - 1}u))) return;
    const uint units = GROUP_LANES * (uint)get_num_groups(0), unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    int found_any = 0;
    ${each_long_row(settle_forward)}
    if (lane_id() == 0 && found_any) FOUND(level) = 1;
}

${group.kernel()} betweenness_back(
    ${rows_arguments()}
    const uint level,                               // the depth whose vertices are summed up
    __global const depths_t *restrict depths,       // [n, ROW]
    __global const reals_t *restrict paths,         // [n, ROW]
    __global reals_t *coefs,                        // [n, ROW] in/out, from the deepest level upwards
    __global ${config.real} *scores)                // [n] in/out
{
    ${lanes.setup()}
    <%self:each_row>
        if (!lane_any(any(depths[row] == (depths_t)(uchar)level))) continue;
        ${sum_neighbours("coefs", "level + 1")}
        if (is_part) {
            ${add_part()}
        } else {
            ${settle_back()}
        }
    </%self:each_row>
}

${group.kernel()} betweenness_settle_back(
    const uint long_rows,
    __global const uint *restrict long_vertices,
    __global reals_t *partial,
    const uint level,
    __global const depths_t *restrict depths, __global const reals_t *restrict paths,
    __global reals_t *coefs, __global ${config.real} *scores)
{
    ${lanes.setup()}
    const uint units = GROUP_LANES * (uint)get_num_groups(0), unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    ${each_long_row(settle_back)}
}

// By one work-item a place of a row: nobody has been seen.
__kernel void betweenness_clear(
    const uint n,
    const uint searches,
    __global uchar *depths,                         // [n, ROW * WIDTH]
    __global uchar *active,                         // [n]
    volatile __global uint *found,
    volatile __global uint *flags)
{
    for (ulong x = get_global_id(0); x < (ulong)n * ROW * WIDTH; x += get_global_size(0))
        depths[x] = x % (ROW * WIDTH) < searches ? UNSEEN : NO_SEARCH;
    for (ulong x = get_global_id(0); x < n; x += get_global_size(0)) active[x] = 0;
    for (uint x = (uint)get_global_id(0); x < ${config.found_words}u; x += (uint)get_global_size(0)) found[x] = x == 0;
    if (get_global_id(0) == 0) flags[1] = 0;
}

// By one work-item a search.
__kernel void betweenness_start(
    const uint searches,
    __global const uint *restrict sources,
    __global uchar *depths,
    __global ${config.real} *paths,
    __global uchar *active)
{
    for (uint s = (uint)get_global_id(0); s < searches; s += (uint)get_global_size(0)) {
        const ulong place = (ulong)sources[s] * (ROW * WIDTH) + s;
        depths[place] = 0;
        paths[place] = 1;
        active[sources[s]] = 1;
    }
}
