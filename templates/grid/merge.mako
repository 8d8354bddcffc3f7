## merge: two ascending sequences to one, cut in tiles of equal output; ties take from the first.
##
## functions(key, index)   at file scope: declares merge_cross, which the lanes of a SIMD group search together,
##                  and merge_cross_local, which each work-item searches alone in local memory
## tiles            merges `a` and `b` to `merged`, tile after tile; `values`, if given, are a type, what goes
##                  with either's elements, and where that goes
## In scope         the group vocabulary, the memory vocabulary; `index`, the type of positions
## Called by        all work-items, in uniform control flow
## Barriers         three a tile and one for every 32, none where a work-item is a SIMD group of its own
## Local memory     GROUP_SIZE * items keys and one, as many numbers of 16 bits, and 32 positions
##
## A work-group takes neighbouring tiles, so that where one ends the next begins. Work-items merge places
## in local memory, not elements: what is stored then goes to neighbouring places.
##
## Reference        O. Green, R. McColl, D. Bader, "GPU merge path", ICS 2012

<%namespace name="lanes" file="/lanes/lanes.mako"/>

<%def name="functions(key, index)">\
// How many of `a` are among the first `steps` of the merge: `low` at least, `high` at most.
LANE_FUNCTION ${index} merge_cross(
    LANE_PARAMS const __global ${key} *a, const __global ${key} *b, const ${index} steps, ${index} low, ${index} high
) {
    while (low < high) {
        const ${index} stride = (high - low + LANES) / (LANES + 1u);
        const ${index} probe = low + (lane_id() + 1u) * stride - 1u;
        const uint taken = lanemask_count(lane_ballot(probe < high && a[probe] <= b[steps - 1u - probe]));
        if (taken < LANES) high = min(high, low + (taken + 1u) * stride - 1u);
        low += taken * stride;
    }
    return low;
}

static inline uint merge_cross_local(
    const __local ${key} *a, const uint na, const __local ${key} *b, const uint nb, const uint steps
) {
    uint low = steps > nb ? steps - nb : 0u, high = min(na, steps);
    while (low < high) {
        const uint middle = (low + high) / 2u;
        if (a[middle] <= b[steps - 1u - middle]) low = middle + 1u;
        else high = middle;
    }
    return low;
}
</%def>

## Declares `a1`, how many of `a` are in front of the tile's end. SIMD groups look for the ends of the next tiles at
## the same time: a search is several rounds of loads, for which the work-group would wait in every tile.
<%def name="tile_end(index, a, na, b, nb)">\
% if lanes.module.one_lane(context):
    const ${index} a1 = ${cross(a, na, b, nb)};
% else:
    if (cut == CUTS) {
        for (uint next = lid / LANES; next < CUTS && begin + (${index})next * TILE < share_end; next += GROUP_SIZE / LANES) {
            const ${index} end = min(begin + ((${index})next + 1u) * TILE, total);
            const ${index} found = ${cross(a, na, b, nb)};
            if (lane_id() == 0u) cuts[next] = found;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        cut = 0u;
    }
    const ${index} a1 = cuts[cut++];
% endif
</%def>

<%def name="cross(a, na, b, nb)">merge_cross(LANE_ARGS ${a}, ${b}, end, max(a0, end > ${nb} ? end - ${nb} : 0), min(${na}, a0 + (end - begin)))</%def>

## All of a work-item is read before any of it is put down, and the next of one sequence while the other's is there.
<%def name="stage_and_merge(key, items, a, b)">\
    const __global ${key} *const from_a = ${a} + a0, *const from_b = ${b} + ((long)b0 - (long)here_a);
    ${key} read[${items}];
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const uint i = lid + item * GROUP_SIZE;
        if (i < here) read[item] = (i < here_a ? from_a : from_b)[i];
    }
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item)
        if (lid + item * GROUP_SIZE < here) staged[lid + item * GROUP_SIZE] = read[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint mine = min(lid * ${items}u, here);
    uint i = merge_cross_local(staged, here_a, staged + here_a, here - here_a, mine), j = here_a + mine - i;
    ${key} x = staged[i], y = staged[j];
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const int second = i >= here_a || (j < here && y < x);
        const uint place = second ? j : i;
        if (mine + item < here) places[mine + item] = (ushort)place;
        const ${key} next = staged[min(place + 1u, TILE)];
        if (second) {
            j = place + 1u;
            y = next;
        } else {
            i = place + 1u;
            x = next;
        }
    }
</%def>

<%def name="stage_and_merge_alone(a, b)">\
    for (uint i = 0u; i < here; ++i) staged[i] = i < here_a ? ${a}[a0 + i] : ${b}[b0 + (i - here_a)];
    uint i = 0u, j = here_a;
    for (uint step = 0u; step < here; ++step) {
        const int second = i >= here_a || (j < here && staged[j] < staged[i]);
        places[step] = (ushort)(second ? j : i);
        j += second;
        i += !second;
    }
</%def>

## Hints that values will be read once keys are in order; without any, the next tile's keys, whose end may be known.
## Both together were slower for pairs.
<%def name="prefetch(key, index, a, b, values)">\
% if values:
<% kind, a_values, b_values, moved = values %>\
    for (uint i = lid * (128u / (uint)sizeof(${kind})); i < here; i += GROUP_SIZE * (128u / (uint)sizeof(${kind})))
        prefetch_global(i < here_a ? ${a_values} + (a0 + i) : ${b_values} + (b0 + (i - here_a)));
% else:
    if (cut < CUTS && end < share_end) {
        const uint next_a = (uint)(cuts[cut] - a1), next = (uint)(min(end + TILE, total) - end);
        for (uint i = lid * (128u / (uint)sizeof(${key})); i < next; i += GROUP_SIZE * (128u / (uint)sizeof(${key})))
            prefetch_global(i < next_a ? ${a} + (a1 + i) : ${b} + (end - a1 + (i - next_a)));
    }
% endif
</%def>

<%def name="put(items, merged, values)">\
% if values:
<% kind, a_values, b_values, moved = values %>\
    const __global ${kind} *const first_values = ${a_values} + a0, *const second_values = ${b_values} + ((long)b0 - (long)here_a);
    ${kind} held[${items}];
% endif
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const uint step = lid + item * GROUP_SIZE;
        if (step < here) {
            const uint place = places[step];
% if values:
            held[item] = (place < here_a ? first_values : second_values)[place];
% endif
            ${merged}[begin + step] = staged[place];
        }
    }
% if values:
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item)
        if (lid + item * GROUP_SIZE < here) ${moved}[begin + lid + item * GROUP_SIZE] = held[item];
% endif
</%def>

<%def name="put_alone(merged, values)">\
    for (uint step = 0u; step < here; ++step) {
        const uint place = places[step];
        ${merged}[begin + step] = staged[place];
% if values:
<% kind, a_values, b_values, moved = values %>\
        ${moved}[begin + step] = place < here_a ? ${a_values}[a0 + place] : ${b_values}[b0 + (place - here_a)];
% endif
    }
</%def>

<%def name="tiles(key, index, items, a, na, b, nb, merged, values=None)">\
<% alone = lanes.module.one_lane(context) %>\
#define TILE (GROUP_SIZE * ${items}u)
__local ${key} staged[GROUP_SIZE * ${items}u + 1u];     // of the first sequence, then of the second; one more is looked at
__local ushort places[GROUP_SIZE * ${items}u];          // in `staged`, in the order of the output
% if not alone:
#define CUTS 32u
__local ${index} cuts[CUTS];
uint cut = CUTS;
% endif
const uint lid = (uint)get_local_id(0);
const ${index} total = ${na} + ${nb};
const ${index} all_tiles = (total + TILE - 1u) / TILE;
const ${index} share = (all_tiles + get_num_groups(0) - 1u) / get_num_groups(0) * TILE;
${index} begin = min((${index})get_group_id(0) * share, total);
const ${index} share_end = min(begin + share, total);
${index} a0 = merge_cross(LANE_ARGS ${a}, ${b}, begin, begin > ${nb} ? begin - ${nb} : 0, min(${na}, begin));
for (; begin < share_end; begin += TILE) {
    const ${index} end = min(begin + TILE, total), b0 = begin - a0;
${tile_end(index, a, na, b, nb)}\
    const uint here_a = (uint)(a1 - a0), here = (uint)(end - begin);
% if alone:
${stage_and_merge_alone(a, b)}\
${put_alone(merged, values)}
% else:
${prefetch(key, index, a, b, values)}
${stage_and_merge(key, items, a, b)}\
    barrier(CLK_LOCAL_MEM_FENCE);
${put(items, merged, values)}\
    barrier(CLK_LOCAL_MEM_FENCE);
% endif
    a0 = a1;
}
</%def>
