## follow_rounds: what follows a stage of /truss/follow.cl.
##
## next_stage()    in decide(): `next`, by one work-item
## keep()          in settle(): what the next decider needs
## In scope        the kernel's arguments and macros, and what the stage machine declares
##
##  FALL           COUNT -> LOWER -> SPREAD -> COUNT -> ... until LOWER lowers nobody
##  BISECT         COUNT -> LOWER -> COUNT -> ... over the edges that join; then SETTLE
##  SETTLE         as FALL, of the edges that join alone; then COLLECT and TOUCH
##  TOUCH          SPREAD, to the edges that the new ones may matter to; then FLOOD
##  FLOOD          COUNT -> TEST -> SPREAD -> COUNT -> ... until nobody is reached; then RAISE and DROP
##  DROP           as FALL, of the candidates alone; then COLLECT, and FLOOD from those that have kept

<%def name="next_stage()">
    fence_device();
    uint candidates_listed = control[CANDIDATES];
    uint rounds = control[ROUNDS], raised = control[RAISED], stages_run = control[STAGES] + 1u;
    ulong pending = *(volatile __global ulong *)(control + PENDING);
    ulong of_candidates = *(volatile __global ulong *)(control + OF_CANDIDATES);
    ulong visited = *(volatile __global ulong *)(control + VISITED);
    const ulong found = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
    const ulong looked = now.mode == COUNT || now.mode == SPREAD ? pending : 0ul;
    const ulong before = stages_run == 1u ? 0ul : *(volatile __global ulong *)(state + WORK);
    const ulong work = before + ${round_work}u + ${edge_work}u * looked + now.length;
    visited += looked;
    int done = 0, flooded = 0;
    next.listed = 0u;
    next.base = 0u;
    if (now.mode == COUNT) {
        next.mode = now.phase == FLOOD ? TEST : LOWER;
        next.listed = now.listed;
        next.base = now.phase == FLOOD ? candidates_listed : now.base;
    } else if (now.mode == LOWER) {
        next.length = queued;
        if (now.phase == BISECT) {
            pending = found;
            next.mode = COUNT;
            next.queue ^= 1u;
            if (!queued) {
                next.phase = SETTLE;
                next.listed = 1u;
                next.length = candidates_listed;
                pending = of_candidates;
            }
        } else if (queued) {
            next.mode = SPREAD;
            pending = found;
        } else if (now.phase == FALL) {
            done = 1;
        } else {
            next.mode = COLLECT;
            next.length = candidates_listed;
        }
    } else if (now.mode == SPREAD) {
        next.mode = COUNT;
        next.queue ^= 1u;
        next.length = queued;
        if (now.phase == FLOOD) {
            flooded = !queued;
            pending = found;
            next.stamp = now.stamp + 1u;
        } else if (now.phase == DROP) {
            // Who has given up the number that was tried has its old one, which nobody lowers.
            next.base = now.length;
            pending = found;
            next.stamp = now.stamp + 1u;
            if (!queued) {
                next.mode = COLLECT;
                next.base = 0u;
                next.length = candidates_listed;
            }
        } else {
            next.length = now.length + queued;
            pending += found;
            if (now.phase == TOUCH) {
                next.phase = FLOOD;
                candidates_listed = 0u;
                of_candidates = 0ul;
            }
            next.stamp = now.stamp + 1u;
        }
    } else if (now.mode == TEST) {
        next.base = candidates_listed;
        candidates_listed += queued;
        of_candidates += found;
        pending = found;
        next.mode = SPREAD;
        next.length = queued;
        flooded = !queued;
    } else if (now.mode == RAISE) {
        next.mode = COUNT;
        next.listed = 1u;
        pending = of_candidates;
    } else {
        pending = found;
        if (now.phase == SETTLE) {
            next.phase = TOUCH;
            next.mode = SPREAD;
            next.length = candidates_listed;
        } else {
            next.phase = FLOOD;
            next.mode = COUNT;
            next.queue ^= 1u;
            next.stamp = now.stamp + 1u;
            next.length = queued;
            candidates_listed = 0u;
            of_candidates = 0ul;
            raised += queued;
            done = !queued;
        }
    }
    if (flooded) {
        next.mode = RAISE;
        next.phase = DROP;
        next.length = candidates_listed;
        next.base = 0u;
        next.stamp = now.stamp + 1u;
        rounds += candidates_listed != 0u;
        done = !candidates_listed;
    }
    // What the next stage is going to look at counts already.
    const ulong ahead = next.mode == COUNT || next.mode == SPREAD ? pending : 0ul;
    const int gives_up = !done && (visited + ahead > most_visited || next.stamp >= ${most_stamps - 2}u);
    done |= gives_up;
    if (done) next.mode = MODE_DONE;
    const int pause = !done && work > budget;
    next.leave = done || pause;
    stage_by_one_group = 0;
</%def>

<%def name="keep()">
    control[CANDIDATES] = candidates_listed;
    control[ROUNDS] = rounds;
    control[RAISED] = raised;
    control[STAGES] = stages_run;
    control[LAST_STAMP] = next.stamp;
    if (gives_up) control[GAVE_UP] = 1u;
    if (now.mode == LOWER && now.phase != BISECT) control[LOWERED] += queued;
    *(volatile __global ulong *)(control + PENDING) = pending;
    *(volatile __global ulong *)(control + OF_CANDIDATES) = of_candidates;
    *(volatile __global ulong *)(control + VISITED) = visited;
    *(volatile __global ulong *)(state + WORK) = pause ? 0ul : work;
    state[STATUS] = done ? STATUS_DONE : pause ? STATUS_PAUSED : STATUS_RUNNING;
</%def>
