## radix: one pass of a stable sort by a digit, in one launch.
##
## names()          at file scope: DIGITS and DIGIT(x), of a kernel's `shift`
## histogram        how often each digit of several passes is there
## sweep            a pass: every work-group takes the next tile, and finds where its digits go from what the
##                  tiles before it have said
## In scope         the group vocabulary with "add" declared on `index` and "count" on uint, the memory
##                  vocabulary, /grid/scan.mako's bounds; shift, poll_limit; served, whether keys alone are
##                  ranked by /grid/radix_served.mako
## Called by        all work-items, in uniform control flow; a sweep by one work-group for each tile
## Barriers         those of the group vocabulary and some more a tile
## Local memory     sweep: as much as the largest of GROUP_SIZE * items keys, as many values and 4 * DIGITS
##                  bytes for each SIMD group, and 16 * DIGITS bytes more
## Choice           several lanes; /grid/radix_alone.mako has what one lane does
##
## Keys are read into registers, and how many there are of each digit is said at once, since other tiles
## wait for that. A SIMD group then ranks its keys by matching lanes of the same digit. Counts, then keys,
## then values lie in one and the same local memory, in order, so that neighbours are written to
## neighbouring places: the larger the tile, the longer such runs.
## A work-group of a sweep waits for one before it a limited number of polls, and then counts the digits
## of that tile itself: it ends on every device, and where groups start in order it seldom has to.
## Rejected, on an H200 with 2^27 pairs of 4 and 4 bytes: digits that are counted after ranking, as fast or
## 7 % slower; keys and values in local memory at a time, at least 5 % slower for the smaller tile; a place
## taken by an atomic addition for all lanes of a digit, 3 % slower; histograms in four copies, as fast; keys
## of a tile 300 later fetched too, at most as fast, and 10 % slower where they have 8 bytes; matching by masks
## of five and of three bits that two shuffles fetch, as fast; fewer registers than the compiler takes of itself, 10
## to 100 % slower, by what is spilled.
##
## References       D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016;
##                  A. Adinets, D. Merrill, "Onesweep", 2022

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="scan" file="/grid/scan.mako"/>
<%namespace name="by_service" file="/grid/radix_served.mako"/>

<%def name="names()">\
#define DIGIT_BITS 8u
#define DIGITS 256u
#define MOST_PASSES 8u
#define TICKETS (MOST_PASSES * DIGITS)      // behind the totals of all passes
#define WORDS (TICKETS + 32u)
#define AT_ONCE 8u      // keys of a work-item that are read and then counted
#define DIGIT(x) ((uint)((x) >> shift) & (DIGITS - 1u))
</%def>

<%def name="histogram(index, key, keys, n, chunk, passes, totals)">\
<% add = "atomic_add" if index == "uint" else "atom_add" %>\
${scan.chunk_bounds(index, n, chunk)}
__local uint counted[MOST_PASSES * DIGITS];
for (uint d = (uint)get_local_id(0); d < ${passes} * DIGITS; d += GROUP_SIZE) counted[d] = 0u;
barrier(CLK_LOCAL_MEM_FENCE);
for (${index} i = chunk_begin + get_local_id(0); i < chunk_end; i += AT_ONCE * GROUP_SIZE) {
    ${key} read[AT_ONCE];       // before any is counted, so that none is waited for alone
    #pragma unroll
    for (uint item = 0u; item < AT_ONCE; ++item) read[item] = ${keys}[min(i + item * GROUP_SIZE, chunk_end - 1u)];
    #pragma unroll
    for (uint item = 0u; item < AT_ONCE; ++item) {
        if (i + item * GROUP_SIZE >= chunk_end) break;
        for (uint pass = 0u, shift = first_shift; pass < ${passes}; ++pass, shift += DIGIT_BITS)
            atomic_inc(&counted[pass * DIGITS + DIGIT(read[item])]);
    }
}
barrier(CLK_LOCAL_MEM_FENCE);
for (uint d = (uint)get_local_id(0); d < ${passes} * DIGITS; d += GROUP_SIZE)
    if (counted[d]) ${add}(&${totals}[d], counted[d]);
</%def>

## The tile's keys, to `loaded`; behind the last element come keys whose digits are the highest, which stay last.
<%def name="load_tile(key, items, keys)">\
${key} loaded[${items}];
__global const ${key} *const mine = ${keys} + tile + first;
#pragma unroll
for (uint item = 0; item < ${items}u; ++item) {
    loaded[item] = item * LANES < left ? mine[item * LANES] : (${key})~(${key})0;
}
</%def>

## What `ours` says of a key's digit, and how many keys of its SIMD group with that digit come before it.
<%def name="rank_tile(items)">\
const lanemask_t lower_lanes = lane_mask_lt();
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) {
    const uint d = DIGIT(loaded[item]);
    const lanemask_t same = lane_match_low(d, DIGIT_BITS);
    const uint lower = lanemask_count(same & lower_lanes);
    const uint before = ours[d];
    lane_converge();
    if (lower == 0u) ours[d] = before + lanemask_count(same);
    lane_converge();
    rank[item] = before + lower;
}
</%def>

## Declares `begin`: where digit `slab + lid` begins in the output.
<%def name="digit_begin(index, totals)">\
${index} begin = 0, lower_digits = 0;
for (uint d = lid; d <= slab + lid; d += GROUP_SIZE) {
    ${index} all;
    begin = lower_digits + group_scan_exclusive_add(d < DIGITS ? ${totals}[d] : (${index})0, &all);
    lower_digits += all;
}
</%def>

## Says to other tiles how many keys of each digit there are, and turns what SIMD groups have into places in
## the tile. The first tile's word has where the digit begins in it, so others need not find that out.
<%def name="publish(index, totals, states, other_states)">\
<% store = "store_relaxed" if index == "uint" else "store_relaxed_ulong" %>\
uint below = 0u;
for (uint slab = 0u; slab < DIGITS; slab += GROUP_SIZE) {
    const uint d = slab + lid;
    uint sum = 0u, here${"" if served else ", have[GROUP_SIZE / LANES]"};
    if (d < DIGITS) {
        #pragma unroll
        for (uint g = 0u; g < GROUP_SIZE / LANES; ++g) sum += ${"" if served else "have[g] = "}counted[g * DIGITS + d];
        if (number) ${store}(&${states}[(size_t)number * DIGITS + d], (${index})sum + 1);
        ${other_states}[(size_t)number * DIGITS + d] = 0;     // for the next pass
        own[d] = sum;
        offset[d] = 0;
    }
    if (number == 0u) {
        ${digit_begin(index, totals)}
        if (d < DIGITS) {
            ${store}(&${states}[d], ALL_BEFORE | (begin + sum));
            offset[d] = begin;
        }
    }
    uint place = below + group_scan_exclusive_count(sum, &here);
    below += here;
    if (d < DIGITS) {
        offset[d] -= place;
        #pragma unroll
        for (uint g = 0u; g < GROUP_SIZE / LANES; ++g) {
            const uint keys_of_group = ${"counted[g * DIGITS + d]" if served else "have[g]"};
            counted[g * DIGITS + d] = place;
            place += keys_of_group;
        }
    }
}
</%def>

## Adds to `offset` what all tiles before have of each digit. A word of `states` is 0 until it is known, then
## the tile's own count and one, then, with the highest bit, where the next tile's begin. Several are read
## at once, since reading them takes long and the work-group has nothing else to do.
<%def name="look_back(index, items, looks, keys, totals, states)">\
<%
    load = "load_relaxed" if index == "uint" else "load_relaxed_ulong"
    store = "store_relaxed" if index == "uint" else "store_relaxed_ulong"
%>\
for (uint slab = 0u; slab < DIGITS; slab += GROUP_SIZE) {
    const uint d = slab + lid;
    ${index} prefix = 0;
    uint from = number;      // the tile before this is the next to look at
    for (uint polls = 0u;;) {
        int stuck = 0;
        while (d < DIGITS && from > 0u && !stuck) {
            const uint next = from;
            ${index} read[${looks}];
            #pragma unroll
            for (uint look = 0u; look < ${looks}u; ++look)
                read[look] = look < next ? ${load}(&${states}[(size_t)(next - 1u - look) * DIGITS + d]) : 0;
            int known = 1;
            #pragma unroll
            for (uint look = 0u; look < ${looks}u; ++look) {
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
        if (stuck) atomic_max(&silent, from);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint waited = silent;
        if (waited == 0u) break;
        for (uint i = lid; i < DIGITS; i += GROUP_SIZE) recounted[i] = 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid == 0u) silent = 0u;
        const ${index} other = (${index})(waited - 1u) * TILE;
        for (uint i = lid; i < TILE; i += GROUP_SIZE) atomic_inc(&recounted[DIGIT(${keys}[other + i])]);
        ${digit_begin(index, totals)}
        barrier(CLK_LOCAL_MEM_FENCE);
        if (stuck && from == waited) {
            prefix += recounted[d] + (waited == 1u ? begin : 0);
            --from;
            polls = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (d < DIGITS) {
        if (number) ${store}(&${states}[(size_t)number * DIGITS + d], ALL_BEFORE | (prefix + own[d]));
        offset[d] += prefix;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
</%def>

## Hints that the SIMD group is about to read its part of a tile; a line is at least 128 bytes.
<%def name="prefetch(type, items, array, tile, filled)">\
for (uint line = lane_id() * (128u / (uint)sizeof(${type})); line < LANES * ${items}u; line += LANES * (128u / (uint)sizeof(${type})))
    if (first - lane_id() + line < ${filled}) prefetch_global(${array} + (${tile} + first - lane_id() + line));
</%def>

## From where elements were read to where they are in order in the tile.
<%def name="put(items, values, tile_values)">\
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) ${tile_values}[rank[item]] = ${values}[item];
</%def>

<%def name="sweep(index, key, value, items, looks, keys, values, n, totals, states, other_states, ticket, sorted, moved)">\
<%
    widths = {"uint": 4, "ulong": 8}
    simd_groups = lanes.module.groups_of(context, group_size)
    words = max(4 * 256 * simd_groups, items * group_size * max(widths[key], widths.get(value, 0))) // 8
%>\
#define TILE (GROUP_SIZE * ${items}u)
__local ulong room[${words + served}u];      // for counts of digits by SIMD group, then keys, then values
__local uint own[DIGITS], recounted[DIGITS], silent${", at_bit, wrong" if served else ""};
__local ${index} offset[DIGITS];    // what takes a place in the tile to one in the output
__local uint *const counted = (__local uint *)room;
__local ${key} *const tile_keys = (__local ${key} *)room${" + 8 / sizeof(" + key + ")" if served else ""};
const uint lid = (uint)get_local_id(0);
__local uint *const ours = counted + lid / LANES * DIGITS;
uint number = 0u;
if (lid == 0u) {
    number = atomic_inc(${ticket});
    silent = 0u;
% if served:
    at_bit = shift;
    wrong = 0u;
% endif
}
number = group_broadcast(number, 0u);
const ${index} tile = (${index})number * TILE;
const uint filled = (uint)min(${n} - tile, (${index})TILE);
const uint first = lid / LANES * (LANES * ${items}u) + lane_id();
const uint left = filled > first ? filled - first : 0u;
${load_tile(key, items, keys)}
% if value:
${prefetch(value, items, values, "tile", "filled")}
% endif
uint rank[${items}];
for (uint d = lane_id(); d < DIGITS; d += LANES) ours[d] = 0u;
lane_converge();
% if served:
${by_service.count(items)}
% else:
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) atomic_inc(&ours[DIGIT(loaded[item])]);
% endif
barrier(CLK_LOCAL_MEM_FENCE);
${publish(index, totals, states, other_states)}
barrier(CLK_LOCAL_MEM_FENCE);
% if served:
${by_service.places(items, "at_bit")}
if (lid == 0u) tile_keys[-1] = 0;
${look_back(index, items, looks, keys, totals, states)}\
${by_service.scatter(index, key, items, sorted)}\
${by_service.mended(key, sorted, "wrong")}
% else:
${rank_tile(items)}
barrier(CLK_LOCAL_MEM_FENCE);
${put(items, "loaded", "tile_keys")}
% if value:
${value} carried[${items}];
__global const ${value} *const my_values = ${values} + tile + first;
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) carried[item] = item * LANES < left ? my_values[item * LANES] : (${value})0;
% endif
${look_back(index, items, looks, keys, totals, states)}${index} to[${items}];
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) {
    const uint at = lid + item * GROUP_SIZE;
    const ${key} x = tile_keys[at];
    to[item] = offset[DIGIT(x)] + at;
    if (at < filled) ${sorted}[to[item]] = x;
}
% if value:
__local ${value} *const tile_values = (__local ${value} *)room;
barrier(CLK_LOCAL_MEM_FENCE);
${put(items, "carried", "tile_values")}
barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) {
    const uint at = lid + item * GROUP_SIZE;
    if (at < filled) ${moved}[to[item]] = tile_values[at];
}
% endif
% endif
</%def>
