## radix: one pass of a stable sort by a digit.
##
## names()          at file scope: DIGITS and DIGIT(x), of a kernel's `shift`
## count, offsets, scatter    in three launches, none of which waits for another work-group: count the
##                  digits of each chunk, to counts[digit * groups + group]; scan the counts of a digit, by
##                  one work-group each; move a chunk's elements
## histogram        how often each digit of several passes is there, for sweep
## sweep            a pass in one launch: every work-group takes the next tile, and finds where its
##                  digits go from what the tiles before it have published
## In scope         the group vocabulary with "add" declared on `index`, "count" and "most" on uint, the
##                  memory vocabulary, /grid/scan.mako's bounds; shift
## Called by        all work-items, in uniform control flow, with the same chunk in all launches
## Barriers         those of the group vocabulary and some more a tile
## Local memory     sweep: GROUP_SIZE * items elements, 4 * DIGITS bytes per SIMD group, 16 * DIGITS more
## Choice           one lane has no neighbours to write beside: it moves its elements one by one, and takes
##                  the three launches; several take the sweep, which reads keys once
##
## Within a tile a SIMD group finds an element's rank among its own by matching lanes of the same digit,
## then all are put in order in local memory, so that neighbours are written to neighbouring places.
## A work-group of a sweep waits for one before it a limited number of polls, and then counts the digits
## of that tile itself: it ends on every device, and where groups start in order it seldom has to.
##
## References       D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016;
##                  A. Adinets, D. Merrill, "Onesweep", 2022

<%namespace name="scan" file="/grid/scan.mako"/>

<%def name="names()">\
#define DIGIT_BITS 8u
#define DIGITS 256u
#define MOST_PASSES 8u
#define TICKETS (MOST_PASSES * DIGITS)      // behind the totals of all passes
#define WORDS (TICKETS + 32u)
#define DIGIT(x) ((uint)((x) >> shift) & (DIGITS - 1u))
</%def>

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

<%def name="histogram(index, keys, n, chunk, passes, totals)">\
<% add = "atomic_add" if index == "uint" else "atom_add" %>\
${scan.chunk_bounds(index, n, chunk)}
__local uint counted[MOST_PASSES * DIGITS];
for (uint d = (uint)get_local_id(0); d < ${passes} * DIGITS; d += GROUP_SIZE) counted[d] = 0u;
barrier(CLK_LOCAL_MEM_FENCE);
for (${index} i = chunk_begin + get_local_id(0); i < chunk_end; i += GROUP_SIZE)
    for (uint pass = 0u, shift = first_shift; pass < ${passes}; ++pass, shift += DIGIT_BITS)
        atomic_inc(&counted[pass * DIGITS + DIGIT(${keys}[i])]);
barrier(CLK_LOCAL_MEM_FENCE);
for (uint d = (uint)get_local_id(0); d < ${passes} * DIGITS; d += GROUP_SIZE)
    if (counted[d]) ${add}(&${totals}[d], counted[d]);
</%def>

## Keys of the tile, and their ranks among those of their SIMD group with the same digit.
<%def name="rank_tile(key, value, items, keys, values)">\
${key} loaded[${items}];
% if value:
${value} carried[${items}];
% endif
uint rank[${items}];
#pragma unroll
for (uint item = 0; item < ${items}u; ++item) {
    const uint at = first + item * LANES;
    loaded[item] = at < filled ? ${keys}[tile + at] : (${key})0;
% if value:
    carried[item] = at < filled ? ${values}[tile + at] : (${value})0;
% endif
}
for (uint d = lane_id(); d < DIGITS; d += LANES) ours[d] = 0u;
lane_converge();
#pragma unroll
for (uint item = 0; item < ${items}u; ++item) {
    const int there = first + item * LANES < filled;
    const uint d = DIGIT(loaded[item]);
    const lanemask_t same = lane_match_low(d, DIGIT_BITS) & lane_ballot(there);
    const uint lower = lanemask_count(same & lane_mask_lt());
    const uint before = ours[d];
    lane_converge();
    if (there && lower == 0u) ours[d] = before + lanemask_count(same);
    lane_converge();
    rank[item] = before + lower;
}
barrier(CLK_LOCAL_MEM_FENCE);
</%def>

## What all tiles before have of digit d, to `prefix`. A word of `states` is 0 until it is known, then the
## tile's own count and one, then, with the highest bit, the count of all tiles up to it. Several are read
## at once, since reading them takes long and the work-group has nothing else to do.
<%def name="look_back(index, items, looks, keys, states)">\
<%
    load = "load_relaxed" if index == "uint" else "load_relaxed_ulong"
%>\
${index} prefix = 0;
uint from = number;      // the tile before this is the next to look at
for (uint polls = 0u;;) {
    int stuck = 0;
    while (d < DIGITS && from > 0u && !stuck) {
        const uint next = from;
        ${index} read[${looks}];
        #pragma unroll
        for (uint look = 0; look < ${looks}u; ++look)
            read[look] = look < next ? ${load}(&${states}[(size_t)(next - 1u - look) * DIGITS + d]) : 0;
        int known = 1;
        #pragma unroll
        for (uint look = 0; look < ${looks}u; ++look) {
            const ${index} word = read[look];
            known = known && word != 0;
            if (!known) continue;
            prefix += word & ALL_BEFORE ? word & ~ALL_BEFORE : word - 1;
            from = word & ALL_BEFORE ? 0u : from - 1u;
            known = from > 0u;
        }
        polls = from == next ? polls + 1u : 0u;
        stuck = polls > poll_limit;
        if (polls) spin_hint();
    }
    const uint silent = group_reduce_most(stuck ? from : 0u);
    if (silent == 0u) break;
    for (uint i = lid; i < DIGITS; i += GROUP_SIZE) recounted[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ${index} other = (${index})(silent - 1u) * (GROUP_SIZE * ${items}u);
    for (uint i = lid; i < GROUP_SIZE * ${items}u; i += GROUP_SIZE) atomic_inc(&recounted[DIGIT(${keys}[other + i])]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (stuck && from == silent) {
        prefix += recounted[d];
        --from;
        polls = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
</%def>

<%def name="sweep(index, key, value, items, looks, keys, values, n, totals, states, other_states, ticket, sorted, moved)">\
<%
    store = "store_relaxed" if index == "uint" else "store_relaxed_ulong"
%>\
__local ${key} tile_keys[GROUP_SIZE * ${items}u];
% if value:
__local ${value} tile_values[GROUP_SIZE * ${items}u];
% endif
__local uint counted[GROUP_SIZE / LANES * DIGITS];
__local ${index} offset[DIGITS];    // what takes a place in the tile to one in the output
__local uint starts[DIGITS], recounted[DIGITS];
const uint lid = (uint)get_local_id(0);
__local uint *const ours = counted + lid / LANES * DIGITS;
uint number = 0u;
if (lid == 0u) number = atomic_inc(${ticket});
number = group_broadcast(number, 0u);
const ${index} tile = (${index})number * (GROUP_SIZE * ${items}u);
const uint filled = (uint)min(${n} - tile, (${index})(GROUP_SIZE * ${items}u));
const uint first = lid / LANES * (LANES * ${items}u) + lane_id();
${rank_tile(key, value, items, keys, values)}
uint below = 0u;
${index} lower = 0;
for (uint slab = 0; slab < DIGITS; slab += GROUP_SIZE) {
    const uint d = slab + lid;
    uint sum = 0u, here;
    if (d < DIGITS) {
        for (uint g = 0; g < GROUP_SIZE / LANES; ++g) {
            const uint one = counted[g * DIGITS + d];
            counted[g * DIGITS + d] = sum;
            sum += one;
        }
        ${store}(&${states}[(size_t)number * DIGITS + d], number ? (${index})sum + 1 : ALL_BEFORE | sum);
        ${other_states}[(size_t)number * DIGITS + d] = 0;     // for the next pass
    }
    const uint before = below + group_scan_exclusive_count(sum, &here);
    below += here;
    ${index} all;
    const ${index} digit_begin = lower + group_scan_exclusive_add(d < DIGITS ? ${totals}[d] : (${index})0, &all);
    lower += all;
    ${look_back(index, items, looks, keys, states)}
    if (d < DIGITS) {
        if (number) ${store}(&${states}[(size_t)number * DIGITS + d], ALL_BEFORE | (prefix + sum));
        starts[d] = before;
        offset[d] = digit_begin + prefix - before;
    }
}
barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
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
</%def>
