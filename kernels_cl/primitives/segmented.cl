<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="scan" file="/grid/scan.mako"/>\
<%namespace name="operators" file="/group/operators.mako"/>\
// Scan that begins anew at every head of a segment.
//
// An element is the pair of whether a segment begins there and its value; combining pairs is
// associative and does not commute. No races; see scan.cl.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
<%
    identity = operators.module.identity(operator, type)
    expression = operators.module.expression(operator)
%>\
static inline ${type} combined(${type} a, ${type} b) { return ${expression}; }
static inline uint2 joined(uint2 a, uint2 b) {
    return (uint2)(a.x | b.x, b.x ? b.y : as_uint(combined(as_${type}(a.y), as_${type}(b.y))));
}
#define NOTHING as_uint((${type})(${identity}))
<%group:operator name="segment" type="uint2" identity="(uint2)(0u, NOTHING)" args="a, b">joined(${a}, ${b})</%group:operator>

${lanes.kernel(group_size)} segmented_fold(
    __global const ${type} *restrict values,    // [n]
    __global const uchar *restrict heads,       // [n]
    const ${index} n,
    const ${index} chunk,
    __global uint2 *restrict totals)            // [groups] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_fold name="segment" type="uint2" index="${index}" count="n" chunk="chunk" items="${items}" totals="totals" arrays="${[('values', type), ('heads', 'uchar')]}">
        <%def name="load(i)">(uint2)(heads[${i}] != 0, as_uint(values[${i}]))</%def>
    </%scan:chunk_fold>
}

${lanes.kernel(group_size)} segmented_totals(
    __global uint2 *restrict totals,            // [count] in/out
    const uint count,
    __global uint2 *restrict total)             // [1] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${scan.scan_totals("segment", "uint2", "count", "totals", "total")}
}

${lanes.kernel(group_size)} segmented_apply(
    __global const ${type} *restrict values,    // [n]
    __global const uchar *restrict heads,       // [n]
    const ${index} n,
    const ${index} chunk,
    __global const uint2 *restrict totals,      // [groups], scanned
    const uint inclusive,
    __global ${type} *restrict scanned)         // [n] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_scan name="segment" type="uint2" index="${index}" count="n" chunk="chunk" items="${items}" totals="totals" arrays="${[('values', type), ('heads', 'uchar')]}" scanned="scanned" scanned_type="${type}">
        <%def name="load(i)">(uint2)(heads[${i}] != 0, as_uint(values[${i}]))</%def>
        <%def name="result(before, x)">as_${type}(inclusive ? joined(${before}, ${x}).y : ${x}.x ? NOTHING : ${before}.y)</%def>
        <%def name="store(i, before, x)">scanned[${i}] = ${result(before, x)};</%def>
    </%scan:chunk_scan>
}
