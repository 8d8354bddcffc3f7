## edges: a queue of candidates, the targets of a frontier's edges before anyone has looked at them.
##
## A candidate is a vertex, with the vertex that led to it where problem.predecessors asks for a tree.
## A SIMD group knows how many edges its entries have before it hands them out, so it reserves room
## for all of them with one atomic and writes them side by side: no gaps, no overlap.
##
## begin_group, copy_group   the same for a work-group at a time, whose SIMD groups write side by side
## setup         among a kernel's first statements
## begin         reserves for `count` candidates; `copy` (a visit body) then writes exactly so many
## In scope      state, slot, candidate_capacity
## Called by     lane-uniform control flow; begin_group in group-uniform flow, with three barriers
## Overflow      what does not fit is not written and raises OVERFLOWED; nobody reserves after that, so
##               that the count never runs into the arrivals it shares a word with

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="declarations()">
% if problem.predecessors:
typedef uint2 candidate_t;
#define CANDIDATE_VERTEX(candidate_) (candidate_).x
#define CANDIDATE_PARENT(candidate_) (candidate_).y
#define MAKE_CANDIDATE(vertex_, parent_) (uint2)((vertex_), (parent_))
% else:
typedef uint candidate_t;
#define CANDIDATE_VERTEX(candidate_) (candidate_)
#define CANDIDATE_PARENT(candidate_) 0u
#define MAKE_CANDIDATE(vertex_, parent_) (vertex_)
% endif
</%def>

<%def name="begin(count)">
const uint room_wanted = ${count};
uint room = NO_SPACE, written = 0;
if (lane_id() == 0) {
    ${reserve("room_wanted")}
}
room = lane_broadcast(room, 0);
</%def>

## Sets `room`.
<%def name="reserve(wanted)">
if (${wanted} && !load_relaxed(state + OVERFLOWED)) {
    ${items.tally("RESERVATIONS")}
    room = (uint)atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), (ulong)${wanted});
    if ((ulong)room + ${wanted} > candidate_capacity) {
        state[OVERFLOWED] = 1;
        room = NO_SPACE;
    }
}
</%def>

<%def name="setup()">
% if config.balance.scope == "group":
__local uint group_wanted, group_room, group_written;
if (get_local_id(0) == 0) group_wanted = 0;
group_barrier();
% endif
</%def>

<%def name="begin_group(count)">
{
    const uint wanted_here = lane_reduce_add(${count});
    if (lane_id() == 0 && wanted_here) atomic_add(&group_wanted, wanted_here);
}
group_barrier();
if (get_local_id(0) == 0) {
    const uint wanted = group_wanted;
    uint room = NO_SPACE;
    ${reserve("wanted")}
    group_room = room;
    group_written = 0;
    group_wanted = 0;
}
group_barrier();
const uint room = group_room;
</%def>

<%def name="copy_group(count, queue)">
% for k in range(count):
{
    const lanemask_t writing = lane_ballot(active${k});
    if (writing) {
        uint at = 0;
        if (lane_id() == 0) at = atomic_add(&group_written, lanemask_count(writing));
        at = lane_broadcast(at, 0) + lanemask_count(writing & lane_mask_lt());
        if (active${k} && room != NO_SPACE) ${queue}[room + at] = MAKE_CANDIDATE(v${k}, u${k});
    }
}
% endfor
</%def>

<%def name="copy(count, queue)">
% for k in range(count):
{
    const lanemask_t writing = lane_ballot(active${k});
    if (active${k} && room != NO_SPACE)
        ${queue}[room + written + lanemask_count(writing & lane_mask_lt())] = MAKE_CANDIDATE(v${k}, u${k});
    written += lanemask_count(writing);
}
% endfor
</%def>
