<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
// What a batch of edges changes: triangles, and distances from a vertex.
//
// Races: sums are integers; distances only decrease, to what the last round finds.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}
#define SOURCE(key) ((uint)((key) >> bits))
#define TARGET(key) ((uint)((key) & ((1ul << bits) - 1ul)))
#define KEY(u, v) ((ulong)(u) << bits | (v))

static inline int row_has(const __global uint *row, const uint length, const uint x) {
    const uint at = lower_bound(row, length, x);
    return length && at < length && row[at] == x;
}

static inline int batch_has_key(const __global ulong *keys, const uint count, const ulong key) {
    const uint at = key_bound(keys, 0u, count, key);
    return at < count && keys[at] == key;
}

<%def name="corners(x)">\
% if per_vertex:
atom_add(&vertices[u], 1ul);
atom_add(&vertices[v], 1ul);
atom_add(&vertices[${x}], 1ul);
% endif
</%def>

// Triangles with an edge of the batch, of an undirected graph: a SIMD group takes an edge u < v.
//
// With the rows of the graph without the batch (apart), each is found once, at its edges of the batch in
// the order of their ends, whether it has one, two or three of them. With the rows of the graph that has
// the batch, sums of common neighbours are given from which the host works the number out.
${group.kernel()} follow_triangles(
    __global const ulong *restrict keys,        // [count] ascending, of both directions
    const uint count,
    const uint bits,
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,        // rows ascend
    const uint apart,
    __global ulong *restrict tally${"," if per_vertex else ")"}                // [4] in/out, 0 on entry: sums; look-ups
% if per_vertex:
    __global ulong *restrict vertices)          // [n] in/out, triangles of each
% endif
{
    ${lanes.setup()}
    ulong one = 0ul, two = 0ul, three = 0ul, tried = 0ul;
    const uint stride = (uint)(get_global_size(0) / LANES);
    for (uint item = (uint)(get_global_id(0) / LANES); item < count; item += stride) {
        const uint u = SOURCE(keys[item]), v = TARGET(keys[item]);
        if (u >= v) continue;
        const uint longer = used[u] > used[v] ? u : v, shorter = longer == u ? v : u;
        const uint many = used[longer], few = used[shorter];
        const __global uint *long_row = indices + (many ? pointer[longer] : 0u);
        const __global uint *short_row = indices + (few ? pointer[shorter] : 0u);
        for (uint i = lane_id(); i < few; i += LANES) {
            const uint x = short_row[i];
            ++tried;
            if (x != u && x != v && row_has(long_row, many, x)) {
                ++one;
                ${corners("x")}
            }
        }
        const __global uint *row_u = longer == u ? long_row : short_row;
        const __global uint *row_v = longer == u ? short_row : long_row;
        const uint u_end = key_bound(keys, 0u, count, KEY(u, 0u) + (1ul << bits));
        for (uint i = key_bound(keys, 0u, count, KEY(u, 0u)) + lane_id(); i < u_end; i += LANES) {
            const uint x = TARGET(keys[i]);
            if (x == u || x == v) continue;
            tried += 2ul;
            if ((!apart || v < x) && row_has(row_v, used[v], x)) {
                ++two;
                if (apart) { ${corners("x")} }
            }
            if ((!apart || v < x) && batch_has_key(keys, count, KEY(v, x))) {
                ++three;
                if (apart) { ${corners("x")} }
            }
        }
        const uint v_end = key_bound(keys, 0u, count, KEY(v, 0u) + (1ul << bits));
        for (uint i = key_bound(keys, 0u, count, KEY(v, 0u)) + lane_id(); i < v_end; i += LANES) {
            const uint x = TARGET(keys[i]);
            if (x == u || x == v) continue;
            ++tried;
            if ((!apart || u < x) && row_has(row_u, used[u], x)) {
                ++two;
                if (apart) { ${corners("x")} }
            }
        }
    }
    one = lane_reduce_add_ulong(one);
    two = lane_reduce_add_ulong(two);
    three = lane_reduce_add_ulong(three);
    tried = lane_reduce_add_ulong(tried);
    if (lane_id() == 0u && tried) {
        atom_add(&tally[0], one);
        atom_add(&tally[1], two);
        atom_add(&tally[2], three);
        atom_add(&tally[3], tried);
    }
}

% if per_vertex:
// Counts of vertices plus or minus those of a batch.
${group.kernel()} follow_sum(
    __global const ulong *restrict before,      // [known]
    const uint known,
    __global const ulong *restrict change,      // [n]
    const uint n,
    const int sign,
    __global ulong *restrict after)             // [n] out
{
    <%share:each_item count="n">
        const ulong held = item < known ? before[item] : 0ul;
        after[item] = sign > 0 ? held + change[item] : held - change[item];
    </%share:each_item>
}
% endif

// Edges of a batch that shorten a way: the first round.
${group.kernel()} follow_shorten(
    __global const ulong *restrict keys,        // [count]
    const uint count,
    const uint bits,
    __global uint *restrict hops,               // [n] in/out, all ones where there is no way
    __global uchar *restrict decreased,              // [n] in/out: vertices whose edges are to be looked at
    __global uint *restrict any)                // [1] in/out
{
    <%share:each_item count="count">
        const uint u = SOURCE(keys[item]), v = TARGET(keys[item]), near = hops[u];
        if (near != 0xffffffffu && near + 1u < hops[v] && atomic_min(&hops[v], near + 1u) > near + 1u) {
            decreased[v] = 1;
            *any = 1u;
        }
    </%share:each_item>
}

// Further rounds: edges of vertices that have come nearer.
${group.kernel()} follow_spread(
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    const uint n,
    __global uint *restrict hops,               // [n] in/out
    __global uchar *restrict decreased,              // [n] in/out, 0 after
    __global uchar *restrict decreased_next,             // [n] in/out: for the next round
    __global uint *restrict any)                // [1] in/out
{
    <%share:each_item count="n">
        if (decreased[item]) {
            decreased[item] = 0;
            const uint near = hops[item], length = used[item];
            const offset_t begin = length ? pointer[item] : 0u;
            for (uint i = 0u; i < length; ++i) {
                const uint v = indices[begin + i];
                if (near + 1u < hops[v] && atomic_min(&hops[v], near + 1u) > near + 1u) {
                    decreased_next[v] = 1;
                    *any = 1u;
                }
            }
        }
    </%share:each_item>
}

// Whether a batch that leaves may have held a shortest way: an edge to a vertex one hop farther.
${group.kernel()} follow_loses(
    __global const ulong *restrict keys,        // [count]
    const uint count,
    const uint bits,
    __global const uint *restrict hops,         // [n]
    __global uint *restrict any)                // [1] in/out
{
    <%share:each_item count="count">
        const uint near = hops[SOURCE(keys[item])];
        if (near != 0xffffffffu && hops[TARGET(keys[item])] == near + 1u) *any = 1u;
    </%share:each_item>
}
