## vertex_queue: a level expands the vertices of a queue and queues those it claims.
##
## Offers        setup, work, decide, settle and by_one_group: the bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot
##
## Stages: FILL the results, then PUSH the frontier's out-edges or PULL from unvisited vertices, as
## the last group of each stage decides. PULL needs no frontier bitmap: when level d is complete, any
## visited in-neighbour of an unvisited vertex lies in the frontier, else the vertex would have been
## visited through it before. So it reads the visited bitmap of the last level and writes the next;
## GATHER turns the difference of the two back into a queue, where PULL has not listed it (now.inverts).
## A push before a level that surely pulls is bare (now.inverts): it claims vertices, counts them and queues none,
## so that nobody reads their rows; their edges are estimated.
## MARK makes the bitmap from distances.
## ARRANGE gives the queue prefix sums before each PUSH, where the balancer needs them.

## A source stands alone in its level, so that it is spread over all groups from so many edges a lane on.
<%! SOURCE_EDGES = 4 %>

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="single" file="${context['single_group']}"/>
<%namespace name="group_frontier" file="/grid/group_frontier.mako"/>
<%namespace name="pushing" file="/bfs/vertex_push.mako"/>
<%namespace name="small" file="/bfs/small_frontiers.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="gather" file="/visited/gather.mako"/>
<%namespace name="arrange" file="/balance/shared/arrange.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
<%namespace name="bins" file="/balance/bins.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="fill" file="/bfs/fill.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="level" file="/bfs/level.mako"/>
<%namespace name="sharing" file="/bfs/copies/levels.mako"/>

<%def name="setup()">
${queue.setup()}
${pull.setup()}
${single.setup()}
% if config.group_resident:
${group_frontier.setup()}
% endif
${pushing.setup()}
% if copies:
${sharing.setup()}
% endif
</%def>

<%def name="work()">
    __global entry_t *const queue_from = now.queue ? queue_odd : queue_even;
    __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
    __global entry_t *const hubs_from = now.queue ? hubs_odd : hubs_even;
    __global entry_t *const hubs_to = now.queue ? hubs_even : hubs_odd;
    __global word_t *const the_visited = now.visited ? visited_odd : visited_even;
    __global word_t *const other_visited = now.visited ? visited_even : visited_odd;
    ${queue.begin_stage()}
    % if config.group_resident:
    const int holding = now.mode == PUSH && !(flags & FLAG_STEPPED) && now.length <= resident_limit${" && !now.inverts" if lists_pulled else ""};
    uint resident_levels = 0, resident_found = 0;   // levels beyond the first of this stage, and their vertices
    % endif
    ${pushing.stage()}
    % if "pull" in stages:
    if (now.mode == PULL) {
        % if copies:
        ${sharing.pulled_part()}
        % else:
        __global const word_t *const from_visited = the_visited;
        __global word_t *const to_visited = other_visited;
        % endif
        uint found_count = 0;
        <%pull:each_unvisited words="${'part_words' if copies else 'words'}" lists="${'now.inverts' if lists_pulled else None}" rounds="${sharing.rounds() if copies else None}">
        <%def name="accept(u)">((${"the_visited" if copies else "from_visited"}[${u} >> WORD_SHIFT] >> (${u} & WORD_MASK)) & 1)</%def>
        <%def name="stored(w)">${sharing.put(w) if copies else ""}</%def>
        <%def name="found(v, u)">
            ${visiting.reach(v + (" + first_vertex" if copies else ""), u)}
        </%def>
        <%def name="listed(active, v)">
            offset_t row = 0;
            uint degree = 0;
            if (${active}) {
                ${rows.load("row", "degree", v)}
            }
            ${queue.push(active, f"MAKE_ENTRY({v}, row, degree)", "queue_to")}
        </%def>
        </%pull:each_unvisited>
        % if lists_pulled:
        if (now.inverts) {
            ${queue.end_stage("queue_to", "1")}
        } else
        % endif
        ${queue.end_count("found_count")}
    }
    % endif
    % if "gather" in stages:
    if (now.mode == GATHER) {
        const int eager = 0;
        <%gather:each_added before="other_visited" after="the_visited" words="words">
            offset_t row0 = 0;
            uint degree0 = 0;
            const uint v0 = v;
            const int claimed0 = active;
            ${visiting.enqueue(1, False, visiting.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
        </%gather:each_added>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if copies:
    ${sharing.exchange()}
    % endif
    % if "arrange" in stages:
    if (now.mode == ARRANGE) {
        ${arrange.entries("queue_from", "now.length")}
    }
    % endif
    % if "mark" in stages:
    if (now.mode == MARK) {
        <%tiles:each_tile count="words" size="${config.pull_tile}">
            ${visited.mark("distances", "UNREACHED")}
        </%tiles:each_tile>
    }
    % endif
    ${fill.stage()}
</%def>

## The edges from which a source is queued as a hub: fewer than other hubs have, but where a preset gives
## hubs bins or tiles of their own, which are sized for hubs. Their queue has slack for it.
<%def name="spread_from()">\
<% own = config.hub_bins or config.hub_batch %>\
${(config.hub_degree if own else min(config.hub_degree, SOURCE_EDGES * config.lanes)) or 2**32}\
</%def>

## By one work-item: `next` from `now` and the counters of its slot. Everyone waits for it, so a stage
## that found little reads nothing here: how many edges lie ahead matters only where they could be
## enough for a pull, and the launch's budget is looked at now and then.
<%def name="decide()">
    const int weigh = ${"now.share || " if copies else ""}${"1 || " if config.balance.scope == "grid" or not config.exact else ""}now.mode != PUSH || (ulong)queued * max_degree > n / ${config.pull.floor if config.pull else level.module.LARGE}u ||
                      max_degree >= ${config.hub_degree or 2**32 - 1}u || (now.level & 255u) == 0${" || resident_levels" if config.group_resident else ""};
    uint found = queued, hubs = 0, reached = 0;
    ulong edges = (ulong)queued * mean_degree, explored = 0, work = 0;
    if (now.mode == FILL) {
        % if copies:
        state[EXCHANGES] = 0;
        % endif
        const offset_t row = ${rows.begin("source")};
        edges = (ulong)(${rows.past("source")} - row);
        hubs = edges >= ${spread_from()}ul;
        found = 1 - hubs;
        % if config.hub_bins:
        ${bins.begin_with("hubs_even", "hubs", "edges", "MAKE_ENTRY(source, row, (uint)edges)")}
        if (!hubs) queue_even[0] = MAKE_ENTRY(source, row, (uint)edges);
        % else:
        (hubs ? hubs_even : queue_even)[0] = MAKE_ENTRY(source, row, (uint)edges);
        % endif
    } else if (weigh) {
        fence_device();
        hubs = state[NEXT_HUBS + slot * SLOT_STRIDE];
        % if config.hub_bins:
        ${bins.conclude()}
        % endif
        edges = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        ${level.load_totals()}
        % if config.group_resident:
        if (resident_levels) {
            const ulong edges_before = *(volatile __global edges_t *)(state + RESIDENT_EDGES + slot * SLOT_STRIDE);
            reached += resident_found;
            explored += edges_before;
            work += edges_before + resident_levels * ${config.stage_work}ul;
        }
        % endif
    }
    % if config.group_resident:
    if (holding) {
        ${group_frontier.clear()}
    }
    % endif
    % if copies:
    if (now.share) {
        ${sharing.ended()}
    }
    const int counted = now.mode == TAKE || (now.mode <= PULL && !now.share);
    % else:
    const int counted = now.mode <= PULL;   // FILL, PUSH and PULL give distances
    % endif
    if (counted) {
        const int pulled = ${sharing.pulled() if copies else "now.mode == PULL"};
        explored += edges;
        reached += found + hubs;
        work += edges + (pulled ? n : 0u);
        if (now.mode != FILL) {
            next.queue ^= !pulled${" || now.inverts" if lists_pulled else ""};
            next.visited ^= pulled;
        }
        // The source alone is never worth reading a bitmap for.
        ${level.conclude("next", "pulled", "(weigh && now.mode != FILL)", "found", "hubs", "edges",
                         listed="now.inverts" if lists_pulled else None)}
    % if copies:
    } else if (now.share) {
    % endif
    } else if (now.mode == MARK) {
        next.mode = PULL;
    % if config.balance.scope == "grid":
    } else if (now.mode == ARRANGE) {
        ${arrange.conclude()}
        next.mode = ${"PUSH" if config.exact else "load_relaxed(state + OVERFLOWED) ? MODE_DONE : PUSH"};
        next.queue ^= 1;
        next.length = arranged;
    % endif
    } else {
        next.mode = ${level.expansion()};
        next.queue ^= 1;
        next.length = found;
        next.hubs = hubs;
    }
    work += (ulong)now.length + ${config.stage_work}u;
    ${stage.finish("next")}
    stage_by_one_group = (flags & FLAG_SINGLE_GROUP) && next.mode == ${level.expansion()} && !next.leave && next.hubs == 0${" && !next.share" if copies else ""} &&
                  next.length <= ${config.limits.single_group_capacity}u && edges <= ${config.limits.single_group_edges}u;
    ${level.cut("next")}
    % if config.hub_bins or config.balance.scope == "grid":
    fence_device();   // what the next stage reads of the words of bins, of chunks and of prefix sums
    % endif
</%def>

## By the same work-item, while the next stage is already running.
<%def name="settle()">
    if (!weigh) {
        reached += state[REACHED];
        explored += *(volatile __global ulong *)(state + EXPLORED) - edges +
                    *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        work += *(volatile __global ulong *)(state + WORK);
    }
    ${level.store_totals("next")}
    if (counted) {
        ${level.record("next")}
    }
</%def>

<%def name="by_one_group()">${small.by_one_group()}</%def>
