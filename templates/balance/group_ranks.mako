## group_ranks: ranks of a work-group's units, by a scan over one number from each work-item.
##
## Called by     all work-items of the group, in uniform control flow
## Barriers      two, none where the group is one SIMD group
## Local memory  4 bytes for each SIMD group
## scan          declares `rank`, the sum before this work-item, and `total`; both modulo 2^32

<%def name="setup()">
% if config.group_size > config.lanes:
__local uint rank_totals[GROUP_LANES];
% endif
</%def>

<%def name="scan(rank, total, value)">
uint ${rank} = lane_scan_exclusive_add(${value});
% if config.group_size == config.lanes:
const uint ${total} = lane_broadcast(${rank} + (${value}), LANES - 1);
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
