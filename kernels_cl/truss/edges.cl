<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
// Edges numbered without gaps: row after row of an orientation, and what is known of them by place in
// rows, or where the graph stores them.
//
// No races: every edge is one lane's. Sums are integers.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}

#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))

## A SIMD group takes a row; body sees u, row, its place, k, the edge's place in it, and its number.
<%def name="each_edge()">
    const uint units = (uint)get_num_groups(0) * GROUP_LANES;
    for (uint u = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP; u < n; u += units) {
        const offset_t row = begins[u];
        const uint length = outs[u], first = firsts[u];
        for (uint k = lane_id(); k < length; k += LANES) {
            const uint number = first + k;
            ${caller.body()}
        }
    }
</%def>

// What was found by place in rows, by number.
__kernel KERNEL void edges_gather(
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict firsts,       // [n] number of a row's first edge
    const uint n,
    __global const uint *restrict placed,       // [m] by place in rows
    __global uint *values)                      // [edges] out
{
    ${lanes.setup()}
    <%self:each_edge>
        values[number] = placed[row + k];
    </%self:each_edge>
}

// The other way; or the numbers themselves.
__kernel KERNEL void edges_scatter(
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict firsts,       // [n]
    const uint n,
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
__kernel KERNEL void edges_ends(
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict firsts,       // [n]
    const uint n,
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
        ends[number] = (uint2)(${"vertices[u], vertices[v]" if config.renamed else "u, v"});
        sum += min(degrees[u], degrees[v]);
    </%self:each_edge>
    for (uint u = (uint)get_global_id(0); u < n; u += (uint)get_global_size(0))
        lengths[${"vertices[u]" if config.renamed else "u"}] = degrees[u];
    lane_converge();
    sum = lane_reduce_add_ulong(sum);
    if (lane_id() == 0u && sum) atom_add(total, sum);
}
