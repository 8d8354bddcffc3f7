## drift: SIMD groups go on by themselves with what they find, and meet the others only now and then.
##
## A SIMD group takes entries of the queue into its buffer and expands them; what it finds it expands
## next, as often as config.drift says, without waiting for anyone. What is left then, or finds no
## room, goes to the next queue, each vertex once.
##
## Body          visit(count): as in /balance/advance.mako; it queues through `keep`
## In scope      now, slot, state, stamps, n; the frontier queue's macros and its begin_stage()
## Called by     all work-items, in uniform control flow; the bodies run in lane-uniform control flow
## Barriers      none
## Local memory  the queue's
## Needs         entries with rows, a balancer that reads LANES entries before it visits any edge
## Counts        NEXT_EDGES of what is queued, NEXT_EDGES_HIGH of what was expanded beyond the queue
## Duplicates    a vertex may be found again after it was expanded, with a better key or by another
##               SIMD group; stamps keep it from being queued twice, nothing keeps it from being
##               expanded twice, which costs work but changes nothing

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>
<%namespace name="balancer" file="${'/balance/' + context['config'].balance.name + '.mako'}"/>

<%def name="each_edge(queue_from, queue_to, count, visit)">
const uint part = 0, parts = 1;
uint drifted_edges = 0;   // out of entries that this lane expanded and nobody had queued
const uint rounds = (${count}) <= ${config.method.drift_limit}u ? ${config.drift}u : 1u;
<%tiles:each_tile count="${count}" size="(1u << now.tile)">
    if (buffered > LANES) {
        lane_converge();
        ${spill(queue_to)}
    }
    if (tile_begin + lane_id() < tile_end) buffer[buffered + lane_id()] = ${queue_from}[tile_begin + lane_id()];
    buffered += tile_end - tile_begin;
    for (uint round = 0; round < rounds && buffered; ++round) {
        const uint taken = min(buffered, (uint)LANES), taken_from = buffered - taken, past_taken = buffered;
        lane_converge();
        // The first of a tile's rounds takes all of the tile, whose edges were counted when it was queued.
        if (lane_id() + (round ? 0u : tile_end - tile_begin) < taken) drifted_edges += ENTRY_DEGREE(buffer[taken_from + lane_id()]);
        buffered = taken_from;
        ${balancer.expand("buffer", "taken_from", "past_taken", visit)}
    }
</%tiles:each_tile>
</%def>

<%def name="keep(found, entry, edges)">
${collected.collect(found, entry, "buffer", "buffered", f"{config.buffer - config.lanes}u", lambda: spill("queue_to"))}
</%def>

## What is in the buffer goes to the queue, but for vertices that are there already.
<%def name="spill(queue_to)">
{
    for (uint first = 0; first < buffered; first += LANES) {
        int fresh = first + lane_id() < buffered;
        const entry_t entry = buffer[fresh ? first + lane_id() : first];
        if (fresh) fresh = atomic_xchg(stamps + ENTRY_VERTEX(entry), now.level) != now.level;
        found_edges += fresh ? ENTRY_DEGREE(entry) : 0u;
        const lanemask_t pushing = lane_ballot(fresh);
        if (pushing) {
            ${collected.room("base", "lanemask_count(pushing)", queue.reserve)}
            if (fresh && base != NO_SPACE) ${queue_to}[base + lanemask_count(pushing & lane_mask_lt())] = entry;
        }
    }
    buffered = 0;
    lane_converge();
}
</%def>

<%def name="end_stage(queue_to)">
lane_converge();
${spill(queue_to)}
const ulong edges_here = (ulong)lane_reduce_add(drifted_edges) << 32 | lane_reduce_add(found_edges);
if (lane_id() == 0 && edges_here)
    atom_add((volatile __global ulong *)(state + NEXT_EDGES + slot * SLOT_STRIDE), edges_here);
</%def>
