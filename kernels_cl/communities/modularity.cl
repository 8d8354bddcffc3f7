<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// Modularity of given communities: what edges within them weigh, and what each holds in all.
//
// Race: sums are atomic, and of whole numbers.
${level.declarations()}

__kernel KERNEL void modularity_rows(
${level.rows()}\
    const uint n,
    const uint twice,                           // whether self-loops count twice
    __global const uint *restrict labels,       // [n]
    volatile __global sum_t *totals,            // [communities] in/out
    __global ulong *restrict inside)            // [SIMD groups] out
{
    ${lanes.setup()}
    ulong sum = 0;
    <%level:each_row>
        const uint own = labels[row];
        ulong all = 0;
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const uint u = indices[e];
            const ulong w = (ulong)WEIGHT(e) << (u == row && twice ? 1 : 0);
            all += w;
            if (labels[u] == own) sum += w;
        }
        all = lane_reduce_add_ulong(all);
        if (lane_id() == 0u && all) sum_add_global(&totals[own], all);
    </%level:each_row>
    sum = lane_reduce_add_ulong(sum);
    if (lane_id() == 0u) inside[get_global_id(0) / LANES] = sum;
}
