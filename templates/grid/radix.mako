## radix: one pass of a stable sort by a digit, in three launches, none of which waits for another
## work-group: count the digits of each chunk, scan the counts, move the elements.
##
## names()          at file scope: DIGITS and DIGIT(x), of a kernel's `shift`
## count            how often each digit is in the chunk, to counts[digit * groups + group]
## offsets          scans the counts of one digit, by one work-group a digit
## scatter          moves a chunk's elements; `keys`, `sorted` and, unless empty, `values`, `moved`
## In scope         the group vocabulary with "add" declared on `index`, /grid/scan.mako's bounds; shift
## Called by        all work-items, in uniform control flow, with the same chunk in all launches
## Barriers         those of the group vocabulary and one or two a tile
## Local memory     GROUP_SIZE * items elements, 4 * DIGITS bytes per SIMD group, 12 * DIGITS more
## Choice           one lane has no neighbours to write beside: it moves its elements one by one
##
## Within a tile a SIMD group finds an element's rank among its own by matching lanes of the same digit,
## then all are put in order in local memory, so that neighbours are written to neighbouring places.

<%namespace name="scan" file="/grid/scan.mako"/>

<%def name="names()">\
#define DIGITS 256u
#define DIGIT(x) ((uint)((x) >> shift) & (DIGITS - 1u))
</%def>

<%def name="count(index, keys, n, chunk, counts)">\
${scan.chunk_bounds(index, n, chunk)}
__local uint counted[DIGITS];
for (uint d = (uint)get_local_id(0); d < DIGITS; d += GROUP_SIZE) counted[d] = 0u;
barrier(CLK_LOCAL_MEM_FENCE);
for (${index} i = chunk_begin + get_local_id(0); i < chunk_end; i += GROUP_SIZE)
% if traits.lanes == 1:
    ++counted[DIGIT(${keys}[i])];
% else:
    atomic_inc(&counted[DIGIT(${keys}[i])]);
% endif
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

<%def name="scatter(index, key, value, items, keys, values, n, chunk, counts, totals, sorted, moved)">\
${scan.chunk_bounds(index, n, chunk)}
${places(index, counts, totals)}\
% if traits.lanes == 1:
for (${index} i = chunk_begin; i < chunk_end; ++i) {
    const ${key} x = ${keys}[i];
    const ${index} to = place[DIGIT(x)]++;
    ${sorted}[to] = x;
% if value:
    ${moved}[to] = ${values}[i];
% endif
}
% else:
__local ${key} tile_keys[GROUP_SIZE * ${items}u];
% if value:
__local ${value} tile_values[GROUP_SIZE * ${items}u];
% endif
__local uint counted[GROUP_SIZE / LANES * DIGITS];
__local ${index} offset[DIGITS];    // what takes a place in the tile to one in the output
__local uint starts[DIGITS];
const uint lid = (uint)get_local_id(0);
__local uint *const ours = counted + lid / LANES * DIGITS;
for (${index} tile = chunk_begin; tile < chunk_end; tile += GROUP_SIZE * ${items}u) {
    const uint filled = (uint)min(chunk_end - tile, (${index})(GROUP_SIZE * ${items}u));
    const uint first = lid / LANES * (LANES * ${items}u) + lane_id();
    ${key} loaded[${items}];
% if value:
    ${value} carried[${items}];
% endif
    uint rank[${items}];
    for (uint item = 0; item < ${items}u; ++item) {
        const uint at = first + item * LANES;
        loaded[item] = at < filled ? ${keys}[tile + at] : (${key})0;
% if value:
        carried[item] = at < filled ? ${values}[tile + at] : (${value})0;
% endif
    }
    for (uint d = lane_id(); d < DIGITS; d += LANES) ours[d] = 0u;
    lane_converge();
    for (uint item = 0; item < ${items}u; ++item) {
        const int there = first + item * LANES < filled;
        const uint d = DIGIT(loaded[item]);
        const lanemask_t same = lane_match_any(there ? d : DIGITS);
        const uint lower = lanemask_count(same & lane_mask_lt());
        const uint before = ours[d];
        lane_converge();
        if (there && lower == 0u) ours[d] = before + lanemask_count(same);
        lane_converge();
        rank[item] = before + lower;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint below = 0u;
    for (uint slab = 0; slab < DIGITS; slab += GROUP_SIZE) {
        const uint d = slab + lid;
        uint sum = 0u, here;
        if (d < DIGITS)
            for (uint g = 0; g < GROUP_SIZE / LANES; ++g) {
                const uint one = counted[g * DIGITS + d];
                counted[g * DIGITS + d] = sum;
                sum += one;
            }
        const uint before = below + group_scan_exclusive_count(sum, &here);
        if (d < DIGITS) {
            starts[d] = before;
            offset[d] = place[d] - before;
            place[d] += sum;
        }
        below += here;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint item = 0; item < ${items}u; ++item) {
        if (first + item * LANES >= filled) continue;
        const uint d = DIGIT(loaded[item]);
        const uint to = starts[d] + ours[d] + rank[item];
        tile_keys[to] = loaded[item];
% if value:
        tile_values[to] = carried[item];
% endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = lid; at < filled; at += GROUP_SIZE) {
        const ${key} x = tile_keys[at];
        const ${index} to = offset[DIGIT(x)] + at;
        ${sorted}[to] = x;
% if value:
        ${moved}[to] = tile_values[at];
% endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
% endif
</%def>
