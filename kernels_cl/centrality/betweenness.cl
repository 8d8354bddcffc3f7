<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="rows" file="/centrality/betweenness_rows.mako"/>
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

${group.kernel()} betweenness_forward(
    ${rows.arguments()}
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
    <%rows:each_row>
        const int open = lane_any(any(depths[row] == (depths_t)UNSEEN));
        if (!open) {
            if (lane_id() == 0 && !is_part) next_active[v] = 0;
            continue;
        }
        ${rows.sum_neighbours("paths", "level - 1")}
        if (is_part) {
            ${rows.add_part()}
        } else {
            ${rows.settle_forward()}
        }
    </%rows:each_row>
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
    ${rows.each_long_row(rows.settle_forward)}
    if (lane_id() == 0 && found_any) FOUND(level) = 1;
}

${group.kernel()} betweenness_back(
    ${rows.arguments()}
    const uint level,                               // the depth whose vertices are summed up
    __global const depths_t *restrict depths,       // [n, ROW]
    __global const reals_t *restrict paths,         // [n, ROW]
    __global reals_t *coefs,                        // [n, ROW] in/out, from the deepest level upwards
    __global ${config.real} *scores)                // [n] in/out
{
    ${lanes.setup()}
    <%rows:each_row>
        if (!lane_any(any(depths[row] == (depths_t)(uchar)level))) continue;
        ${rows.sum_neighbours("coefs", "level + 1")}
        if (is_part) {
            ${rows.add_part()}
        } else {
            ${rows.settle_back()}
        }
    </%rows:each_row>
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
    ${rows.each_long_row(rows.settle_back)}
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
