<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="union" file="/components/union_find.mako"/>
// Connected components of graphs in which neighbours are near in number, as of roads and meshes: a group
// joins what lies within a tile of vertices in its local memory, and only links between tiles are left to
// the forest in global memory, which is that of components.cl.
//
// Where every edge is stored both ways, its larger end alone looks at it.
//
// Races: those of joining trees, see there.

${lanes.vocabulary()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define TILE ${tile}u
#define GROUP ${group_size}u

${union.meeting("volatile __local", "_near")}
${union.meeting("__global")}
// Every vertex points to the root of its tree within its tile. Vertices with links to other tiles are listed.
${lanes.kernel(group_size)} components_tiles(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    const uint both_ways,                       // whether every edge is stored both ways
    __global uint *parent,                      // [n] out
    __global uint *outside,                     // [n] out: listed vertices, from where their tile begins
    __global uint *outside_counts)              // [tiles] out
{
    ${lanes.setup()}
    __local uint near[TILE];
    __local uint listed;
    const uint lid = (uint)get_local_id(0), first = (uint)get_group_id(0) * TILE;
    const uint count = min(n - first, TILE);
    for (uint i = lid; i < TILE; i += GROUP) near[i] = i;
    if (lid == 0) listed = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Where the next row begins and ends is read while one is looked at.
    offset_t next = indptr[first + min(lid, count)], next_end = indptr[first + min(lid + 1, count)];
    for (uint i = lid; i - lid < count; i += GROUP) {
        int leaves = 0;
        offset_t e = next;
        const offset_t row_end = next_end;
        next = indptr[first + min(i + GROUP, count)];
        next_end = indptr[first + min(i + GROUP + 1, count)];
        for (; e < row_end; ++e) {
            const uint u = indices[e];
            if (both_ways && u >= first + i) break;  // rows are sorted
            if (u - first < TILE) unite_near(near, i, u - first);
            else leaves = 1;
        }
        const lanemask_t leaving = lane_ballot(leaves);
        uint place = 0;
        if (leaving && lane_id() == 0) place = atomic_add(&listed, (uint)lanemask_count(leaving));
        place = lane_broadcast(place, 0) + (uint)lanemask_count(leaving & lane_mask_lt());
        if (leaves) outside[first + place] = first + i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < count; i += GROUP) parent[first + i] = first + find_root_near(near, i);
    if (lid == 0) outside_counts[get_group_id(0)] = listed;
}

// The links between tiles. Neighbours often link the same two trees: the first of them does so for all.
${lanes.kernel(group_size)} components_borders(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    const uint both_ways,
    __global uint *parent,                      // [n] in/out
    __global const uint *restrict outside,      // [n] as listed
    __global const uint *restrict outside_counts) // [tiles]
{
    ${lanes.setup()}
    const uint lid = (uint)get_local_id(0), first = (uint)get_group_id(0) * TILE;
    const uint count = outside_counts[get_group_id(0)];
    for (uint i = lid; i - lid < count; i += GROUP) {
        const uint v = outside[first + min(i, count - 1)];
        offset_t e = indptr[v];
        offset_t row_end = i < count ? indptr[v + 1] : e;
        const uint tree = parent[v];
        for (; lane_any(e < row_end); ++e) {
            const uint u = e < row_end ? indices[e] : v;
            if (both_ways && u >= first) row_end = e;
            const int links = e < row_end && u - first >= TILE;
            const uint other = links ? parent[u] : n;
            const uint tree_before = lane_shuffle_up(tree, 1), other_before = lane_shuffle_up(other, 1);
            const int done = lane_id() > 0 && tree_before == tree && other_before == other;
            if (links && !done) unite(parent, tree, other);
        }
    }
}

// Roots of tiles come to point to the root of all, or near it: nothing is joined any more.
${lanes.kernel(group_size)} components_settle(
    const uint n,
    __global uint *parent)                      // [n] in/out
{
    const uint first = (uint)get_group_id(0) * TILE;
    const uint past = first + min(n - first, TILE);
    for (uint v = first + (uint)get_local_id(0); v < past; v += GROUP) {
        if (parent[v] < first) parent[v] = find_root(parent, v);
    }
}
