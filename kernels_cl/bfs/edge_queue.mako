## edge_queue: a level contracts candidates to the vertices it claims and expands those to candidates.
##
## Offers        work, decide, settle and by_one_group: the bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot
##
## Stages: FILL the results; then either CONTRACT_EXPAND, which keeps what it claims in local memory
## and passes from one queue of candidates to the other, or CONTRACT to a queue of vertices and EXPAND
## that into the candidates' own queue again. now.level is the distance of the candidates. Both begin
## and end with candidates, so each level may choose.
##
## Races: where claims are not exact, several finders of v may all win. They write the same distance,
## each writes a parent of its own, one level up, and v is expanded more than once.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="copying" file="/frontier/edges.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="fill" file="/bfs/fill.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="level" file="/bfs/level.mako"/>

<%def name="setup()">
${queue.setup()}
${advance.setup()}
${copying.setup()}
${duplicates.setup()}
% if "contract_expand" in stages:
__local entry_t claimed_entries[${config.group_size}];
% if config.balance.scope == "group":
__local uint kept_count;
if (get_local_id(0) == 0) kept_count = 0;
group_barrier();
% endif
% endif
</%def>

<%def name="work()">
    __global candidate_t *const candidates = now.queue ? candidates_odd : candidates_even;
    __global candidate_t *const next_candidates = now.queue ? candidates_even : candidates_odd;
    __global word_t *const the_visited = visited_even;
    __global entry_t *const queue_to = queue_even;
    const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
    const uint part = 0, parts = 1;
    const int eager = now.length <= ${config.limits.eager}u;
    ${queue.begin_stage()}
    % if "contract" in stages:
    if (now.mode == CONTRACT) {
        <%tiles:each_tile count="now.length" size="tile_size">
            ${contract(visiting.keep_in_queue)}
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", f"now.length <= {queue.module.DIRECT}u")}
    }
    % endif
    % if "expand" in stages:
    if (now.mode == EXPAND) {
        % if config.balance.scope == "group":
        <%tiles:each_group_tile count="now.length" size="${str(config.group_size)}u">
            const uint i = tile_begin + (uint)get_local_id(0);
            const uint degree = i < tile_end ? ENTRY_DEGREE(queue_even[i]) : 0u;
            ${copying.begin_group("degree")}
            __global const entry_t *const tile = queue_even + tile_begin;
            ${advance.group_edges("tile", "(tile_end - tile_begin)", copy_edges)}
            group_barrier();
        </%tiles:each_group_tile>
        % else:
        <%tiles:each_tile count="now.length" size="tile_size">
            uint degrees = 0;
            for (uint i = tile_begin + lane_id(); i < tile_end; i += LANES) degrees += ENTRY_DEGREE(queue_even[i]);
            ${copying.begin("lane_reduce_add(degrees)")}
            ${advance.tile_edges("queue_even", "tile_begin", "tile_end", copy_edges)}
        </%tiles:each_tile>
        % endif
    }
    % endif
    % if "contract_expand" in stages:
    if (now.mode == CONTRACT_EXPAND) {
        uint claimed_here = 0;
        % if config.balance.scope == "group":
        <%tiles:each_group_tile count="now.length" size="${str(config.group_size)}u">
            uint kept_degree = 0;
            {
                const uint first = tile_begin + LANE_GROUP * LANES;
                ${contract_lanes(keep_for_group)}
            }
            ${copying.begin_group("kept_degree")}
            const uint kept_here = kept_count;
            ${advance.group_edges("claimed_entries", "kept_here", copy_next)}
            group_barrier();
            if (get_local_id(0) == 0) {
                claimed_here += kept_here;
                kept_count = 0;
            }
            group_barrier();
        </%tiles:each_group_tile>
        % else:
        __local entry_t *const kept = claimed_entries + LANE_GROUP * LANES;
        <%tiles:each_tile count="now.length" size="tile_size">
            ${contract(keep_in_lanes, expand_kept)}
        </%tiles:each_tile>
        % endif
        if (lane_id() == 0 && claimed_here) atomic_add(state + NEXT_HUBS + slot * SLOT_STRIDE, claimed_here);
    }
    % endif
    ${fill.stage()}
</%def>

## The candidates of a tile, a lane each: those that are claimed go to `keep`.
<%def name="contract(keep, after=None)">
for (uint first = tile_begin; first < tile_end; first += LANES) {
    % if after:
    uint kept_count = 0, kept_degree = 0;
    % endif
    ${contract_lanes(keep)}
    % if after:
    ${after()}
    % endif
}
</%def>

<%def name="contract_lanes(keep)">
int active0 = first + lane_id() < tile_end;
const candidate_t candidate = candidates[active0 ? first + lane_id() : tile_begin];
const uint v0 = CANDIDATE_VERTEX(candidate), u0 = CANDIDATE_PARENT(candidate);
${duplicates.at_load("active0", "v0")}
${visiting.visit_edges(1, "now.level", keep, "")}
</%def>

<%def name="keep_for_group(queued, entry, edges)">
{
    const lanemask_t keeping = lane_ballot(${queued});
    uint at = 0;
    if (lane_id() == 0 && keeping) at = atomic_add(&kept_count, lanemask_count(keeping));
    at = lane_broadcast(at, 0) + lanemask_count(keeping & lane_mask_lt());
    if (${queued}) claimed_entries[at] = ${entry};
    kept_degree = ${edges};
}
</%def>

<%def name="keep_in_lanes(queued, entry, edges)">
{
    const lanemask_t keeping = lane_ballot(${queued});
    if (${queued}) kept[lanemask_count(keeping & lane_mask_lt())] = ${entry};
    kept_count = lanemask_count(keeping);
    kept_degree = ${edges};
}
</%def>

<%def name="expand_kept()">
if (kept_count) {
    claimed_here += kept_count;
    ${copying.begin("lane_reduce_add(kept_degree)")}
    lane_converge();
    ${advance.tile_edges("kept", "0u", "kept_count", copy_next)}
    lane_converge();
}
</%def>

<%def name="copy_edges(count)">
${(copying.copy_group if config.balance.scope == "group" else copying.copy)(count, "candidates")}
</%def>

<%def name="copy_next(count)">
${(copying.copy_group if config.balance.scope == "group" else copying.copy)(count, "next_candidates")}
</%def>

## By one work-item: `next` from `now` and the counters of its slot.
<%def name="decide()">
    fence_device();
    uint reached = 0, deepest = 0;
    ulong explored = 0, work = 0;
    if (now.mode != FILL) {
        ${level.load_totals()}
    }
    // What a level claimed: counted beside the candidates where it kept no queue of vertices.
    const uint claimed = now.mode == CONTRACT ? queued : state[NEXT_HUBS + slot * SLOT_STRIDE];
    const uint out_edges = now.mode == CONTRACT
        ? (uint)*(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE) : queued;
    const int found = now.mode == CONTRACT || now.mode == CONTRACT_EXPAND;
    int over = load_relaxed(state + OVERFLOWED) || (found && claimed == 0);
    next.length = queued;
    if (now.mode == FILL) {
        candidates_even[0] = MAKE_CANDIDATE(source, source);
        next.length = 1;
    }
    if (found) {
        reached += claimed;
        explored += out_edges;
        over |= out_edges == 0 || now.level >= max_level;
    }
    next.hubs = 0;
    if (now.mode == CONTRACT) {
        next.mode = EXPAND;
    } else {
        next.level += now.mode != FILL;
        next.queue ^= now.mode == CONTRACT_EXPAND;
        next.mode = ${"CONTRACT" if config.frontier.name == "two_phase" else "CONTRACT_EXPAND" if config.frontier.name == "edge" else f"next.length > {config.frontier.limit}u ? CONTRACT : CONTRACT_EXPAND"};
    }
    if (over) next.mode = MODE_DONE;
    deepest = now.level - (found && claimed == 0);
    % if config.distribution == "static":
    const int per_group = (int)clz(next.members * (GROUP_LANES * 4u)) - (int)clz(next.length);
    next.tile = (uint)clamp(per_group, 0, ${config.lanes.bit_length() - 1});
    % endif
    work += (ulong)now.length + out_edges + ${config.stage_work}u;
    ${stage.finish("next")}
    stage_by_one_group = 0;
</%def>

## By the same work-item, while the next stage is already running.
<%def name="settle()">
    ${level.store_sums()}
    if (done) state[DEPTH] = deepest;
    if (found && claimed && now.level < level_capacity)
        levels[now.level] = (uint4)(claimed, out_edges, now.mode, device_clock_ns());
    if (done && deepest + 1 < level_capacity)
        levels[deepest + 1] = (uint4)(0u, 0u, MODE_DONE, device_clock_ns());
</%def>

<%def name="by_one_group()"></%def>
