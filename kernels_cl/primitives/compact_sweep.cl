<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="swept" file="/grid/swept.mako"/>\
<%namespace name="rows" file="/grid/swept_rows.mako"/>\
<%namespace name="kept" file="/grid/swept_kept.mako"/>\
// Stream compaction of arrays by one mask, in one launch: the elements whose mask is not zero, in their order.
//
// No races but words that say how far work-groups are: an element's place in the output is the number of kept
// elements before it.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", index)}
${memory.vocabulary()}
${swept.words(index)}
${rows.flags()}

__kernel LANES_KERNEL_ATTRIBUTE
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void compact_sweep(
    __global const uchar *restrict mask,        // [n]
    const ${index} n,
${swept.parameters()}
% for which, kind in enumerate(kinds):
    __global const ${kind} *restrict values${which},    // [n]
    __global ${kind} *restrict kept${which},    // [number of kept elements] out
% endfor
    __global ${index} *restrict total)          // [1] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${kept.keep(index, items, looks, "mask", [(kind, f"values{which}", f"kept{which}") for which, kind in enumerate(kinds)], "total")}
}
