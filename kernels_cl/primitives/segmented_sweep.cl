<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="swept" file="/grid/swept.mako"/>\
<%namespace name="rows" file="/grid/swept_rows.mako"/>\
// Scan that begins anew at every head of a segment, in one launch.
//
// No races but words that say how far work-groups are; see scan_sweep.cl.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named(operator, type)}
static inline uint2 joined(const uint2 a, const uint2 b) {
    return (uint2)(a.x | b.x, b.x ? b.y : as_uint(${operator}_combine(as_${type}(a.y), as_${type}(b.y))));
}
<%group:operator name="segment" type="uint2" identity="(uint2)(0u, as_uint(${operator}_identity()))" args="a, b">joined(${a}, ${b})</%group:operator>
${memory.vocabulary()}
${swept.words(type)}
${rows.flags()}

${lanes.kernel(group_size)} segmented_sweep(
    __global const ${type} *restrict values,    // [n]
    __global const uchar *restrict heads,       // [n]
    const uint inclusive,
    const ${index} n,
${swept.parameters()}\
    __global ${type} *restrict scanned)         // [n] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${rows.segments(operator, type, index, items, looks, "values", "heads", "inclusive", "scanned")}
}
