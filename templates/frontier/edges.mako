## edges: a queue of candidates, the heads of a frontier's edges before anyone has looked at them.
##
## A candidate is a vertex, with the vertex that led to it where problem.predecessors asks for a tree.
## A lane group knows how many edges its entries have before it hands them out, so it reserves room
## for all of them with one atomic and writes them side by side: no gaps, no overlap.
##
## begin         reserves for `count` candidates; `copy` (a visit body) then writes exactly so many
## In scope      state, slot, candidate_capacity
## Called by     lane-uniform control flow
## Overflow      what does not fit is not written and raises OVERFLOWED; nobody reserves after that, so
##               that the count never runs into the arrivals it shares a word with

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
if (lane_id() == 0 && room_wanted && !load_relaxed(state + OVERFLOWED)) {
    room = (uint)atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), (ulong)room_wanted);
    if ((ulong)room + room_wanted > candidate_capacity) {
        state[OVERFLOWED] = 1;
        room = NO_SPACE;
    }
}
room = lane_broadcast(room, 0);
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
