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
## Edges            of LANES items at most, in one row, of which each lane takes `wide` at a time as long as there
##                  are more than LANES left
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
        uint first = 0u;
        % if wide > 1:
        // One after the other, a lane's edges would wait for memory as often.
        for (; first + LANES < total; first += ${wide}u * LANES) {
            ${edges_abreast(wide)}
        }
        % endif
        for (; first < total; first += LANES) {
            ${edges_abreast(1)}
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

## From `first` on, so many edges of each lane.
<%def name="edges_abreast(count)">
% for k in range(count):
const uint rank${k} = first + ${k}u * LANES + lane_id();
const int active${k} = rank${k} < total;
${search.owner(f"owner{k}", "my_rank", f"rank{k}")}
const offset_t e${k} = SHUFFLE_OFFSET(my_begin, owner${k}) + (rank${k} - lane_shuffle(my_rank, owner${k}));
% endfor
${visit(count)}
</%def>

<%def name="visit(count)">
% if incident == "neighbours":
% for k in range(count):
const uint v${k} = active${k} ? indices[e${k}] : 0u;
% endfor
% for k in range(count):
const uint length_v${k} = ROW_LENGTH(v${k});
// Of who has gone nobody asks for the count, so it is not asked first whether somebody has.
const uint was_v${k} = active${k} ? atomic_dec(&counts[v${k}]) : NO_COUNT;
% endfor
% for k in range(count):
const int lost${k} = was_v${k} == now.level + 1u;
${keep(f"lost{k}", f"v{k}", f"length_v{k}")}
% endfor
% else:
% for k in range(count):
uint2 both${k} = (uint2)(0u, 0u);
uint place${k} = 0u;
if (active${k}) {
    both${k} = sides[e${k}];
    place${k} = places[e${k}];
}
% endfor
% for k in range(count):
const uint f${k} = both${k}.x, g${k} = both${k}.y, of_f${k} = status[f${k}], of_g${k} = status[g${k}];
const uint length_f${k} = ROW_LENGTH(f${k}), length_g${k} = ROW_LENGTH(g${k}), bit${k} = 1u << (place${k} & 31u);
const int mine${k} = active${k} && !(atomic_or(claims + (place${k} >> 5), bit${k}) & bit${k});
% endfor
% for k in range(count):
uint was_f${k} = NO_COUNT, was_g${k} = NO_COUNT;
{
    const int f_there = of_f${k} == ALIVE || of_f${k} == fresh || of_f${k} == current;
    const int g_there = of_g${k} == ALIVE || of_g${k} == fresh || of_g${k} == current;
    if (mine${k} & f_there & g_there) {
        if (of_f${k} == ALIVE) was_f${k} = atomic_dec(&counts[f${k}]);
        if (of_g${k} == ALIVE) was_g${k} = atomic_dec(&counts[g${k}]);
    }
}
% endfor
% for k in range(count):
const int lost_f${k} = was_f${k} == now.level + 1u, lost_g${k} = was_g${k} == now.level + 1u;
${keep(f"lost_f{k}", f"f{k}", f"length_f{k}")}
${keep(f"lost_g{k}", f"g{k}", f"length_g{k}")}
% endfor
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
