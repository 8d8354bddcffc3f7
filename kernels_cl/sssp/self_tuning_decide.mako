## self_tuning_decide: what follows a stage of a search that tunes itself, by one work-item while all
## others wait.
##
## Order         relax, split, (the controller), split again; until no one is near and no one waits,
##               or the target is nearer than all who do. Then as /sssp/decide.mako
## Choice        config.method.controller: "device" turns the controller here, in double precision; with
##               "host" the launch after the first half of a split is the host's, which has read the
##               board and written it back by then
## In scope      the kernel's arguments, now, next, slot, queued; board: the words of the search

<%namespace name="deciding" file="/sssp/decide.mako"/>
<%namespace name="control" file="/control/set_point.mako"/>

<%def name="declarations()">
% if config.method.controller == "device":
${control.declarations()}
static inline double key_as_double(const key_t key) {
    return key == KEY_NONE ? (double)INFINITY : (double)length_of(key);
}

// The largest key of a length that is no more than x >= 0.
static inline key_t key_below(const double x) {
    % if keys.real and keys.bits == 32:
    const float length = convert_float_rtn(x);
    return min(as_uint(length), (key_t)(KEY_NONE - 1));
    % elif keys.real:
    return min(as_ulong(x), (key_t)(KEY_NONE - 1));
    % else:
    return x >= (double)KEY_NONE ? KEY_NONE - 1 : (key_t)x;
    % endif
}
% endif
</%def>

<%def name="decide()">
    const uint hubs = load_relaxed(state + NEXT_HUBS + slot * SLOT_STRIDE);
    const ulong edges = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
    ulong explored, work;
    int recorded = 0;
    % if config.method.controller == "device":
    double delta_here = 0.0;
    uint far_here = 0;
    % endif
    ${deciding.load_totals()}
    next.length = queued;
    next.hubs = hubs;
    next.queue ^= 1;
    if (now.mode == FILL) {
        % for word in ("PILE_EVEN", "PILE_ODD", "LIVE_EVEN", "LIVE_ODD", "CURRENT", "ROOTS", "FINISHED", "FRONTIER_SIZE"):
        board[${word}] = 0;
        % endfor
        % for word in ("LEAST_EVEN", "LEAST_ODD", "NEAREST"):
        BOARD_ULONG(${word}) = KEY_NONE;
        % endfor
        BOARD_ULONG(SHALLOWEST) = ~(key_t)0;
        BOARD_ULONG(FRONTIER_EDGES) = 0;
        BOARD_ULONG(HIGH) = first_high;
        BOARD_ULONG(FAR_BOUND) = first_high;
        BOARD_ULONG(CUT) = last_key;
        board[PARTITIONS] = 2;
        % if config.method.controller == "device":
        control_begin(board, as_double(first_degree), as_double(first_delta), as_double(unit));
        % endif
        state[REMARK] = 0;
        next.mode = START;
        next.length = source_count;
        next.hubs = 0;
        next.level = 1;
        explored = 0;
        work = n;
    } else if (now.mode == RELAX) {
        explored += BOARD_ULONG(FRONTIER_EDGES);
        board[IMPROVED] = queued;
        next.mode = SPLIT;
        next.half = 0;
    } else if (now.mode == START || (now.mode == SPLIT && now.half)) {
        ${frontier_is_formed("next")}
    } else if (now.mode == SPLIT) {
        recorded = 1;
        board[NEAR_SIZE] = queued;
        ${near_is_known("next")}
    } else {
        next.queue ^= 1;
        ${deciding.after_the_last("next")}
    }
    work += BOARD_ULONG(FRONTIER_EDGES) + (ulong)now.length + ${config.stage_work}u;
    if (next.mode != RELAX) fence_device();   // the board may have changed
    ${deciding.finish("next")}
    stage_alone = 0;
</%def>

<%def name="frontier_is_formed(s)">
{
    board[FRONTIER_SIZE] = queued + hubs;
    BOARD_ULONG(FRONTIER_EDGES) = edges;
    BOARD_ULONG(NEAREST) = KEY_NONE;
    ${s}.level += 1;
    ${s}.mode = RELAX;
    ${deciding.tile_of(s, "edges")}
}
</%def>

<%def name="near_is_known(s)">
{
    const uint waiting = board[LIVE_EVEN] + board[LIVE_ODD];
    key_t open = (key_t)BOARD_ULONG(NEAREST);   // no one who is still to be expanded is nearer
    if (board[LIVE_EVEN]) open = min(open, (key_t)BOARD_ULONG(LEAST_EVEN));
    if (board[LIVE_ODD]) open = min(open, (key_t)BOARD_ULONG(LEAST_ODD));
    % if config.method.controller == "device":
    delta_here = CONTROL(DELTA);
    % endif
    if (queued + waiting == 0 || (target < n && FRESH_KEY_AT(target) <= open)) {
        if (target < n) BOARD_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
        board[FINISHED] = 1;
        board[SCAN_EVEN] = 0;
        board[SCAN_ODD] = 0;
        ${s}.half = 0;
        ${s}.mode = finish ? FINISH : MODE_DONE;
    } else {
        ${s}.mode = SPLIT;
        ${s}.half = 1;
        % if config.method.controller == "device":
        ${turn()}
        far_here = board[here ? LIVE_ODD : LIVE_EVEN];   // before the next stage takes from it
        % endif
    }
}
</%def>

## What clgraph/algorithms/sssp/tuning.py does where the controller is the host's.
<%def name="turn()">
    uint current = board[CURRENT];
    uint here = current & 1u;
    const int last = isinf(CONTROL(BOUND));
    const int advanced = control_turn(
        board, as_double(*set_point), (double)board[FRONTIER_SIZE], (double)BOARD_ULONG(FRONTIER_EDGES), (double)queued,
        (double)board[here ? LIVE_ODD : LIVE_EVEN], (double)board[here ? LIVE_EVEN : LIVE_ODD],
        key_as_double((key_t)BOARD_ULONG(NEAREST)),
        key_as_double((key_t)BOARD_ULONG(here ? LEAST_ODD : LEAST_EVEN)),
        key_as_double((key_t)BOARD_ULONG(here ? LEAST_EVEN : LEAST_ODD)),
        key_as_double((key_t)~(key_t)BOARD_ULONG(SHALLOWEST)));
    if (advanced) {
        board[here ? PILE_ODD : PILE_EVEN] = 0;
        BOARD_ULONG(here ? LEAST_ODD : LEAST_EVEN) = KEY_NONE;
        current += 1;
        here = current & 1u;
        board[CURRENT] = current;
    }
    if ((last || advanced) && !isinf(CONTROL(BOUND))) board[PARTITIONS] += 1;
    key_t threshold = key_below(CONTROL(DELTA));
    // Someone is always taken, also where a length is no double.
    if (queued) threshold = max(threshold, (key_t)BOARD_ULONG(NEAREST));
    else if (board[here ? LIVE_ODD : LIVE_EVEN])
        threshold = max(threshold, min((key_t)BOARD_ULONG(here ? LEAST_ODD : LEAST_EVEN), (key_t)(KEY_NONE - 1)));
    BOARD_ULONG(HIGH) = threshold;
    BOARD_ULONG(FAR_BOUND) = isinf(CONTROL(BOUND)) ? KEY_NONE : key_below(CONTROL(BOUND));
    % for side in ("EVEN", "ODD"):
    if (board[LIVE_${side}] && BOARD_ULONG(LEAST_${side}) <= threshold) {
        board[SCAN_${side}] = board[PILE_${side}];
        BOARD_ULONG(LEAST_${side}) = KEY_NONE;   // found anew by the scan
    } else board[SCAN_${side}] = 0;
    % endfor
</%def>

<%def name="settle()">
    ${deciding.store_totals("next")}
    if (recorded) {
        state[DEPTH] = now.level - 1;
        % if config.method.controller == "device":
        if (now.level >= 2 && (now.level - 2) * 4 + 3 < level_capacity) {
            __global uint4 *const row = levels + 4 * (size_t)(now.level - 2);
            const uint2 edges_words = as_uint2(BOARD_ULONG(FRONTIER_EDGES)), delta_words = as_uint2(delta_here);
            const uint2 degree_words = as_uint2(CONTROL(DEGREE)), density_words = as_uint2(CONTROL(DENSITY));
            row[0] = (uint4)(board[FRONTIER_SIZE], board[IMPROVED], queued, far_here);
            row[1] = (uint4)(board[CURRENT], board[PARTITIONS], board[SCAN_EVEN] + board[SCAN_ODD], device_clock_ns());
            row[2] = (uint4)(edges_words, delta_words);
            row[3] = (uint4)(degree_words, density_words);
        }
        % endif
    }
</%def>
