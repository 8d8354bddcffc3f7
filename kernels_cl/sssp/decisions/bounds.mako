## bounds: what follows a stage of a search below a bound that rises, by one work-item while all others wait.
##
## Offers        decide, settle: bodies of /grid/stage.mako; go_on, frontier_is_empty: for who goes on alone
## In scope      the kernel's arguments, now, next, slot, queued; control_block: the words of the search
## Order         relax while the frontier has anyone; else split the pile while it has, unless the
##               target is settled; before each split heavy edges, where they are apart; then as
##               common.mako
## counting      when edges of the frontier are counted: "queued" with their vertices, "expanded" as
##               their rows are walked, or "both", some of them by either

## Edges of vertices at whose price one unsettled vertex looks along its own; and the share of all
## edges, one in so many, that is left to a search that does without order.
<%! LOOKS_PER_EDGE, UNORDERED = 4, 16 %>

<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="common" file="/sssp/decisions/common.mako"/>

<%def name="decide()">
    % if config.row_limit:
    const uint hubs = 0, surplus = load_relaxed(state + NEXT_HUBS + slot * SLOT_STRIDE);   // pieces of rows
    % else:
    const uint hubs = load_relaxed(state + NEXT_HUBS + slot * SLOT_STRIDE);
    % endif
    const ulong edges = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
    % if counting == "both":
    const uint drifted = load_relaxed(state + NEXT_EDGES_HIGH + slot * SLOT_STRIDE);
    % endif
    ulong explored, work;
    ${common.load_totals()}
    uint recorded_edges = 0;
    next.length = queued;
    next.hubs = hubs;
    if (now.mode == FILL) {
        control_block[PILE_EVEN] = 0;
        control_block[PILE_ODD] = 0;
        control_block[ROOTS] = 0;
        control_block[SETTLED] = 0;
        % if config.row_limit:
        CONTROL_ULONG(SETTLED_EDGES) = 0;
        CONTROL_ULONG(LEFT_EDGES) = m;
        % else:
        control_block[SETTLED_BEGIN] = 0;
        % endif
        CONTROL_ULONG(LOW) = 0;
        CONTROL_ULONG(HIGH) = first_high;
        CONTROL_ULONG(LEAST) = KEY_NONE;
        CONTROL_ULONG(CUT) = last_key;
        ${common.start("next")}
    } else if (now.mode <= RELAX${" || now.mode == SPLIT" if "split" in all_stages else ""}${" || now.mode == HEAVY" if "heavy" in all_stages else ""}) {
        % if "split" in all_stages:
        if (now.mode == SPLIT) {
            control_block[now.pile ? PILE_ODD : PILE_EVEN] = 0;
            next.pile ^= 1;
        }
        % endif
        % if config.row_limit:
        if (now.mode == HEAVY) {
            control_block[SETTLED] = 0;
            % if config.method.heavy == "switching":
            CONTROL_ULONG(LEFT_EDGES) -= CONTROL_ULONG(SETTLED_EDGES);   // of those that were done with
            CONTROL_ULONG(SETTLED_EDGES) = 0;
            % endif
        }
        % elif "heavy" in all_stages:
        // Rounding may have put some of their targets into the band itself: those are yet to come.
        if (now.mode == HEAVY) control_block[SETTLED_BEGIN] += now.length;
        % endif
        % if counting == "expanded":
        explored += now.mode == RELAX${" || now.mode == HEAVY" if "heavy" in all_stages else ""} ? edges : 0;
        % elif config.row_limit:
        explored += drifted;
        work += drifted;
        % elif counting == "both":
        explored += edges + drifted;
        work += drifted;
        % else:
        explored += edges;
        % endif
        recorded_edges = ${"0" if counting == "expanded" or config.row_limit else "(uint)min(edges, 0xfffffffful)"};
        next.queue ^= 1;
        if (queued + hubs) {
            ${go_on("next", "edges")}
        } else {
            ${frontier_is_empty("next")}
        }
    } else {
        ${common.after_the_last("next")}
    }
    work += edges + (ulong)now.length + ${config.stage_work}u;
    if (next.mode != RELAX) fence_device();   // the control_block may have changed
    ${stage.finish("next")}
    % if counting == "expanded":
    // A single work-item counts edges as it goes.
    const ulong ahead = ${common.is_alone()} ? 0ul : (ulong)next.length * mean_degree;
    % else:
    const ulong ahead = edges;
    % endif
    stage_by_one_group = (flags & FLAG_SINGLE_GROUP) && !next.leave && next.hubs == 0 && next.level <= max_rounds &&
                  next.length <= ${config.limits.single_group_capacity}u &&
                  ((next.mode == RELAX && ahead <= ${config.limits.single_group_edges}u)
                  % if "split" in single_group_stages:
                   || (next.mode == SPLIT && (${common.is_alone()} || next.length <= ${config.limits.single_group_edges}u))
                  % endif
                  % if "heavy" in single_group_stages:
                   || (next.mode == HEAVY && ahead <= ${config.limits.single_group_edges}u)
                  % endif
                  );
</%def>

<%def name="settle()">
    ${stage.store_totals()}
    if (now.mode == START || now.mode == RELAX${" || now.mode == SPLIT" if "split" in all_stages else ""}${" || now.mode == HEAVY" if "heavy" in all_stages else ""}) {
        ${common.record("next", "recorded_edges", "surplus" if config.row_limit else "0u")}
        % if counting == "expanded":
        ${common.correct_record("now", "edges")}
        % elif counting == "both":
        if (drifted && now.level - 2 < level_capacity) levels[now.level - 2].y += drifted;
        % endif
    }
</%def>

## The frontier has someone: the next stage relaxes its edges.
<%def name="go_on(s, edges)">
{
    ${s}.mode = ${"RELAX" if config.exact else "load_relaxed(state + OVERFLOWED) ? MODE_DONE : RELAX"};
    ${s}.level += 1;
    ${common.tile_of(s, edges)}
    if (${s}.level > max_rounds) {
        state[STATUS_FLAGS] |= FLAG_ROUNDS;
        ${s}.mode = MODE_DONE;
    }
}
</%def>

## What follows a frontier without anyone. LEAST is below everything on the pile, so a bound under it
## would find nothing.
<%def name="frontier_is_empty(s)">
{
    ${s}.level += 1;
    % if config.row_limit:
    ${beyond_the_band(s, next_bound)}
    % elif "heavy" in all_stages:
    ${heavy_edges(s, next_bound)}
    % else:
    ${next_bound(s)}
    % endif
}
</%def>

## The heavy edges of all that this band has settled; they lead beyond it.
<%def name="heavy_edges(s, otherwise)">
    const uint settled_now = load_relaxed(control_block + SETTLED) - control_block[SETTLED_BEGIN];
    if (settled_now) {
        ${s}.mode = HEAVY;
        ${s}.length = settled_now;
        ${s}.hubs = 0;
        ${common.tile_of(s, "(ulong)settled_now * mean_degree")}
    } else {
        ${otherwise(s)}
    }
</%def>

## Where the band has settled anyone and is not the last, edges that lead beyond it come next.
<%def name="beyond_the_band(s, otherwise)">
    const uint settled_now = load_relaxed(control_block + SETTLED);
    const ulong settled_edges = CONTROL_ULONG(SETTLED_EDGES), left_edges = CONTROL_ULONG(LEFT_EDGES) - settled_edges;
    CONTROL_ULONG(SETTLED_EDGES) = 0;
    CONTROL_ULONG(LEFT_EDGES) = left_edges;
    if (settled_now && CONTROL_ULONG(HIGH) < KEY_NONE - 1) {
        ${s}.mode = HEAVY;
        ${s}.length = settled_now;
        ${s}.hubs = 0;
        ${common.tile_of(s, "settled_edges")}
        % if config.method.heavy == "switching":
        // A look at everyone costs as much as some edges.
        ${s}.pulls = settled_edges > left_edges + n / ${LOOKS_PER_EDGE}u;
        % endif
    } else {
        ${otherwise(s)}
    }
</%def>

## The bound is raised and the far pile split, or the search is over.
<%def name="next_bound(s)">
    % if "split" in all_stages:
    const uint piled_now = load_relaxed(control_block + (${s}.pile ? PILE_ODD : PILE_EVEN));
    const key_t bound = (key_t)CONTROL_ULONG(HIGH), nearest = (key_t)CONTROL_ULONG(LEAST);
    if (piled_now && nearest <= (key_t)limit && !(target < n && FRESH_KEY_AT(target) <= bound)) {
        const key_t raised = key_raise(bound, delta);
        control_block[SETTLED] = 0;
        control_block[SETTLED_BEGIN] = 0;
        CONTROL_ULONG(LOW) = bound;
        CONTROL_ULONG(HIGH) = raised < nearest ? key_raise(nearest, delta) : raised;
        % if config.row_limit:
        // Where few edges are left, no order of them is worth another band.
        if (CONTROL_ULONG(LEFT_EDGES) <= m / ${UNORDERED}u) CONTROL_ULONG(HIGH) = KEY_NONE - 1;
        % endif
        CONTROL_ULONG(LEAST) = KEY_NONE;
        ${s}.mode = SPLIT;
        ${s}.length = piled_now;
        ${s}.hubs = 0;
    } else
    % endif
    {
        if (target < n) CONTROL_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
        % if "leaves" in all_stages:
        ${s}.mode = LEAVES;
        ${s}.length = 0;
        % else:
        ${s}.mode = finish ? FINISH : MODE_DONE;
        % endif
    }
</%def>
