<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="group_ranks" file="/balance/shared/group_ranks.mako"/>
// Ranks of a work-group's units by themselves, by every way there is.
${group.words()}

${group.kernel()} check_ranks(
    __global const uint *restrict sizes,        // [work-items]
    __global uint4 *restrict ranks)             // [work-items] out: in order, in any, by a ballot; total
{
    ${lanes.setup()}
    ${group_ranks.setup()}
    const uint at = (uint)get_global_id(0), size = sizes[at];
    ${group_ranks.scan("ordered", "total", "size")}
    ${group_ranks.scan("unordered", "total_too", "size", in_order=False)}
    const lanemask_t ones = lane_ballot(size & 1u);
    ranks[at] = (uint4)(ordered, unordered, lanemask_count(ones & lane_mask_lt()), total == total_too ? total : ~0u);
}
