<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="swept" file="/grid/swept.mako"/>\
<%namespace name="rows" file="/grid/swept_rows.mako"/>\
// Exclusive scan of an array with an associative operator, in the order of its elements, in one launch.
//
// No races but words that say how far work-groups are: a work-group reads its tile before it writes it.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named(operator, type)}
${memory.vocabulary()}
${swept.words(type)}

${lanes.kernel(group_size)} scan_sweep(
    __global const ${type} *values,             // [n]; perhaps what `scanned` is
    const ${index} n,
${swept.parameters()}\
    __global ${type} *scanned,                  // [n] out
    __global ${type} *restrict total)           // [1] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${rows.scan(operator, type, index, items, looks, "values", "scanned", "total")}
}
