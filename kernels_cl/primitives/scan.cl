<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="scan" file="/grid/scan.mako"/>\
<% scalar = type != "uint2" %>\
// Exclusive scan and reduction of an array with an associative operator, in the order of its elements.
// A reduction stops after scan_totals.
//
// No races: every work-group reads and writes its own chunk and its own total.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named(operator, type)}

${lanes.kernel(group_size)} scan_fold(
    __global const ${type} *restrict values,    // [n]
    const ${index} n,
    const ${index} chunk,                       // elements of a work-group
    __global ${type} *restrict totals)          // [groups] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_fold name="${operator}" type="${type}" index="${index}" count="n" chunk="chunk" items="${items}" totals="totals" arrays="${[('values', type)] if scalar else ()}">
        <%def name="load(i)">values[${i}]</%def>
    </%scan:chunk_fold>
}

${lanes.kernel(group_size)} scan_totals(
    __global ${type} *restrict totals,          // [count] in/out
    const uint count,
    __global ${type} *restrict total)           // [1] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${scan.scan_totals(operator, type, "count", "totals", "total")}
}

${lanes.kernel(group_size)} scan_apply(
    __global const ${type} *values,             // [n]; perhaps what `scanned` is
    const ${index} n,
    const ${index} chunk,
    __global const ${type} *restrict totals,    // [groups], scanned
    __global ${type} *scanned)                  // [n] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_scan name="${operator}" type="${type}" index="${index}" count="n" chunk="chunk" items="${items}" totals="totals" arrays="${[('values', type)] if scalar else ()}" scanned="${'scanned' if scalar else ''}">
        <%def name="load(i)">values[${i}]</%def>
        <%def name="store(i, before, x)">scanned[${i}] = ${before};</%def>
    </%scan:chunk_scan>
}
