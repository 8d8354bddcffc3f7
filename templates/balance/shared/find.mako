## find: the item that owns a unit, in an array of exclusive prefix sums.
##
## All declare a uint `name`: the last i in [0, count) with P[i] <= key, where P[0] <= key. Empty
## items share their sum with the next one, so the last of equals is an owner that owns something.
##
## binary        one read a step and exactly ceil(log2(count)) steps, whatever is found: other lanes
##               would wait for the slowest anyway
## interpolation some log log count reads where sizes are alike; after `cap` estimates it bisects,
##               since few large items among many empty ones would take one step an item
## by_lanes      all lanes read for one key, which is the same on all of them: log count to the base
##               of LANES dependent reads instead of to the base of two
## In scope      offset_t
## Called by     any control flow; by_lanes in lane-uniform control flow
## bound         "array[{}]", the expression that reads P at a place
##
## Reference     F. Busato, N. Bombieri, "A dynamic approach for workload partitioning on GPU
##               architectures", IEEE TPDS 28(6), 2017

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="binary(name, bound, count, key)">
uint ${name} = 0;
${items.tally("SEARCHES")}
for (uint step = (${count}) > 1u ? 0x80000000u >> clz((uint)(${count}) - 1u) : 0u; step; step >>= 1) {
    const uint probe = ${name} + step;
    ${items.tally("PROBES")}
    if (${bound.format(f"min(probe, (uint)({count}) - 1u)")} <= (${key}) && probe < (${count})) ${name} = probe;
}
</%def>

<%def name="interpolation(name, bound, count, key, cap)">
uint ${name} = 0;
${items.tally("SEARCHES")}
{
    uint right = (${count}) - 1u, estimates = 0;
    offset_t low = ${bound.format("0")}, high = ${bound.format("right")};
    if (high <= (${key})) {
        ${name} = right;
        right += 1u;
    }
    while (right - ${name} > 1u) {
        uint probe = ${name} + (right - ${name}) / 2u;
        if (estimates < ${cap}u) {
            // Both spans in 32 bits, so that the product fits 64.
            const ulong span = high - low, shift = 32ul - min((ulong)clz(span), 32ul);
            const ulong ahead = (((${key}) - low) >> shift) * (ulong)(right - ${name}) / (span >> shift);
            probe = clamp(${name} + (uint)min(ahead, (ulong)(right - ${name})), ${name} + 1u, right - 1u);
            ++estimates;
        }
        ${items.tally("PROBES")}
        const offset_t at = ${bound.format("probe")};
        if (at <= (${key})) {
            ${name} = probe;
            low = at;
        } else {
            right = probe;
            high = at;
        }
    }
}
</%def>

<%def name="by_lanes(name, bound, count, key)">
uint ${name} = 0;
for (uint past = (${count}); past - ${name} > 1u;) {
    const uint stride = (past - ${name} + LANES - 1u) / LANES, probe = ${name} + lane_id() * stride;
    const int at_most = probe < past && ${bound.format(f"min(probe, (uint)({count}) - 1u)")} <= (${key});
    const uint last = lanemask_count(lane_ballot(at_most)) - 1u;
    if (lane_id() == 0) { ${items.tally("PROBES")} }
    ${name} += last * stride;
    past = min(${name} + stride, past);
}
if (lane_id() == 0) { ${items.tally("SEARCHES")} }
</%def>

## How many items end before the `diagonal`-th of all items and units in their order, where an item
## ends right after its last unit: bound reads P, of which P[i + 1] is where item i ends.
<%def name="merge(name, bound, count, units, diagonal)">
uint ${name} = (uint)((${diagonal}) > (${units}) ? min((${diagonal}) - (${units}), (offset_t)(${count})) : 0);
${items.tally("SEARCHES")}
{
    uint right = (uint)min((${diagonal}), (offset_t)(${count}));
    while (${name} < right) {
        const uint probe = ${name} + (right - ${name}) / 2u;
        ${items.tally("PROBES")}
        if (${bound.format("probe + 1u")} + probe + 1u <= (${diagonal})) ${name} = probe + 1u;
        else right = probe;
    }
}
</%def>
