## swept: a device-wide scan in one launch. A work-group takes the next tile, says what its elements combine
## to, and looks back at what the tiles before it have said.
##
## names()          at file scope
## scan             caller.load(i) is an expression, as are caller.result(before, x), what is stored for an
##                  element x that has this before it, and caller.packed(x) and caller.unpacked(word), which
##                  take an element to the low 33 bits of a word and back
## In scope         the group vocabulary with the operator `name` declared on `type`, the memory vocabulary;
##                  poll_limit
## Called by        all work-items, in uniform control flow, by one work-group for each tile of
##                  GROUP_SIZE * items elements; `items` is a multiple of four
## Barriers         those of the group vocabulary and one more
## Local memory     that of the group vocabulary and an element
##
## `state` has a word for each tile and, behind them, the number of tiles that are taken; all 0 on entry. A
## word is 0 until its tile is known, then what it combines to alone, then all elements up to its end.
## The first SIMD group looks back, a tile a lane. It waits for a tile a limited number of polls and then
## combines its elements itself, so the launch ends on every device; `scanned` may not be what is loaded.
## Values combine in the order of the elements, so the operator need not commute.
##
## Reference        D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016

<%namespace name="grid" file="/grid/scan.mako"/>

<%def name="names()">\
#define KNOWN (1ul << 33)
#define ALL_BEFORE (1ul << 34)
</%def>

<%def name="look_back(name, type, index, items, load, unpacked, state)">\
uint from = number;     // the tile before this is the next to look at
for (uint polls = 0u; from > 0u;) {
    const int there = lane_id() + from >= LANES;
    const ulong word = there ? load_relaxed_ulong(&${state}[lane_id() + from - LANES]) : ALL_BEFORE;
    const lanemask_t unknown = lane_ballot(word == 0ul), whole = lane_ballot((word & ALL_BEFORE) != 0ul);
    uint begin = unknown ? lanemask_last(unknown) + 1u : 0u;    // the lowest lane whose word is of use
    const lanemask_t ends = begin < LANES ? whole >> begin << begin : 0;
    if (ends) begin = lanemask_last(ends);
    if (begin < LANES) {
        const ${type} x = there && lane_id() >= begin ? ${unpacked} : ${name}_identity();
        prefix = ${name}_combine(lane_reduce_in_${name}(LANE_ARGS x), prefix);
        from = ends ? 0u : from - (LANES - begin);
        polls = 0u;
    } else if (polls++ < poll_limit) {
        spin_hint();
    } else {
        ${type} sum = ${name}_identity();
        for (uint part = 0u; part < GROUP_SIZE * ${items}u; part += LANES) {
            const ${index} i = (${index})(from - 1u) * (GROUP_SIZE * ${items}u) + part + lane_id();
            sum = ${name}_combine(sum, lane_reduce_in_${name}(LANE_ARGS ${load}));
        }
        prefix = ${name}_combine(sum, prefix);
        --from;
        polls = 0u;
    }
}
</%def>

<%def name="scan(name, type, index, count, items, state, arrays, scanned, scanned_type)">\
__local ${type} handed;
const uint lid = (uint)get_local_id(0);
uint number = 0u;
if (lid == 0u) number = atomic_inc((volatile __global uint *)(${state} + get_num_groups(0)));
number = group_broadcast(number, 0u);
const ${index} chunk_end = ${count};
// A SIMD group's elements are neighbours, and so are its lanes' in each row of four times LANES.
const ${index} begins = (${index})number * (GROUP_SIZE * ${items}u) + lid / LANES * (LANES * ${items}u) + lane_id() * 4u;
${type} before = ${name}_identity(), prefix = ${name}_identity(), total;
% for row in range(items // 4):
${type} row${row}[4], before${row};
{
    const ${index} first = begins + ${row}u * (4u * LANES);
    ${grid.load_items(name, type, 4, caller.load, arrays)}
    ${type} sum = loaded[0];
    #pragma unroll
    for (uint item = 1u; item < 4u; ++item) sum = ${name}_combine(sum, loaded[item]);
    #pragma unroll
    for (uint item = 0u; item < 4u; ++item) row${row}[item] = loaded[item];
    sum = lane_scan_inclusive_in_${name}(LANE_ARGS sum);
    const ${type} lower = ${name}_shuffle_up(LANE_ARGS sum, 1u);
    before${row} = lane_id() ? ${name}_combine(before, lower) : before;
    before = ${name}_combine(before, ${name}_shuffle(LANE_ARGS sum, LANES - 1u));
}
% endfor
// The first lane stands for its SIMD group.
${type} groups = group_scan_exclusive_${name}(lane_id() ? ${name}_identity() : before, &total);
groups = ${name}_shuffle(LANE_ARGS groups, 0u);
if (lid == 0u) store_relaxed_ulong(&${state}[number], (number ? KNOWN : ALL_BEFORE) | ${capture(caller.packed, x="total").strip()});
if (lid < LANES) {
    ${look_back(name, type, index, items, capture(caller.load, i="i").strip(), capture(caller.unpacked, word="word").strip(), state)}
    if (lid == 0u) {
        handed = prefix;
        const ${type} all = ${name}_combine(prefix, total);
        if (number) store_relaxed_ulong(&${state}[number], ALL_BEFORE | ${capture(caller.packed, x="all").strip()});
    }
}
barrier(CLK_LOCAL_MEM_FENCE);
groups = ${name}_combine(handed, groups);
% for row in range(items // 4):
{
    const ${index} first = begins + ${row}u * (4u * LANES);
    ${type} here = ${name}_combine(groups, before${row});
    ${scanned_type}4 four;
% for part in range(4):
    four.s${part} = ${capture(caller.result, before="here", x=f"row{row}[{part}]").strip()};
    here = ${name}_combine(here, row${row}[${part}]);
% endfor
    if (first + 4u <= chunk_end && (size_t)(${scanned} + first) % sizeof(${scanned_type}4) == 0u) {
        *(__global ${scanned_type}4 *)(${scanned} + first) = four;
    } else {
% for part in range(4):
        if (first + ${part}u < chunk_end) ${scanned}[first + ${part}u] = four.s${part};
% endfor
    }
}
% endfor
</%def>
