## drift: SIMD groups go on by themselves with the items whose removal they bring about.
##
## What is removed at a level does not depend on the order, so a SIMD group that has brought an item
## down to the level need not wait for the others before it takes from the counts of that item's
## company. It goes on as often as `drift` says; what is left then, or finds no room, is queued.
##
## rounds()         in PEEL: the queue, with what follows from it
## keep(lost, item, length)   a removed item, and its row's length, for a later round of this SIMD group
## In scope         now, slot, state, fresh, current, queue_from, queue_to; the queue's begin_stage()
## Called by        all work-items, in uniform control flow; no barriers
## Edges            of LANES items at most, in one row, of which each lane takes one at a time: rounds are
##                  narrow, and a second copy of the body for wide rows would take registers from all
##
## Stamps: what goes has that of this stage's queue; only what is left for the next has that of the next.
##
## Races: which edge of a triangle goes first is not known while groups are in different rounds, so the
## triangle itself is claimed, by one bit (`places`). It is taken off once, by whoever claims it. A status
## that is read too early says ALIVE of who is about to go, whose count matters to nobody any more; one
## that says otherwise stays so. What a level removes depends on neither, but how many rounds it takes does.
##
## A chain of removals waits for memory three times an edge: for what is in its row, for the claim, and for
## the counts. So claims are not made to wait for statuses (nobody asks again for a triangle that is none
## any more), and lengths of rows come along with both, although most are not needed: whoever goes next
## finds where its row begins in the cache.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="incidence" file="/truss/incidence.mako"/>
<%namespace name="search" file="/balance/shared/search.mako"/>

<%def name="rounds()">
uint items_left = 0u;       // of those that this lane removed, less those that it queued
edges_t edges_left = 0u;    // of those that it queued
const uint entries = max(1u, min((uint)LANES, now.length / (GROUP_LANES * now.members)));
<%tiles:each_tile count="now.length" size="entries">
    if (buffered > LANES) {
        lane_converge();
        ${leave()}
    }
    if (tile_begin + lane_id() < tile_end) buffer[buffered + lane_id()] = queue_from[tile_begin + lane_id()];
    buffered += tile_end - tile_begin;
    for (uint round = 0u; round < ${drift}u && buffered; ++round) {
        const uint past_taken = buffered, taken_from = buffered - min(buffered, (uint)LANES);
        lane_converge();
        buffered = taken_from;
        const int has_item = taken_from + lane_id() < past_taken;
        const uint my_item = buffer[has_item ? taken_from + lane_id() : taken_from];
        const offset_t my_begin = ENTRY_BEGIN(my_item);
        const uint my_degree = has_item && now.level ? ROW_LENGTH(my_item) : 0u;   // at 0 nothing is left in rows
        const uint my_rank = lane_scan_exclusive_add(my_degree);
        const uint total = lane_broadcast(my_rank + my_degree, LANES - 1);
        for (uint first = 0u; first < total; first += LANES) {
            const uint rank = first + lane_id();
            const int active = rank < total;
            ${search.owner("owner", "my_rank", "rank")}
            const uint u = lane_shuffle(my_item, owner);
            const offset_t e = SHUFFLE_OFFSET(my_begin, owner) + (rank - lane_shuffle(my_rank, owner));
            ${visit()}
        }
    }
</%tiles:each_tile>
lane_converge();
${leave()}
const uint items_here = lane_reduce_add(items_left);
const edges_t edges_here = EDGES_REDUCE(found_edges - edges_left);
if (lane_id() == 0u && (items_here || edges_here)) {
    atomic_add(&control[DRIFTED], items_here);
    atom_add((volatile __global ulong *)(control + DRIFTED_EDGES), (ulong)edges_here);
}
found_edges = edges_left;
</%def>

<%def name="visit()">
% if incident == "neighbours":
const uint v = active ? indices[e] : 0u;
const uint length_v = ROW_LENGTH(v);
// Of who has gone nobody asks for the count, so it is not asked first whether somebody has.
const int lost = active && atomic_dec(&counts[v]) == now.level + 1u;
${keep("lost", "v", "length_v")}
% else:
uint f = 0u, g = 0u, length_f = 0u, length_g = 0u;
int lost_f = 0, lost_g = 0;
if (active) {
    const uint2 both = sides[e];
    const uint place = places[e], bit = 1u << (place & 31u);
    f = both.x;
    g = both.y;
    const uint of_f = status[f], of_g = status[g];
    length_f = ROW_LENGTH(f);
    length_g = ROW_LENGTH(g);
    const int mine = !(atomic_or(claims + (place >> 5), bit) & bit);
    const int f_there = of_f == ALIVE || of_f == fresh || of_f == current;
    const int g_there = of_g == ALIVE || of_g == fresh || of_g == current;
    if (mine & f_there & g_there) {
        uint was_f = NO_COUNT, was_g = NO_COUNT;
        if (of_f == ALIVE) was_f = atomic_dec(&counts[f]);
        if (of_g == ALIVE) was_g = atomic_dec(&counts[g]);
        lost_f = was_f == now.level + 1u;
        lost_g = was_g == now.level + 1u;
    }
}
${keep("lost_f", "f", "length_f")}
${keep("lost_g", "g", "length_g")}
% endif
</%def>

<%def name="keep(lost, item, length)">
{
    if (${lost}) {
        ${incidence.remove(item, "current", length)}
        ++items_left;
    }
    const lanemask_t keeping = lane_ballot(${lost});
    if (keeping) {
        if (${lost}) buffer[buffered + lanemask_count(keeping & lane_mask_lt())] = ${item};
        buffered += lanemask_count(keeping);
        if (buffered > ${config.buffer - config.lanes}u) {
            lane_converge();
            ${leave()}
        }
    }
}
</%def>

## What is in the buffer goes to the queue.
<%def name="leave()">
{
    for (uint i = lane_id(); i < buffered; i += LANES) {
        const uint item = buffer[i];
        status[item] = (uchar)fresh;
        edges_left += ROW_LENGTH(item);
        --items_left;
    }
    if (buffered) ${queue.flush_lanes("queue_to")}
}
</%def>
