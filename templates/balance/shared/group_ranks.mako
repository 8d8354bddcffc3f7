## group_ranks: ranks of a work-group's units, by a scan over one number from each work-item.
##
## Called by     all work-items of the group, in uniform control flow
## Barriers      two, none where the group is one SIMD group
## Local memory  4 bytes for each SIMD group, or 4 in all
## scan          declares `rank`, the sum before this work-item, and `total`; both modulo 2^32
## Choice        config.balance.group_scan, where the caller takes ranks in any order: "ordered", of work-items;
##               or "unordered", of SIMD groups as they arrive, by an atomic each on a word that
##               item 0 clears afterwards: the caller has a barrier before the next scan

<%def name="setup()">
% if config.group_size > config.lanes:
__local uint rank_totals[GROUP_LANES];
% if config.balance.group_scan == "unordered":
__local uint ranks_taken;
if (get_local_id(0) == 0) ranks_taken = 0;
group_barrier();
% endif
% endif
</%def>

<%def name="scan(rank, total, value, in_order=True)">
uint ${rank} = lane_scan_exclusive_add(${value});
% if config.group_size == config.lanes:
const uint ${total} = lane_broadcast(${rank} + (${value}), LANES - 1);
% elif not in_order and config.balance.group_scan == "unordered":
{
    const uint values_here = lane_broadcast(${rank} + (${value}), LANES - 1);
    uint ranks_before = 0;
    if (lane_id() == 0 && values_here) ranks_before = atomic_add(&ranks_taken, values_here);
    ${rank} += lane_broadcast(ranks_before, 0);
}
group_barrier();
const uint ${total} = ranks_taken;
group_barrier();
if (get_local_id(0) == 0) ranks_taken = 0;
% else:
if (lane_id() == LANES - 1) rank_totals[LANE_GROUP] = ${rank} + (${value});
group_barrier();
uint ${total} = 0;
for (uint g = 0; g < GROUP_LANES; ++g) {
    ${rank} += g < LANE_GROUP ? rank_totals[g] : 0u;
    ${total} += rank_totals[g];
}
group_barrier();
% endif
</%def>
