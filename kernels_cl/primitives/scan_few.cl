<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="scan" file="/grid/scan.mako"/>\
<% scalar = type != "uint2" %>\
// Exclusive scan of an array by one work-group, which is over before three launches have been enqueued.
//
// No races: a work-item reads its elements of a tile before it writes them.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named(operator, type)}

${lanes.kernel(group_size)} scan_few(
    __global const ${type} *values,             // [n]; perhaps what `scanned` is
    const ${index} n,
    __global ${type} *scanned,                  // [n] out
    __global ${type} *restrict total)           // [1] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_scan name="${operator}" type="${type}" index="${index}" count="n" chunk="n" items="${items}" arrays="${[('values', type)] if scalar else ()}" scanned="${'scanned' if scalar else ''}">
        <%def name="load(i)">values[${i}]</%def>
        <%def name="store(i, before, x)">scanned[${i}] = ${before};</%def>
    </%scan:chunk_scan>
    if (get_local_id(0) == 0) *total = carry;
}
