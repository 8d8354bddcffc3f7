<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="merge" file="/grid/merge.mako"/>\
// Two ascending sequences of keys, and of a value that goes with each, merged; the first one's equals
// come first.
//
// No races: the tiles of the output are disjoint.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${memory.vocabulary()}
${merge.functions(key, index)}

${lanes.kernel(group_size)} merge_keys(
    __global const ${key} *restrict a,          // [na] ascending
    const ${index} na,
    __global const ${key} *restrict b,          // [nb] ascending
    const ${index} nb,
% if value:
    __global const ${value} *restrict a_values, // [na]
    __global const ${value} *restrict b_values, // [nb]
    __global ${value} *restrict moved,          // [na + nb] out
% endif
    __global ${key} *restrict merged)           // [na + nb] out
{
    ${lanes.setup()}\
    ${merge.tiles(key, index, tile_items, "a", "na", "b", "nb", "merged", (value, "a_values", "b_values", "moved") if value else None)}
}
