## level: what is decided and written down when the frontier at a distance is known.
##
## In scope      the kernel's arguments and the totals: reached, explored, work
## Called by     one work-item, but for `conclude` and `finish`, which single-group mode calls by all

## Where no level pulls, a frontier is large from one vertex in so many on. A search that pulls goes on with it,
## on SIMD groups, where no more edges are unexplored than one in FEW_LEFT vertices and the frontier has
## shrunk to one in SHRUNK of what it was: nearly all that a level costs then is its barrier and a look
## at the bitmap, and gathering the few found ones into a queue would take the same before any is pushed.
## Where even fewer are left, one in VERY_FEW, a level that pulls lists what it finds as well: the last levels are
## pushed then by one group, and nothing is gathered.
<%! LARGE, FEW_LEFT, SHRUNK, VERY_FEW = 16, 16, 8, 256 %>

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="chunks" file="/balance/shared/chunks.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>

## What follows once the frontier at distance s.level is known: `found` vertices in its queue (or in
## the bitmap, if `pulled`; in both, if also `listed`, where that is an expression), `hubs` beside it, `edges` out of
## them all; `may_pull` is false where the edges are only estimated, which they are where they are too few for a pull.
## Uses explored and reached.
<%def name="conclude(s, pulled, may_pull, found, hubs, edges, listed=None)">
<% only_in_bitmap = f"{pulled} && !{listed}" if listed else pulled %>\
{
    const uint size = ${found} + ${hubs};
    % if config.pull:
    const ulong unexplored = m - min(m, explored);
    % if config.pull.gain:
    // An unexplored edge comes from the frontier with the probability edges / unexplored, so an
    // unvisited vertex tries unexplored / edges in-neighbours; all of these are weighed against edges.
    const uint unvisited = ${"reachable - min(reachable, reached)" if config.pull.looks else "n - min(n, reached)"};
    const float from_frontier = (float)(${edges});
    % if config.pull.looks:
    const float at_least = (float)unvisited * ${1 / config.pull.looks}f + (float)n * ${1 / config.pull.floor}f;
    const int is_worth_it = from_frontier > at_least && from_frontier * (from_frontier - at_least) * ${config.pull.gain}.0f > (float)unexplored * (float)unvisited;
    % else:
    const int is_worth_it = from_frontier * from_frontier * ${config.pull.gain}.0f > (float)unexplored * (float)unvisited;
    % endif
    % else:
    const int is_worth_it = 1;
    % endif
    <% goes_on = config.pull.gain and not lanes.module.one_lane(context) %>\
    % if goes_on:
    // The length is still that of the frontier before.
    const int goes_on = ${only_in_bitmap} && unexplored <= n / ${FEW_LEFT}u && size <= ${s}.length / ${SHRUNK}u;
    % endif
    const int pull_pays = ${"goes_on || (" if goes_on else ""}${may_pull} && is_worth_it${"" if config.pull.looks else " && " + capture(pull.reads_fewer, f"(ulong)({edges})", "unexplored")}${")" if goes_on else ""};
    % if lists_pulled:
    ${s}.lists = pull_pays && unexplored <= n / ${VERY_FEW}u;
    % endif
    % endif
    ${s}.mode = size == 0 || ${s}.level >= max_level${"" if config.exact else " || load_relaxed(state + OVERFLOWED)"} ? MODE_DONE
    % if config.pull:
              : pull_pays ? (${pulled} ? PULL : ${"MARK" if config.frontier.visited == "labels" else "PULL"})
              : ${only_in_bitmap} ? GATHER
    % endif
              : ${expansion()};
    ${s}.length = ${found};
    ${s}.hubs = ${hubs};
    % if config.distribution == "static":
    // Entries per SIMD group: enough for one round of lanes, or more where there is work for all.
    const int per_entry = (int)clz(size) - (int)clz((uint)min((ulong)(${edges}), 0xfffffffful));
    const int per_group = (int)clz(${s}.members * (GROUP_LANES * 4u)) - (int)clz(${s}.length);
    const uint tile = (uint)clamp(max(${config.lanes.bit_length() - 1} - max(per_entry, 0), per_group), 0, ${config.lanes.bit_length() - 1});
    ${s}.tile = tile;
    % endif
    ${s}.level += 1;
}
</%def>

## Once `s` is final: how the balancer of the whole grid cuts up the `edges` of what comes next.
<%def name="cut(s)">
% if config.balance.scope == "grid":
if (${s}.mode == ARRANGE) state[LEVEL_CHUNK] = ${chunks.decided("edges", f"((ulong){s}.members * GROUP_SIZE)")};
% endif
</%def>

## The first stage of a push level.
<%def name="expansion()">${"ARRANGE" if config.balance.scope == "grid" else "PUSH"}</%def>

<%def name="record(s)">
if (${s}.level - 1 < level_capacity)
    levels[${s}.level - 1] = (uint4)(${s}.length + ${s}.hubs, ${"0u" if config.exact else "(uint)edges"}, ${s}.mode, device_clock_ns());
</%def>

## A launch ends at a stage boundary: because the search is done, because its budget is spent or
## because groups are wanted that were dismissed.
<%def name="finish(s)">
    const int done = ${s}.mode == MODE_DONE, pause = !done && (work > budget || dismissed);
    ${s}.leave = done || pause;
</%def>

<%def name="store_sums()">
    state[REACHED] = reached;
    *(volatile __global ulong *)(state + EXPLORED) = explored;
    *(volatile __global ulong *)(state + WORK) = pause ? 0 : work;
    state[STATUS] = done ? STATUS_DONE : pause ? STATUS_PAUSED : STATUS_RUNNING;
</%def>

<%def name="store_totals(s)">
    ${store_sums()}
    if (done) state[DEPTH] = ${s}.length + ${s}.hubs ? ${s}.level - 1 : ${s}.level - 2;
</%def>

<%def name="load_totals()">
    reached = state[REACHED];
    explored = *(volatile __global ulong *)(state + EXPLORED);
    work = *(volatile __global ulong *)(state + WORK);
</%def>
