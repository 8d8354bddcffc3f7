<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="ranks" file="/triangles/ranks.mako"/>
// Edges numbered without gaps: row after row of an orientation, and what is known of them by place in
// rows, or where the graph stores them; and the graph of those that have enough triangles.
//
// No races: every edge is one lane's. Sums are integers, and such a graph's rows come in any order.

${group.words()}
${intersect.functions()}
${ranks.bucket()}

#define BUCKETS ${BUCKETS}u
#define VERTEX(r) ${"vertices[r]" if config.renamed else "(r)"}

## What all kernels of edges by number take; and those that look at edges with values of at least `least`.
<%def name="rows(values=False)">\
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict firsts,       // [n] number of a row's first edge
    const uint n,
% if values:
    __global const uint *restrict rows,         // [m]
    __global const uint *restrict vertices,     // [n] by rank
    __global const uint *restrict values,       // [edges]
    const uint least,
% endif
</%def>\

## So many lanes take a row as suits most; body sees u, row, its place, k, the edge's place in it, and its
## number.
<%def name="each_edge()">
    const uint units = (uint)get_global_size(0) / ${config.abreast}u;
    for (uint u = (uint)get_global_id(0) / ${config.abreast}u; u < n; u += units) {
        const offset_t row = begins[u];
        const uint length = outs[u], first = firsts[u];
        for (uint k = lane_id() % ${config.abreast}u; k < length; k += ${config.abreast}u) {
            const uint number = first + k;
            ${caller.body()}
        }
    }
</%def>

#define COUNT_BUCKET(value_) do { if (value_) atomic_inc(&mine[bucket_of(value_)]); } while (0)

// What was found by place in rows, by number.
${group.kernel()} edges_gather(
${rows()}\
    __global const uint *restrict placed,       // [m] by place in rows
    __global uint *values)                      // [edges] out
{
    ${lanes.setup()}
    <%self:each_edge>
        values[number] = placed[row + k];
    </%self:each_edge>
}

// The same, and how many have each bucket.
${group.kernel()} edges_gather_counted(
${rows()}\
    __global uint *placed,                      // [m + BUCKETS] by place in rows; buckets in/out, 0 on entry
    __global uint *values,                      // [edges] out
    const ulong m)
{
    ${lanes.setup()}
    <%ranks:counted leave="atomic_add(placed + m + b, mine[b])">
    <%self:each_edge>
        const uint value = placed[row + k];
        values[number] = value;
        COUNT_BUCKET(value);
    </%self:each_edge>
    </%ranks:counted>
}

// The other way; or the numbers themselves.
${group.kernel()} edges_scatter(
${rows()}\
    const uint themselves,                      // whether numbers are wanted
    __global const uint *restrict values,       // [edges]
    __global uint *placed)                      // [m] out, by place in rows
{
    ${lanes.setup()}
    <%self:each_edge>
        placed[row + k] = themselves ? number : values[number];
    </%self:each_edge>
}

// Both ends of each edge, and the sum of the lengths of the shorter of their rows.
${group.kernel()} edges_ends(
${rows()}\
    __global const uint *restrict degrees,      // [n]
    __global const uint *restrict rows,         // [m]
    __global const uint *restrict vertices,     // [n] by rank
    __global uint2 *ends,                       // [edges] out
    __global uint *lengths,                     // [n] out, by vertex
    __global ulong *total)                      // [1] in/out
{
    ${lanes.setup()}
    ulong sum = 0ul;
    <%self:each_edge>
        const uint v = rows[row + k];
        ends[number] = (uint2)(VERTEX(u), VERTEX(v));
        sum += min(degrees[u], degrees[v]);
    </%self:each_edge>
    for (uint u = (uint)get_global_id(0); u < n; u += (uint)get_global_size(0))
        lengths[VERTEX(u)] = degrees[u];
    ${lanes.add_up("sum", "total", wide=True)}
}

// How many edges have each bucket of values above 0.
${group.kernel()} edges_histogram(
    __global const uint *restrict values,       // [count]
    const uint count,
    __global uint *placed,                      // [m + BUCKETS]: buckets in/out, 0 on entry
    const ulong m)
{
    <%ranks:counted leave="atomic_add(placed + m + b, mine[b])">
    <%share:each_item count="count">
        COUNT_BUCKET(values[item]);
    </%share:each_item>
    </%ranks:counted>
}

// How many edges with values of at least `least` each vertex has.
${group.kernel()} edges_tally(
${rows(values=True)}\
    __global uint *degrees)                     // [n] in/out, by vertex, 0 on entry
{
    ${lanes.setup()}
    <%self:each_edge>
        if (values[number] >= least) {
            const uint v = rows[row + k];
            atomic_inc(&degrees[VERTEX(u)]);
            atomic_inc(&degrees[VERTEX(v)]);
        }
    </%self:each_edge>
}

// These edges at both ends, in any order.
${group.kernel()} edges_keep(
${rows(values=True)}\
    __global uint *cursors,                     // [n] in/out: where the next neighbour of each goes
    __global uint *kept)                        // out
{
    ${lanes.setup()}
    <%self:each_edge>
        if (values[number] >= least) {
            const uint a = VERTEX(u), b = VERTEX(rows[row + k]);
            kept[atomic_inc(&cursors[a])] = b;
            kept[atomic_inc(&cursors[b])] = a;
        }
    </%self:each_edge>
}

// Both places of edges with one value, where a larger graph stores them.
${group.kernel()} edges_mark(
${rows()}\
    __global const uint *restrict rows,         // [m]
    __global const uint *restrict vertices,     // [n] by rank
    __global const uint *restrict values,       // [edges]
    const uint wanted,
    __global const uint *restrict whole_indptr, // [n + 1]
    __global const uint *restrict whole_indices,    // ascending in each row
    __global uint *marks)                       // out, by place in whole_indices: 1, or as it was
{
    ${lanes.setup()}
    <%self:each_edge>
        if (values[number] == wanted) {
            const uint a = VERTEX(u), b = VERTEX(rows[row + k]);
            const uint of_a = whole_indptr[a], of_b = whole_indptr[b];
            marks[of_a + lower_bound(whole_indices + of_a, whole_indptr[a + 1u] - of_a, b)] = 1u;
            marks[of_b + lower_bound(whole_indices + of_b, whole_indptr[b + 1u] - of_b, a)] = 1u;
        }
    </%self:each_edge>
}

// Where each triangle is claimed: at its place in the shortest of the three lists that it is in, whichever
// of its edges asks; of lists as short, in that of the least number.
${group.kernel()} edges_claim(
    __global const uint *restrict lists,        // [edges + 1]
    __global const uint2 *restrict sides,       // [lists[edges]] the other two edges of each triangle
    const uint edges,
    __global uint *places)                      // [lists[edges]] out
{
    <%share:each_item count="edges">
        const uint begin = lists[item], length = lists[item + 1u] - begin;
        for (uint i = 0u; i < length; ++i) {
            const uint2 both = sides[begin + i];
            uint least = item, shortest = length, at = i;
            % for side in "xy":
            const uint length_${side} = lists[both.${side} + 1u] - lists[both.${side}];
            if (length_${side} < shortest || (length_${side} == shortest && both.${side} < least)) {
                least = both.${side};
                shortest = length_${side};
            }
            % endfor
            if (least != item) {
                // Two edges that meet are in one triangle at most.
                at = 0u;
                for (uint2 there = sides[lists[least]]; there.x != item && there.y != item; there = sides[lists[least] + at]) ++at;
            }
            places[begin + i] = lists[least] + at;
        }
    </%share:each_item>
}
