<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="union" file="/components/union_find.mako"/>
// Connected components, whatever way the edges point: a forest in which every vertex points to a
// smaller one of its component, or to itself at the root.
//
// After Afforest: every vertex hooks itself to its least neighbour, then a few more of its edges are
// taken; most of a graph is one tree by then. A sample of vertices shows which, and of that tree's
// vertices the other edges need not be looked at, since whoever else has one looks at it from the
// other side. So they are skipped only where every edge is stored both ways.
//
// Races: those of joining trees, see there.

${lanes.vocabulary()}
${memory.vocabulary()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define LONG_ROW ${long_row}u

${union.functions()}
// Rows are sorted, so the first neighbour is the least.
${lanes.kernel(group_size)} components_start(
    __global const offset_t *restrict indptr,   // [n + 1]
${rows.lengths()}\
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global uint *parent)                      // [n] out
{
    <%share:each_item count="n">
        const uint v = item;
        const offset_t row = ${rows.begin("v")};
        const uint u = row < ${rows.past("v")} ? indices[row] : v;
        parent[v] = u < v ? u : v;
    </%share:each_item>
}

// The edge at one end of each row.
${lanes.kernel(group_size)} components_sample(
    __global const offset_t *restrict indptr,   // [n + 1]
${rows.lengths()}\
    __global const uint *restrict indices,      // [m]
    const uint n,
    const uint from_end,                        // 0: the first edge of each row, 1: the last
    __global uint *parent)             // [n] in/out
{
    <%share:each_item count="n">
        const uint v = item;
        const offset_t row = ${rows.begin("v")}, row_end = ${rows.past("v")};
        if (row < row_end) join_by(parent, v, indices[from_end ? row_end - 1 : row], ${int(not hubs)});
    </%share:each_item>
}

<%def name="compress()">
    <%share:each_item count="n">
        const uint v = item;
        parent[v] = root_above(parent, v);
    </%share:each_item>
</%def>\
${lanes.kernel(group_size)} components_compress(
    const uint n,
    __global uint *parent)             // [n] in/out
{
    ${compress()}
}

// The same, while the first group looks for the commonest root of a sample of vertices; any other answer would cost
// time only. Nobody joins meanwhile, so it finds the roots above them whether or not paths are short yet.
${lanes.kernel(group_size)} components_vote(
    const uint n,
    __global uint *parent,                      // [n] in/out
    __global uint *commonest)                   // [1] out
{
    __local uint roots[${samples}];
    __local uint best;
    const uint lid = (uint)get_local_id(0);
    if (get_group_id(0) == 0) {
        for (uint i = lid; i < ${samples}u; i += ${group_size}u)
            roots[i] = root_above(parent, (uint)(((ulong)i * 0x9e3779b1ul & 0xfffffffful) * n >> 32));
        if (lid == 0) best = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = lid; i < ${samples}u; i += ${group_size}u) {
            uint count = 0;
            for (uint k = 0; k < ${samples}u; ++k) count += roots[k] == roots[i];
            atomic_max(&best, count * ${samples}u + i);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid == 0) commonest[0] = roots[best % ${samples}u];
    }
    ${compress()}
}

// All edges of vertices outside the tree that may be skipped; long rows by all lanes.
${lanes.kernel(group_size)} components_rest(
    __global const offset_t *restrict indptr,   // [n + 1]
${rows.lengths()}\
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global const uint *restrict commonest,    // [1]
    const uint skip,                            // whether every edge is stored both ways
    __global uint *parent)             // [n] in/out
{
    ${lanes.setup()}
    const uint skipped = skip ? commonest[0] : n;
    <%share:each_tile count="n">
        const uint v = (uint)min(first + lane_id(), (ulong)n - 1);
        const int mine = first + lane_id() < n && find_root(parent, v) != skipped;
        const offset_t row = ${rows.begin("v")};
        const uint degree = mine ? (uint)(${rows.past("v")} - row) : 0u;
        const uint short_end = degree < LONG_ROW ? degree : LONG_ROW;
        for (uint e = 0; e < short_end; ++e) join(parent, v, indices[row + e]);
        lanemask_t long_rows = lane_ballot(degree > LONG_ROW);
        while (long_rows) {
            const uint owner = lanemask_first(long_rows);
            long_rows &= long_rows - 1;
            const uint u = lane_shuffle(v, owner), length = lane_shuffle(degree, owner);
            const offset_t begin = ${rows.begin("u")};
            for (uint e = LONG_ROW + lane_id(); e < length; e += LANES) join(parent, u, indices[begin + e]);
        }
    </%share:each_tile>
}
