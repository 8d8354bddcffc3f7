## merge: two ascending sequences to one, cut in tiles of equal output; ties take from the first.
##
## functions(key, index)   at file scope: declares merge_cross, which the lanes of a SIMD group search together,
##                  and merge_cross_local, which each work-item searches alone in local memory
## tiles            merges tile after tile; caller.store(to, second, from, x) sees the place in the output,
##                  whether the element is from the second sequence, its place there, and the element
## In scope         the group vocabulary; `index`, the type of positions
## Called by        all work-items, in uniform control flow
## Barriers         three a tile; none allowed in store
## Local memory     GROUP_SIZE * items keys, and as many numbers of 16 bits
##
## A work-group takes neighbouring tiles, so that where one ends the next begins. Work-items merge places
## in local memory, not elements: what is stored then goes to neighbouring places.
##
## Reference        O. Green, R. McColl, D. Bader, "GPU merge path", ICS 2012

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

<%def name="tiles(key, index, items, a, na, b, nb)">\
__local ${key} staged[GROUP_SIZE * ${items}u];      // of the first sequence, then of the second
__local ushort places[GROUP_SIZE * ${items}u];      // in `staged`, in the order of the output
const ${index} total = ${na} + ${nb};
const ${index} all_tiles = (total + GROUP_SIZE * ${items}u - 1u) / (GROUP_SIZE * ${items}u);
const ${index} share = (all_tiles + get_num_groups(0) - 1u) / get_num_groups(0) * (GROUP_SIZE * ${items}u);
${index} begin = min((${index})get_group_id(0) * share, total);
const ${index} share_end = min(begin + share, total);
${index} a0 = merge_cross(LANE_ARGS ${a}, ${b}, begin, begin > ${nb} ? begin - ${nb} : 0, min(${na}, begin));
for (; begin < share_end; begin += GROUP_SIZE * ${items}u) {
    const ${index} end = min(begin + GROUP_SIZE * ${items}u, total), b0 = begin - a0;
    const ${index} a1 = merge_cross(LANE_ARGS ${a}, ${b}, end, max(a0, end > ${nb} ? end - ${nb} : 0), min(${na}, a0 + (end - begin)));
    const uint here_a = (uint)(a1 - a0), here = (uint)(end - begin);
    for (uint i = (uint)get_local_id(0); i < here; i += GROUP_SIZE)
        staged[i] = i < here_a ? ${a}[a0 + i] : ${b}[b0 + (i - here_a)];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint mine = min((uint)get_local_id(0) * ${items}u, here), upto = min(mine + ${items}u, here);
    uint i = merge_cross_local(staged, here_a, staged + here_a, here - here_a, mine), j = here_a + mine - i;
    for (uint step = mine; step < upto; ++step) {
        const int second = i >= here_a || (j < here && staged[j] < staged[i]);
        places[step] = (ushort)(second ? j : i);
        j += second;
        i += !second;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = (uint)get_local_id(0); step < here; step += GROUP_SIZE) {
        const uint place = places[step];
        const int second = place >= here_a;
        const ${index} from = second ? b0 + (place - here_a) : a0 + place;
        ${caller.store(to="(begin + step)", second="second", place="from", x="staged[place]")}
    }
    a0 = a1;
    barrier(CLK_LOCAL_MEM_FENCE);
}
</%def>
