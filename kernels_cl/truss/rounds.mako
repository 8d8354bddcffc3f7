## rounds: what follows a stage of /truss/peel.cl, and rounds that one group does by itself.
##
## next_stage()    in decide(): `next`, by one work-item
## keep()          in settle(): what the next decider needs, and the record of the stage
## few_rounds()    in by_one_group(), where `single_group`: round after round while few go in each
## In scope        the kernel's arguments and macros, and what the stage machine declares
##
## FIND -> PEEL -> PEEL -> ... -> FIND of the next level; COMPACT, then ROWS, before a FIND where half of
## the list has gone; WRAP before a PEEL where stamps come round; CLEAR and COUNT, then FIND, instead of
## a PEEL where all are counted anew.

<%namespace name="single" file="/grid/single_group.mako"/>
<%namespace name="incidence" file="/truss/incidence.mako"/>

<%def name="next_stage()">
    fence_device();
    const int begins_run = now.list == UNBEGUN;
    if (begins_run) {
        // The other words are as the run before has left them.
        next.list = NO_LIST;
        control[ROUNDS] = 0u;
        control[FRONTIER] = 0u;
        control[LEFT_ITEMS] = all_items;
        control[LISTED] = n;
        *(volatile __global ulong *)(control + LEFT_EDGES) = all_edges;
        *(volatile __global ulong *)(control + PENDING_EDGES) = 0ul;
        *(volatile __global ulong *)(control + VISITED) = 0ul;
    }
    const uint rounds = control[ROUNDS] + 1u;
    uint left = control[LEFT_ITEMS], listed = control[LISTED], frontier = control[FRONTIER];
    ulong left_edges = *(volatile __global ulong *)(control + LEFT_EDGES);
    ulong pending = *(volatile __global ulong *)(control + PENDING_EDGES);
    ulong visited = *(volatile __global ulong *)(control + VISITED);
% if drift:
    // What went while the stage was going on, beside what it has queued.
    const int peeled = now.mode == PEEL;
    const uint drifted = peeled ? atomic_xchg(&control[DRIFTED], 0u) : 0u;
    const ulong drifted_edges = peeled ? atom_xchg((volatile __global ulong *)(control + DRIFTED_EDGES), 0ul) : 0ul;
% else:
    const uint drifted = 0u;
    const ulong drifted_edges = 0ul;
% endif
    const ulong looked = now.mode == PEEL ? pending + drifted_edges : now.mode == COUNT ? left_edges : 0ul;
    const ulong cost = ${round_work}u + ${edge_work}u * looked + now.length;
    const ulong work = cost + (begins_run ? 0ul : *(volatile __global ulong *)(state + WORK));
    visited += looked;
    int done = 0, find = 0, removed = 0;
    next.length = 0u;
    if (resumed && begins_run) {
        // choose() knows what follows.
    } else if (now.mode == FIND || now.mode == PEEL) {
        const edges_t gone = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        left -= queued + drifted;
        pending = gone;
        left_edges -= min((ulong)gone + drifted_edges, left_edges);
        const uint least = now.mode == FIND ? atomic_xchg(&control[LEAST], NO_COUNT) : 0u;
        if (queued) {
            removed = 1;
            frontier = queued;
            next.queue ^= 1u;
            next.stamp = AFTER(STAMP(now.stamp));
            done = left == 0u || left < quorum;
            if (RECOUNTS(pending, left_edges)) next.stamp |= COUNTING;
        } else if (drifted && (left == 0u || left < quorum)) {
            done = 1;
        } else {
            next.level = now.mode == FIND ? least : now.level + 1u;
            find = 1;
            done = next.level > last_level;
        }
    } else if (now.mode == COMPACT) {
        next.list = now.list == EVEN_LIST ? ODD_LIST : EVEN_LIST;
        listed = queued;
    }
    ${choose()}
    const int pause = !done && work > budget;
    next.leave = done || pause;
    % if single_group:
    stage_by_one_group = !(flags & FLAG_STEPPED) && !next.leave && next.mode == PEEL && FEW(frontier, pending);
    % else:
    stage_by_one_group = 0;
    % endif
</%def>

## Sets the mode of `next`, and over how much it goes, after a stage or rounds of one group.
<%def name="choose()">
    const int counting = (next.stamp & COUNTING) != 0u, settled = find || counting;
    const int sparse = (listed / 2u >= left ${'' if incident == 'rows' else '&& (counting || listed > SCANNED_AT_ONCE)'}) || (counting && next.list == NO_LIST);
    if (resumed && rounds <= 2u) {
        next.mode = rounds == 1u ? WRAP : COMPACT;
        next.length = n;
        next.stamp = rounds - 1u;   // no stamp is the present one in WRAP
    } else if (removed && STAMP(now.stamp) % (STAMPS / 2u) == 0u) {
        next.mode = WRAP;
        next.length = n;
    } else if (removed && !counting) {
        next.mode = PEEL;
        next.length = frontier;
    } else if (now.mode == WRAP && !counting) {
        next.mode = PEEL;
        next.length = frontier;
    } else if ((settled || now.mode == WRAP) && sparse && now.mode != COMPACT && now.mode != ROWS && now.mode != CLEAR && now.mode != COUNT) {
        next.mode = COMPACT;
        next.length = listed;
% if incident == "rows":
    } else if (now.mode == COMPACT && (dropping == 2u || (resumed && rounds == 3u))) {
        next.mode = ROWS;
        next.length = vertices;
% endif
    } else if (counting && now.mode != CLEAR && now.mode != COUNT) {
        next.mode = CLEAR;
        next.length = listed;
    } else if (now.mode == CLEAR) {
        next.mode = COUNT;
        next.length = listed;
    } else {
        next.mode = FIND;
        next.length = listed;
        next.stamp = STAMP(next.stamp);
    }
    if (done) next.mode = MODE_DONE;
</%def>

## While few go in a round, the group that decided does round after round by itself.
<%def name="few_rounds()">
{
    __global entry_t *const hubs_even = queue_even, *const hubs_odd = queue_odd;   // there are none
    uint fresh = STAMP(now.stamp), current = BEFORE(fresh), rounds = control[ROUNDS];
    uint left = control[LEFT_ITEMS];
    const uint listed = control[LISTED];
    ulong left_edges = *(volatile __global ulong *)(control + LEFT_EDGES);
    ulong pending = *(volatile __global ulong *)(control + PENDING_EDGES);
    ulong visited = *(volatile __global ulong *)(control + VISITED);
    ulong work = *(volatile __global ulong *)(state + WORK);
    int done = 0;
    % if incident == "lists":
    __global const uint *const indices = (__global const uint *)sides;
    % endif
    <%single:levels>
    <%def name="visit(count)">
        ${incidence.visit(count, True)}
    </%def>
    <%def name="single_level()">
        visited += pending;
        work += ${round_work // 8}u + ${edge_work}u * pending;
        pending = edges;
        left -= now.length;
        left_edges -= min((ulong)edges, left_edges);
        if (lid == 0 && ++rounds <= capacity) history[rounds] = (uint4)(now.level, now.length, PEEL, device_clock_ns());
        if (lid) ++rounds;
        done = now.length && (left == 0u || left < quorum);
        going = now.length && !done && FEW(now.length, pending) && fresh % (STAMPS / 2u) != 0u && work <= budget &&
                !RECOUNTS(pending, left_edges);
        if (going) {
            current = fresh;
            fresh = AFTER(fresh);
            now.stamp = fresh;
        }
    </%def>
    </%single:levels>
    // What follows, as after a round of all groups; the queues have changed places already.
    stage_t next = now;
    const uint frontier = now.length;
    const int removed = now.length != 0u, find = !removed;
    next.length = 0u;
    if (removed) next.stamp = AFTER(fresh) | (RECOUNTS(pending, left_edges) ? COUNTING : 0u);
    else {
        next.level = now.level + 1u;
        done = next.level > last_level;
    }
    ${choose()}
    const int pause = !done && work > budget;
    next.leave = done || pause;
    if (lid == 0) {
        ${note()}
    }
    now = next;
    group_barrier_global();
}
</%def>

<%def name="keep()">
    ${note()}
    if (rounds <= capacity) history[rounds] = (uint4)(now.level, now.mode == FIND || now.mode == PEEL ? queued + drifted : 0u, now.mode, device_clock_ns());
</%def>

<%def name="note()">
    control[ROUNDS] = rounds;
    control[LEFT_ITEMS] = left;
    control[LISTED] = listed;
    control[FRONTIER] = frontier;
    control[LAST_LEVEL] = now.level;
    *(volatile __global ulong *)(control + LEFT_EDGES) = left_edges;
    *(volatile __global ulong *)(control + PENDING_EDGES) = pending;
    *(volatile __global ulong *)(control + VISITED) = visited;
    *(volatile __global ulong *)(state + WORK) = pause ? 0ul : work;
    % if ordered:
    if (done) control[REMOVALS] = 0u;
    % endif
    state[STATUS] = done ? STATUS_DONE : pause ? STATUS_PAUSED : STATUS_RUNNING;
</%def>
