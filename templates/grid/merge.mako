## merge: two ascending sequences to one, cut in tiles of equal output; ties take from the first.
##
## functions(key)   at file scope: declares merge_cross
## tiles            merges tile after tile; caller.store(to, second, from, x) sees the place in the output,
##                  whether the element is from the second sequence, its place there, and the element
## In scope         the group vocabulary; `index`, the type of positions
## Called by        all work-items, in uniform control flow
## Barriers         two a tile; none allowed in store
## Local memory     GROUP_SIZE * items keys
##
## Reference        O. Green, R. McColl, D. Bader, "GPU merge path", ICS 2012

<%def name="functions(key, index, space)">\
// How many of `a` are among the first `steps` of the merge.
static inline ${index} merge_cross_${space}(
    const __${space} ${key} *a, const ${index} na, const __${space} ${key} *b, const ${index} nb, const ${index} steps
) {
    ${index} low = steps > nb ? steps - nb : 0, high = min(na, steps);
    while (low < high) {
        const ${index} middle = low + (high - low) / 2;
        if (a[middle] <= b[steps - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    return low;
}
</%def>

<%def name="tiles(key, index, items, a, na, b, nb)">\
__local ${key} staged[GROUP_SIZE * ${items}u];
const ${index} total = ${na} + ${nb};
for (${index} begin = (${index})get_group_id(0) * (GROUP_SIZE * ${items}u); begin < total;
     begin += (${index})get_num_groups(0) * (GROUP_SIZE * ${items}u)) {
    const ${index} end = min(begin + GROUP_SIZE * ${items}u, total);
    const ${index} a0 = merge_cross_global(${a}, ${na}, ${b}, ${nb}, begin), b0 = begin - a0;
    const ${index} a1 = merge_cross_global(${a}, ${na}, ${b}, ${nb}, end), b1 = end - a1;
    const ${index} here_a = a1 - a0, here_b = b1 - b0;
    for (${index} i = get_local_id(0); i < here_a; i += GROUP_SIZE) staged[i] = ${a}[a0 + i];
    for (${index} i = get_local_id(0); i < here_b; i += GROUP_SIZE) staged[here_a + i] = ${b}[b0 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const ${index} mine = min((${index})(get_local_id(0) * ${items}u), end - begin);
    const ${index} upto = min(mine + ${items}u, end - begin);
    const __local ${key} *from_b = staged + here_a;
    ${index} i = merge_cross_local(staged, here_a, from_b, here_b, mine), j = mine - i;
    for (${index} step = mine; step < upto; ++step) {
        const int second = i >= here_a || (j < here_b && from_b[j] < staged[i]);
        const ${key} x = second ? from_b[j] : staged[i];
        const ${index} from = second ? b0 + j : a0 + i;
        ${caller.store(to="(begin + step)", second="second", place="from", x="x")}
        j += second;
        i += !second;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
</%def>
