## bins: vertices of many edges in queues by powers of two of their degree, each with as many work-items.
##
## Bin i holds degrees from 2^(config.hub_bits + i) up to twice that, so that a work-item has at most two
## edges of a vertex; the last bin, at the resident work-items, holds all above and goes round. All bins
## are shared out over the grid in one stage, so that they need no launches.
##
## keep          puts an entry in its bin; by any lane, in any control flow
## conclude      by the group that decides: what the stage's bins hold, for the stage that expands them
## begin_with    the same for a search that begins with one such vertex
## each_edge     by all work-items, in uniform control flow; its body is that of /balance/advance.mako
## In scope      state, slot, now, member, indices, bin_begins [bins + 1]: where each begins in the queue
## Words         NEXT_BIN_0 and those behind it, of each stage; BINS and those behind it, published
## Overflow      a bin holds all vertices of its degrees; what is queued twice may not fit, which raises
##               OVERFLOWED

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="declarations()">
#define HUB_BIN(degree_) min(31u - (uint)clz((uint)(degree_)) - ${config.hub_bits}u, ${config.hub_bins - 1}u)
</%def>

<%def name="keep(hubs, degree, entry)">
{
    const uint bin = HUB_BIN(${degree});
    const uint at = bin_begins[bin] + atomic_inc(state + NEXT_BIN_0 + bin + slot * SLOT_STRIDE);
    if (at < bin_begins[bin + 1]) ${hubs}[at] = ${entry};
    else state[OVERFLOWED] = 1;
}
</%def>

<%def name="begin_with(hubs, is_hub, degree, entry)">
for (uint bin = 0; bin < ${config.hub_bins}u; ++bin) {
    state[BINS + bin] = (${is_hub}) && HUB_BIN(${degree}) == bin;
    if (state[BINS + bin]) ${hubs}[bin_begins[bin]] = ${entry};
}
</%def>

<%def name="conclude()">
for (uint bin = 0; bin < ${config.hub_bins}u; ++bin)
    state[BINS + bin] = min(state[NEXT_BIN_0 + bin + slot * SLOT_STRIDE], bin_begins[bin + 1] - bin_begins[bin]);
</%def>

<%def name="each_edge(hubs, visit)">
for (uint bin = 0; bin < ${config.hub_bins}u; ++bin) {
    const uint in_bin = load_relaxed(state + BINS + bin);
    const uint shift = ${config.hub_bits - config.lanes.bit_length() + 1}u + bin, width = LANES << shift;
    __global const entry_t *const entries = ${hubs} + bin_begins[bin];
    for (ulong unit = (ulong)(LANE_GROUP * now.members + member); unit < (ulong)in_bin << shift; unit += GROUP_LANES * now.members) {
        const entry_t entry = entries[(uint)(unit >> shift)];
        const offset_t begin = ENTRY_BEGIN(entry);
        const uint degree = ENTRY_DEGREE(entry), share = ((uint)unit & ((1u << shift) - 1u)) * LANES;
        % for k in range(config.wide_batch):
        const uint u${k} = ENTRY_VERTEX(entry);
        % endfor
        for (ulong first = share; first < degree; first += ${config.wide_batch}ul * width) {
            if (lane_id() == 0) { ${items.tally("HUB_ROUNDS")} }
            % for k in range(config.wide_batch):
            const ulong rank${k} = first + ${k}ul * width + lane_id();
            const int active${k} = rank${k} < degree;
            const offset_t e${k} = begin + (offset_t)rank${k};
            const uint v${k} = active${k} ? indices[e${k}] : 0u;
            % endfor
            ${visit(config.wide_batch)}
        }
    }
}
</%def>
