<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// Parts of communities as refining them begins: everybody alone, and the edges of each to its community.
${level.declarations()}

__kernel KERNEL void parts_start(
${level.rows()}\
${level.chunk_parameters()}\
    const uint n,
    __global const uint *restrict labels,       // [n] communities
    __global const sum_t *restrict strengths,   // [n]
    __global uint *restrict parts,              // [n] out: who founded the part
    __global sum_t *restrict part_totals,       // [n] out
    volatile __global sum_t *cuts,              // [n] in/out, 0 on entry: of parts to the rest of their communities
    __global uchar *restrict joined)            // [n] out: whether somebody has joined the part
{
    ${lanes.setup()}
    <%level:each_part args="part">
        const uint own = labels[row];
        sum_t cut = 0;
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const uint u = indices[e];
            if (u != row && labels[u] == own) cut += WEIGHT(e);
        }
        cut = lane_reduce_sum(cut);
        if (lane_id() == 0u${f" && {part} == 0u" if part else ""}) {
            parts[row] = row;
            part_totals[row] = strengths[row];
            joined[row] = 0;
        }
        if (lane_id() == 0u && cut) ${"sum_add_global(&cuts[row], cut)" if part else "cuts[row] = cut"};
    </%level:each_part>
}
