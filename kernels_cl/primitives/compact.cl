<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="scan" file="/grid/scan.mako"/>\
// Stream compaction: the elements whose mask is not zero, in their order.
//
// No races: an element's place in the output is the number of kept elements before it.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", index)}

${lanes.kernel(group_size)} compact_fold(
    __global const uchar *restrict mask,        // [n]
    const ${index} n,
    const ${index} chunk,                       // elements of a work-group
    __global ${index} *restrict totals)         // [groups] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_count index="${index}" count="n" chunk="chunk" totals="totals" bytes="mask">
        <%def name="keep(i)">(mask[${i}] != 0)</%def>
    </%scan:chunk_count>
}

${lanes.kernel(group_size)} compact_totals(
    __global ${index} *restrict totals,         // [count] in/out
    const uint count,
    __global ${index} *restrict total)          // [1] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${scan.scan_totals("add", index, "count", "totals", "total")}
}

${lanes.kernel(group_size)} compact_apply(
    __global const uchar *restrict mask,        // [n]
    const ${index} n,
    const ${index} chunk,
    __global const ${index} *restrict totals,   // [groups], scanned
    __global const ${type} *restrict values,    // [n]
    __global ${type} *restrict kept)            // [number of kept elements] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    <%scan:chunk_keep index="${index}" count="n" chunk="chunk" items="${items}" totals="totals" ahead="${type}">
        <%def name="keep(i)">(mask[${i}] != 0)</%def>
        <%def name="load(i)">values[${i}]</%def>
        <%def name="store(i, place)">kept[${place}] = loaded[item];</%def>
    </%scan:chunk_keep>
}
