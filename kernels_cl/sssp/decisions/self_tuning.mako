## self_tuning: what follows a stage of a search that tunes itself, by one work-item while all
## others wait.
##
## Order         relax, split, (the controller), split again; until no one is near and no one waits,
##               or the target is nearer than all who do. Then as common.mako
## Choice        config.method.controller: "device" turns the controller here, in double precision; with
##               "host" the launch after the first half of a split is the host's, which has read the
##               control_block and written it back by then
## In scope      the kernel's arguments, now, next, slot, queued; control_block: the words of the search

<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="common" file="/sssp/decisions/common.mako"/>
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
    ${common.load_totals()}
    next.length = queued;
    next.hubs = hubs;
    next.queue ^= 1;
    if (now.mode == FILL) {
        % for word in ("PILE_EVEN", "PILE_ODD", "LIVE_EVEN", "LIVE_ODD", "CURRENT", "ROOTS", "FINISHED", "FRONTIER_SIZE"):
        control_block[${word}] = 0;
        % endfor
        % for word in ("LEAST_EVEN", "LEAST_ODD", "NEAREST"):
        CONTROL_ULONG(${word}) = KEY_NONE;
        % endfor
        CONTROL_ULONG(SHALLOWEST) = ~(key_t)0;
        CONTROL_ULONG(FRONTIER_EDGES) = 0;
        CONTROL_ULONG(HIGH) = first_high;
        CONTROL_ULONG(FAR_BOUND) = first_high;
        CONTROL_ULONG(CUT) = last_key;
        control_block[PARTITIONS] = 2;
        % if config.method.controller == "device":
        control_begin(control_block, as_double(first_degree), as_double(first_delta), as_double(unit));
        % endif
        ${common.start("next")}
    } else if (now.mode == RELAX) {
        explored += CONTROL_ULONG(FRONTIER_EDGES);
        control_block[IMPROVED] = queued;
        next.mode = SPLIT;
        next.second = 0;
    } else if (now.mode == START || (now.mode == SPLIT && now.second)) {
        ${frontier_is_formed("next")}
    } else if (now.mode == SPLIT) {
        recorded = 1;
        control_block[NEAR_SIZE] = queued;
        ${near_is_known("next")}
    } else {
        next.queue ^= 1;
        ${common.after_the_last("next")}
    }
    work += CONTROL_ULONG(FRONTIER_EDGES) + (ulong)now.length + ${config.stage_work}u;
    if (next.mode != RELAX) fence_device();   // the control_block may have changed
    ${stage.finish("next")}
    stage_by_one_group = 0;
</%def>

<%def name="frontier_is_formed(s)">
{
    control_block[FRONTIER_SIZE] = queued + hubs;
    CONTROL_ULONG(FRONTIER_EDGES) = edges;
    CONTROL_ULONG(NEAREST) = KEY_NONE;
    ${s}.level += 1;
    ${s}.mode = RELAX;
    ${common.tile_of(s, "edges")}
}
</%def>

<%def name="near_is_known(s)">
{
    const uint waiting = control_block[LIVE_EVEN] + control_block[LIVE_ODD];
    key_t open = (key_t)CONTROL_ULONG(NEAREST);   // no one who is still to be expanded is nearer
    if (control_block[LIVE_EVEN]) open = min(open, (key_t)CONTROL_ULONG(LEAST_EVEN));
    if (control_block[LIVE_ODD]) open = min(open, (key_t)CONTROL_ULONG(LEAST_ODD));
    % if config.method.controller == "device":
    delta_here = CONTROL(DELTA);
    % endif
    if (queued + waiting == 0 || (target < n && FRESH_KEY_AT(target) <= open)) {
        if (target < n) CONTROL_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
        control_block[FINISHED] = 1;
        control_block[SCAN_EVEN] = 0;
        control_block[SCAN_ODD] = 0;
        ${s}.second = 0;
        ${s}.mode = finish ? FINISH : MODE_DONE;
    } else {
        ${s}.mode = SPLIT;
        ${s}.second = 1;
        % if config.method.controller == "device":
        ${turn()}
        far_here = control_block[here ? LIVE_ODD : LIVE_EVEN];   // before the next stage takes from it
        % endif
    }
}
</%def>

## What clgraph/algorithms/sssp/tuning.py does where the controller is the host's.
<%def name="turn()">
    uint current = control_block[CURRENT];
    uint here = current & 1u;
    const int last = isinf(CONTROL(BOUND));
    const int advanced = control_turn(
        control_block, as_double(*set_point), (double)control_block[FRONTIER_SIZE], (double)CONTROL_ULONG(FRONTIER_EDGES), (double)queued,
        (double)control_block[here ? LIVE_ODD : LIVE_EVEN], (double)control_block[here ? LIVE_EVEN : LIVE_ODD],
        key_as_double((key_t)CONTROL_ULONG(NEAREST)),
        key_as_double((key_t)CONTROL_ULONG(here ? LEAST_ODD : LEAST_EVEN)),
        key_as_double((key_t)CONTROL_ULONG(here ? LEAST_EVEN : LEAST_ODD)),
        key_as_double((key_t)~(key_t)CONTROL_ULONG(SHALLOWEST)));
    if (advanced) {
        control_block[here ? PILE_ODD : PILE_EVEN] = 0;
        CONTROL_ULONG(here ? LEAST_ODD : LEAST_EVEN) = KEY_NONE;
        current += 1;
        here = current & 1u;
        control_block[CURRENT] = current;
    }
    if ((last || advanced) && !isinf(CONTROL(BOUND))) control_block[PARTITIONS] += 1;
    key_t threshold = key_below(CONTROL(DELTA));
    // Someone is always taken, also where a length is no double.
    if (queued) threshold = max(threshold, (key_t)CONTROL_ULONG(NEAREST));
    else if (control_block[here ? LIVE_ODD : LIVE_EVEN])
        threshold = max(threshold, min((key_t)CONTROL_ULONG(here ? LEAST_ODD : LEAST_EVEN), (key_t)(KEY_NONE - 1)));
    CONTROL_ULONG(HIGH) = threshold;
    CONTROL_ULONG(FAR_BOUND) = isinf(CONTROL(BOUND)) ? KEY_NONE : key_below(CONTROL(BOUND));
    % for side in ("EVEN", "ODD"):
    if (control_block[LIVE_${side}] && CONTROL_ULONG(LEAST_${side}) <= threshold) {
        control_block[SCAN_${side}] = control_block[PILE_${side}];
        CONTROL_ULONG(LEAST_${side}) = KEY_NONE;   // found anew by the scan
    } else control_block[SCAN_${side}] = 0;
    % endfor
</%def>

<%def name="settle()">
    ${stage.store_totals()}
    if (recorded) {
        state[DEPTH] = now.level - 1;
        % if config.method.controller == "device":
        if (now.level >= 2 && (now.level - 2) * 4 + 3 < level_capacity) {
            __global uint4 *const row = levels + 4 * (size_t)(now.level - 2);
            const uint2 edges_words = as_uint2(CONTROL_ULONG(FRONTIER_EDGES)), delta_words = as_uint2(delta_here);
            const uint2 degree_words = as_uint2(CONTROL(DEGREE)), density_words = as_uint2(CONTROL(DENSITY));
            row[0] = (uint4)(control_block[FRONTIER_SIZE], control_block[IMPROVED], queued, far_here);
            row[1] = (uint4)(control_block[CURRENT], control_block[PARTITIONS], control_block[SCAN_EVEN] + control_block[SCAN_ODD], device_clock_ns());
            row[2] = (uint4)(edges_words, delta_words);
            row[3] = (uint4)(degree_words, density_words);
        }
        % endif
    }
</%def>
