<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="solo" file="${'/grid/solo_sequential.mako' if context['config'].group_size == 1 else '/grid/solo.mako'}"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="gather" file="/visited/gather.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
// Breadth-first search: hop distances and optionally one shortest-path tree from a source.
//
// Stages: FILL the results, then PUSH the frontier's out-edges or PULL from unvisited vertices, as
// the last group of each stage decides. PULL needs no frontier bitmap: when level d is complete, any
// visited in-neighbour of an unvisited vertex lies in the frontier, else the vertex would have been
// visited through it before. So it reads the visited bitmap of the last level and writes the next;
// GATHER turns the difference of the two back into a queue. MARK makes the bitmap from distances.
//
// Races: several frontier vertices may reach v together; the claim lets exactly one win, and
// whichever wins is a valid predecessor. Distances of one stage are all the same number.

${lanes.vocabulary()}
${memory.vocabulary()}
${clock.vocabulary()}
${group.declarations()}
${queue.declarations()}
${visited.declarations()}
${stage.declarations()}

#define UNREACHED (${UNREACHED})
#define FILL 1u
#define PUSH 2u
#define PULL 3u
#define GATHER 4u
#define MARK 5u

## Visit `count` edges per lane, phase by phase so that the accesses of one phase overlap.
<%def name="visit_edges(count, level, keep, hub_slot)">
    % for k in range(count):
    offset_t row${k} = 0;
    uint degree${k} = 0;
    ${visited.look(f"may_claim{k}", f"v{k}", f"active{k}", "distances", "UNREACHED")}
    % endfor
    % if config.entry != "vertex":
    % for k in range(count):
    if (eager && may_claim${k}) {
        row${k} = indptr[v${k}];
        degree${k} = (uint)(indptr[v${k} + 1] - row${k});
    }
    % endfor
    % endif
    % for k in range(count):
    ${visited.claim(f"claimed{k}", f"v{k}", f"may_claim{k}", "distances", "UNREACHED", f"(int)({level})")}
    % endfor
    ${enqueue(count, True, keep, hub_slot)}
</%def>

<%def name="enqueue(count, has_parent, keep, hub_slot)">
    % for k in range(count):
    % if config.entry != "vertex" or config.pull:
    if (claimed${k}) {
        % if config.entry != "vertex":
        if (eager) prefetch_global(indices + row${k});
        else
        % endif
        {
            row${k} = indptr[v${k}];
            degree${k} = (uint)(indptr[v${k} + 1] - row${k});
        }
    }
    % endif
    % if problem.predecessors and has_parent:
    if (claimed${k}) predecessors[v${k}] = (int)u${k};
    % endif
    % endfor
    % for k in range(count):
    int queued${k} = claimed${k};
    % if config.hub_degree:
    if (claimed${k} && degree${k} >= ${config.hub_degree}u) {
        queued${k} = 0;
        hubs_to[atomic_inc(${hub_slot})] = MAKE_ENTRY(v${k}, row${k}, degree${k});
    }
    % endif
    ${keep(f"queued{k}", f"MAKE_ENTRY(v{k}, row{k}, degree{k})", f"claimed{k} ? degree{k} : 0u")}
    % endfor
</%def>

<%def name="keep_in_queue(queued, entry, edges)">
    found_edges += ${edges};
    ${queue.push(queued, entry, "queue_to")}
</%def>

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void bfs(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    __global const uint *restrict in_indices,       // [m]
    __global const word_t *restrict unreachable,    // [words] no in-edges, and what lies beyond n
    const uint n,
    const ulong m,
    const uint max_degree,
    const uint mean_degree,
    const uint source,
    const uint max_level,
    __global int *distances,                        // [n] out
    __global int *predecessors,                     // [n] out, or one element
    __global word_t *visited_even,                  // [words]
    __global word_t *visited_odd,                   // [words]
    __global entry_t *queue_even,                   // [n + slack]
    __global entry_t *queue_odd,                    // [n + slack]
    __global entry_t *hubs_even,                    // [number of hubs + lanes]
    __global entry_t *hubs_odd,
    __global uint4 *levels,                         // [level_capacity] out: size, edges, mode, time
    const uint level_capacity,
    volatile __global uint *state,                  // see stage.mako
    const uint launch,                              // 0 for a new search, else the how-manieth resumption
    const uint flags,
    const uint patience,
    const uint spin_limit,
    const ulong budget)                             // edges and vertices before a launch must pause
{
    ${lanes.setup()}
    ${stage.setup()}
    ${queue.setup()}
    ${pull.setup()}
    ${solo.setup()}
    const uint words = (n + WORD_MASK) >> WORD_SHIFT;
    const uint my_modes = ${' | '.join(f'1u << {name.upper()}' for name in stages)};
    const stage_t first_stage = {0, 0, FILL, 0, 0, 0, 0, 0, 0, 0, 0};
    <%stage:run initial="first_stage">
    <%def name="work()">
        ${run_stage()}
    </%def>
    <%def name="decide()">
        ${next_stage()}
    </%def>
    <%def name="settle()">
        ${settle_stage()}
    </%def>
    <%def name="alone()">
        ${run_solo()}
    </%def>
    </%stage:run>
}

<%def name="run_stage()">
    __global entry_t *const queue_from = now.queue ? queue_odd : queue_even;
    __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
    __global entry_t *const hubs_from = now.queue ? hubs_odd : hubs_even;
    __global entry_t *const hubs_to = now.queue ? hubs_even : hubs_odd;
    __global word_t *const the_visited = now.visited ? visited_odd : visited_even;
    __global word_t *const other_visited = now.visited ? visited_even : visited_odd;
    ${queue.begin_stage()}
    % if "push" in stages:
    if (now.mode == PUSH) {
        const int eager = now.length <= ${config.eager_limit}u;
        const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
        <%advance:each_edge queue="queue_from" count="now.length">
        <%def name="visit(count)">
            ${visit_edges(count, "now.level", keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
        </%def>
        </%advance:each_edge>
        % if config.hub_degree:
        if (now.hubs) {
            <%advance:each_hub_edge hubs="hubs_from" count="now.hubs">
            <%def name="visit(count)">
                ${visit_edges(count, "now.level", keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
            </%def>
            </%advance:each_hub_edge>
        }
        % endif
        ${queue.end_stage("queue_to", f"now.length <= {config.direct_limit}u")}
    }
    % endif
    % if "pull" in stages:
    if (now.mode == PULL) {
        __global const word_t *const from_visited = the_visited;
        __global word_t *const to_visited = other_visited;
        uint found_count = 0;
        <%pull:each_unvisited words="words">
        <%def name="accept(u)">((from_visited[${u} >> WORD_SHIFT] >> (${u} & WORD_MASK)) & 1)</%def>
        <%def name="found(v, u)">
            distances[${v}] = (int)now.level;
            % if problem.predecessors:
            predecessors[${v}] = (int)${u};
            % endif
        </%def>
        </%pull:each_unvisited>
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
            ${enqueue(1, False, keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
        </%gather:each_added>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "mark" in stages:
    if (now.mode == MARK) {
        <%tiles:each_tile count="words" size="${config.pull_tile}">
            ${visited.mark("distances", "UNREACHED")}
        </%tiles:each_tile>
    }
    % endif
    % if "fill" in stages:
    if (now.mode == FILL) {
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
                distances[v] = v == source ? 0 : UNREACHED;
                % if problem.predecessors:
                predecessors[v] = v == source ? (int)source : UNREACHED;
                % endif
            }
            % if config.visited == "bitmap":
            for (uint w = (tile_begin >> WORD_SHIFT) + lane_id(); w << WORD_SHIFT < tile_end; w += LANES)
                visited_even[w] = w == source >> WORD_SHIFT ? WORD_BIT(source) : 0;
            % endif
        </%tiles:each_tile>
    }
    % endif
</%def>

## What follows once the frontier at distance s.level is known: `found` vertices in its queue (or in
## the bitmap, if `pulled`), `hubs` beside it, `edges` out of them all; `may_pull` is false where the
## edges are only estimated, which they are where they are too few for a pull. Uses explored.
<%def name="conclude(s, pulled, may_pull, found, hubs, edges)">
{
    const uint size = ${found} + ${hubs};
    % if config.pull:
    const ulong unexplored = m - min(m, explored);
    const int pull_pays = ${may_pull} && (ulong)(${edges}) > unexplored / ${config.alpha}u + n / ${config.pull_floor}u;
    % endif
    ${s}.mode = size == 0 || ${s}.level >= max_level ? MODE_DONE
    % if config.pull:
              : pull_pays ? (${pulled} ? PULL : ${"MARK" if config.visited == "labels" else "PULL"})
              : ${pulled} ? GATHER
    % endif
              : PUSH;
    ${s}.length = ${found};
    ${s}.hubs = ${hubs};
    % if config.distribution == "static":
    // Entries per lane group: enough for one round of lanes, or more where there is work for all.
    const int per_entry = (int)clz(size) - (int)clz((uint)min((ulong)(${edges}), 0xfffffffful));
    const int crowding = (int)clz(${s}.members * (GROUP_LANES * 4u)) - (int)clz(${s}.length);
    const uint tile = (uint)clamp(max(${config.lanes.bit_length() - 1} - max(per_entry, 0), crowding), 0, ${config.lanes.bit_length() - 1});
    ${s}.tile = tile;
    % endif
    ${s}.level += 1;
}
</%def>

<%def name="record(s)">
if (${s}.level - 1 < level_capacity)
    levels[${s}.level - 1] = (uint4)(${s}.length + ${s}.hubs, 0u, ${s}.mode, device_clock_ns());
</%def>

## A launch ends at a stage boundary: because the search is done, because its budget is spent or
## because groups are wanted that were dismissed.
<%def name="finish(s)">
    const int done = ${s}.mode == MODE_DONE, pause = !done && (work > budget || dismissed);
    ${s}.leave = done || pause;
</%def>

<%def name="store_totals(s)">
    state[REACHED] = reached;
    *(volatile __global ulong *)(state + EXPLORED) = explored;
    *(volatile __global ulong *)(state + WORK) = pause ? 0 : work;
    state[STATUS] = done ? STATUS_DONE : pause ? STATUS_PAUSED : STATUS_RUNNING;
    if (done) state[DEPTH] = ${s}.length + ${s}.hubs ? ${s}.level - 1 : ${s}.level - 2;
</%def>

## By one work-item: `next` from `now` and the counters of its slot. Everyone waits for it, so a stage
## that found little reads nothing here: how many edges lie ahead matters only where they could be
## enough for a pull, and the launch's budget is looked at now and then.
<%def name="next_stage()">
    const int weigh = now.mode != PUSH || (ulong)queued * max_degree > n / ${config.pull_floor}u ||
                      max_degree >= ${config.hub_degree or 2**32 - 1}u || (now.level & 255u) == 0;
    uint found = queued, hubs = 0, reached = 0;
    ulong edges = (ulong)queued * mean_degree, explored = 0, work = 0;
    if (now.mode == FILL) {
        const offset_t row = indptr[source];
        edges = (ulong)(indptr[source + 1] - row);
        hubs = edges >= ${config.hub_degree or 2**32}ul;
        found = 1 - hubs;
        (hubs ? hubs_even : queue_even)[0] = MAKE_ENTRY(source, row, (uint)edges);
    } else if (weigh) {
        fence_device();
        hubs = state[NEXT_HUBS + slot * SLOT_STRIDE];
        edges = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        ${load_totals()}
    }
    const int counted = now.mode <= PULL;   // FILL, PUSH and PULL give distances
    if (counted) {
        const int pulled = now.mode == PULL;
        explored += edges;
        reached += found + hubs;
        work += edges + (pulled ? n : 0u);
        if (now.mode != FILL) {
            next.queue ^= !pulled;
            next.visited ^= pulled;
        }
        // The source alone is never worth reading a bitmap for.
        ${conclude("next", "pulled", "(weigh && now.mode != FILL)", "found", "hubs", "edges")}
    } else if (now.mode == MARK) {
        next.mode = PULL;
    } else {
        next.mode = PUSH;
        next.queue ^= 1;
        next.length = found;
        next.hubs = hubs;
    }
    work += (ulong)now.length + ${config.stage_work}u;
    ${finish("next")}
    stage_alone = (flags & FLAG_SOLO) && next.mode == PUSH && !next.leave && next.hubs == 0 &&
                  next.length <= ${config.solo_capacity}u && edges <= ${config.solo_edges}u;
</%def>

<%def name="load_totals()">
    reached = state[REACHED];
    explored = *(volatile __global ulong *)(state + EXPLORED);
    work = *(volatile __global ulong *)(state + WORK);
</%def>

## By the same work-item, while the next stage is already running.
<%def name="settle_stage()">
    if (!weigh) {
        reached += state[REACHED];
        explored += *(volatile __global ulong *)(state + EXPLORED) - edges +
                    *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        work += *(volatile __global ulong *)(state + WORK);
    }
    ${store_totals("next")}
    if (counted) {
        ${record("next")}
    }
</%def>

## By all work-items of the group that decided, when it may go on alone.
<%def name="run_solo()">
% if config.solo:
{
    __global word_t *const the_visited = now.visited ? visited_odd : visited_even;
    uint reached;
    ulong explored, work;
    ${load_totals()}
    <%solo:levels>
    <%def name="visit(count)">
        ${visit_edges(count, "now.level", solo.keep, "&solo_hubs[next]")}
    </%def>
    <%def name="visit_alone()">
        claimed = distances[v] == UNREACHED;
        distances[v] = claimed ? (int)now.level : distances[v];
        % if config.visited == "bitmap":
        the_visited[v >> WORD_SHIFT] |= WORD_BIT(v);
        % endif
        % if problem.predecessors:
        predecessors[v] = claimed ? (int)u : predecessors[v];
        % endif
    </%def>
    <%def name="prefetch_label(v)">
        prefetch_global(distances + ${v});
        % if problem.predecessors:
        prefetch_global(predecessors + ${v});
        % endif
    </%def>
    <%def name="edges_of(v)">(indptr[${v} + 1] - indptr[${v}])</%def>
    <%def name="solo_level()">
        reached += now.length + solo_hubs_found;
        explored += edges;
        work += (ulong)edges + ${config.stage_work}u;
        ${conclude("now", "0", "1", "now.length", "solo_hubs_found", "edges")}
        if (lid == 0) {
            ${record("now")}
        }
        going = now.mode == PUSH && now.hubs == 0 && now.length <= ${config.solo_capacity}u &&
                edges <= ${config.solo_edges}u && work <= budget;
    </%def>
    </%solo:levels>
    ${finish("now")}
    if (lid == 0) {
        ${store_totals("now")}
    }
}
% endif
</%def>
