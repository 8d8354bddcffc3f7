## tiles: share a range of items among the SIMD groups of all participating work-groups.
##
## each_tile, each_group_tile    parts for SIMD groups, or for whole work-groups
## setup         a kernel's first statements, where each_group_tile is used
## Body sees     tile_begin, tile_end: a part of [0, count), every item in exactly one part
## In scope      now (stage_t), slot, state, LANE_GROUP, GROUP_LANES
## Called by     all work-items, in uniform control flow; the body runs in lane-uniform flow
## Barriers      each_tile none; each_group_tile two a tile where work is claimed, and its body, which
##               runs in group-uniform flow, may have its own
## Choice        config.distribution: "static" strides over the grid, so that a small count is
##               spread over all work-groups first; "claimed" takes tiles from a counter, which
##               balances CPU threads of unequal speed and lets late joiners help

<%def name="each_tile(count, size)">${each_tile_of(count, size, caller.body)}</%def>

<%def name="each_tile_of(count, size, body)">
% if config.distribution == "static":
for (ulong tile_first = (ulong)(LANE_GROUP * now.members + member) * (${size});
     tile_first < (${count}); tile_first += (ulong)(GROUP_LANES * now.members) * (${size})) {
    const uint tile_begin = (uint)tile_first;
% else:
for (;;) {
    uint tile_claimed = 0;
    if (lane_id() == 0) tile_claimed = atomic_add(state + CLAIM + slot * SLOT_STRIDE, ${size});
    const uint tile_begin = lane_broadcast(tile_claimed, 0);
    if (tile_begin >= (${count})) break;
% endif
    const uint tile_end = min(tile_begin + (${size}), (uint)(${count}));
    ${body()}
}
</%def>

<%def name="setup()">
% if config.distribution == "claimed" and config.group_size > config.lanes:
__local uint claimed_by_group;
% endif
</%def>

<%def name="each_group_tile(count, size)">
% if config.group_size == config.lanes:
${each_tile_of(count, size, caller.body)}
% else:
% if config.distribution == "static":
for (ulong tile_first = (ulong)member * (${size}); tile_first < (${count}); tile_first += (ulong)now.members * (${size})) {
    const uint tile_begin = (uint)tile_first;
% else:
for (;;) {
    if (get_local_id(0) == 0) claimed_by_group = atomic_add(state + CLAIM + slot * SLOT_STRIDE, ${size});
    group_barrier();
    const uint tile_begin = claimed_by_group;
    group_barrier();
    if (tile_begin >= (${count})) break;
% endif
    const uint tile_end = min(tile_begin + (${size}), (uint)(${count}));
    ${caller.body()}
}
% endif
</%def>
