<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="candidates" file="/frontier/edges.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>
// Breadth-first search over several devices: the candidates that a device was sent, and those that it
// kept in a bin of its own, become its part of the next frontier.
//
// Races: the same vertex may come from several devices, or several times from one. The distance that
// its owner keeps decides, by an atomic: bits of the sender's mask were set before it was sent.

${group.words()}
${queue.declarations()}
${candidates.declarations()}
${visited.declarations()}
${stage.declarations()}
#define UNREACHED (${UNREACHED})

${group.kernel()} bfs_parts_contract(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [edges of this device]
    const uint n,                                   // vertices of this device
    const uint level,                               // the candidates' distance
    __global const candidate_t *kept,               // a bin of this device's from kept_begin on
    const uint kept_begin,
    const uint kept_count,
    __global const candidate_t *inbox,              // [received]
    const uint received,
    __global int *distances,                        // [n] in/out
    __global int *predecessors,                     // [n] in/out, or one element
    __global entry_t *queue_to,                     // [n + slack] out
    __global entry_t *hubs_to,
    const uint bin_count,
    volatile __global uint *state,
    const uint slot)                                // whose counters are those of the next frontier
{
    ${lanes.setup()}
    ${queue.setup()}
    ${stage.only()}
    // Lengths that the host has seen.
    <%share:each_item count="bin_count">
        state[BIN_LENGTHS + item * BIN_STRIDE] = 0;
    </%share:each_item>
    % if config.group_size > config.lanes:
    group_barrier();   // counters of the group's own queue are cleared
    % endif
    ${queue.begin_stage()}
    const int eager = 0;
    const uint arrivals = kept_count + received;
    <%tiles:each_tile count="arrivals" size="LANES">
        const uint at = tile_begin + lane_id();
        int active0 = at < tile_end;
        __global const candidate_t *const place =
            at < kept_count ? kept + kept_begin + at : inbox + (active0 ? at - kept_count : 0u);
        const candidate_t candidate = *place;
        const uint v0 = CANDIDATE_VERTEX(candidate), u0 = CANDIDATE_PARENT(candidate);
        ${visiting.visit_edges(1, "level", visiting.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
    </%tiles:each_tile>
    ${queue.end_stage("queue_to", "0")}
}

// The vertices of a range that are at a distance, numbered from its first on and almost in order: a frontier
// of rows that come by themselves, which nobody but the device has to know.
${group.kernel()} bfs_parts_list(
    __global const int *restrict distances,         // [n]
    const uint begin,                               // the range
    const uint count,
    const uint level,
    __global uint *restrict listed,                 // [count] out
    volatile __global uint *state,
    const uint slot)                                // whose counter says how many, 0 on entry
{
    ${lanes.setup()}
    <%share:each_tile count="count">
        const uint at = (uint)first + lane_id();
        const int wanted = at < count && distances[begin + at] == (int)level;
        const lanemask_t listing = lane_ballot(wanted);
        if (listing) {
            uint base = 0;
            if (lane_id() == 0) base = atomic_add(state + NEXT + slot * SLOT_STRIDE, lanemask_count(listing));
            base = lane_broadcast(base, 0);
            if (wanted) listed[base + lanemask_count(listing & lane_mask_lt())] = at;
        }
    </%share:each_tile>
}
