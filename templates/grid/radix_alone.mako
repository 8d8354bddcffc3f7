## radix_alone: one pass of a stable sort by a digit where a work-item is a SIMD group of its own, in three
## launches, none of which waits for another work-group.
##
## count            the digits of each chunk, to counts[digit * groups + group]
## offsets          scans the counts of a digit, by one work-group each
## scatter          moves a chunk's elements
## In scope         the names of /grid/radix.mako, the group vocabulary with "add" declared on `index`; shift
## Called by        all work-items, in uniform control flow, with the same chunk in all launches
## Barriers         those of the group vocabulary and some more
## Local memory     8 * DIGITS bytes at most
##
## One lane has no neighbours to write beside: it moves its elements one by one, and reads keys twice.

<%namespace name="scan" file="/grid/scan.mako"/>

<%def name="count(index, keys, n, chunk, counts)">\
${scan.chunk_bounds(index, n, chunk)}
__local uint counted[DIGITS];
for (uint d = (uint)get_local_id(0); d < DIGITS; d += GROUP_SIZE) counted[d] = 0u;
barrier(CLK_LOCAL_MEM_FENCE);
for (${index} i = chunk_begin + get_local_id(0); i < chunk_end; i += GROUP_SIZE)
    ++counted[DIGIT(${keys}[i])];
barrier(CLK_LOCAL_MEM_FENCE);
for (uint d = (uint)get_local_id(0); d < DIGITS; d += GROUP_SIZE)
    ${counts}[d * (uint)get_num_groups(0) + (uint)get_group_id(0)] = counted[d];
</%def>

<%def name="offsets(index, counts, groups, totals)">\
__global ${index} *mine = ${counts} + get_group_id(0) * (${groups});
__global ${index} *digit_total = ${totals} + get_group_id(0);
${scan.scan_totals("add", index, groups, "mine", "digit_total")}
</%def>

## Declares `place`: where the chunk's first element of each digit goes.
<%def name="places(index, counts, totals)">\
__local ${index} place[DIGITS];
{
    ${index} lower = 0;
    for (uint slab = 0; slab < DIGITS; slab += GROUP_SIZE) {
        const uint d = slab + (uint)get_local_id(0);
        ${index} here;
        const ${index} before = group_scan_exclusive_add(d < DIGITS ? ${totals}[d] : (${index})0, &here);
        if (d < DIGITS) place[d] = lower + before + ${counts}[d * (uint)get_num_groups(0) + (uint)get_group_id(0)];
        lower += here;
    }
}
barrier(CLK_LOCAL_MEM_FENCE);
</%def>

<%def name="scatter(index, key, value, keys, values, n, chunk, counts, totals, sorted, moved)">\
${scan.chunk_bounds(index, n, chunk)}
${places(index, counts, totals)}\
for (${index} i = chunk_begin; i < chunk_end; ++i) {
    const ${key} x = ${keys}[i];
    const ${index} to = place[DIGIT(x)]++;
    ${sorted}[to] = x;
% if value:
    ${moved}[to] = ${values}[i];
% endif
}
</%def>
