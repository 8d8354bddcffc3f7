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
## A push is bare, so that what it finds is not queued, where edges times the mean degree exceed n times SURELY and one
## vertex in so many is unvisited.
<%! LARGE, FEW_LEFT, SHRUNK, VERY_FEW, SURELY = 16, 16, 8, 256, 4 %>

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="chunks" file="/balance/shared/chunks.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
<%namespace name="sharing" file="/bfs/copies/levels.mako"/>

## What follows once the frontier at distance s.level is known: `found` vertices in its queue (or in
## the bitmap, if `pulled`; in both, if also `listed`, where that is an expression), `hubs` beside it, `edges` out of
## them all; `may_pull` is false where the edges are only estimated, which they are where they are too few for a pull.
## Uses explored and reached.
<%def name="conclude(s, pulled, may_pull, found, hubs, edges, listed=None)">
<% only_in_bitmap = f"{pulled} && !{listed}" if listed else pulled %>\
{
    const uint size = ${found} + ${hubs};
    % if config.pull:
    % if config.pull.gain or lists_pulled:
    const uint unvisited = ${"reachable - min(reachable, reached)" if config.pull.looks else "n - min(n, reached)"};
    % endif
    % if lists_pulled:
    // Edges of whoever a bare push found are only estimated; those of whoever is left are no more than the mean.
    const ulong unexplored = min(m - min(m, explored), (ulong)unvisited * mean_degree);
    % else:
    const ulong unexplored = m - min(m, explored);
    % endif
    % if config.pull.gain:
    // An unexplored edge comes from the frontier with the probability edges / unexplored, so an
    // unvisited vertex tries unexplored / edges in-neighbours; all of these are weighed against edges.
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
    <% goes_on = config.pull.gain and str(pulled) != "0" and not lanes.module.one_lane(context) %>\
    % if goes_on:
    // The length is still that of the frontier before.
    const int goes_on = ${only_in_bitmap} && unexplored <= n / ${FEW_LEFT}u && size <= ${s}.length / ${SHRUNK}u;
    % endif
    % if lists_pulled:
    const int was_bare = !(${pulled}) && ${s}.inverts;
    % endif
    const int pull_pays = ${"was_bare || " if lists_pulled else ""}${"goes_on || (" if goes_on else ""}${may_pull} && is_worth_it${"" if config.pull.looks else " && " + capture(pull.reads_fewer, f"(ulong)({edges})", "unexplored")}${")" if goes_on else ""};
    % if lists_pulled:
    ${s}.inverts = pull_pays ? unexplored <= n / ${VERY_FEW}u : ${may_pull} && ${will_pull(edges)};
    % endif
    % endif
    % if config.pull and config.pull.looks:
    // A source without in-edges is not among the reachable ones.
    const int has_all = reached >= reachable && reached >= reachable + (uint)(unreachable[source >> WORD_SHIFT] >> (source & WORD_MASK) & 1);
    % endif
    ${s}.mode = size == 0 || ${s}.level >= max_level${" || has_all" if config.pull and config.pull.looks else ""}${"" if config.exact else " || load_relaxed(state + OVERFLOWED)"} ? MODE_DONE
    % if config.pull:
              : pull_pays ? (${pulled} ? PULL : ${"MARK" if config.frontier.visited == "labels" else "PULL"})
              : ${only_in_bitmap} ? GATHER
    % endif
              : ${expansion()};
    % if copies:
    ${sharing.share(s, edges)}
    % endif
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

## Whether the level after one that pushes so many edges surely pulls: it has some edges * unvisited / n vertices, each
## with the mean of edges at least, and several times as many as look back.
<%def name="will_pull(edges)">((ulong)(${edges}) * mean_degree > (ulong)n * ${SURELY}u && unvisited > n / ${SURELY}u)</%def>

<%def name="record(s)">
if (${s}.level - 1 < level_capacity)
    levels[${s}.level - 1] = (uint4)(${s}.length + ${s}.hubs, ${"0u" if config.exact else "(uint)edges"}, ${s}.mode${f" | {s}.share << 8" if copies else ""}, device_clock_ns());
</%def>

<%def name="store_sums()">
    state[REACHED] = reached;
    ${stage.store_totals()}
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
