<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="record" file="/scc/record.mako"/>
<%namespace name="closures" file="/scc/closures.mako"/>
// Strongly connected components in steps: trimming, forward-backward closures, colouring.
//
// Stages: TRIM vertices without live in- or out-neighbours; PIVOT chooses one vertex of every range, of
// greatest degree product; COLOR propagates the greatest vertex number forward; SEED marks the pivots
// or the roots of colours; a closure follows, by SCAN over all vertices or by FOLLOW from a queue;
// UPDATE takes out what both closures reached, or a root's closure in its colour, and gives the rest
// new ranges. Edges are followed within one range, so all closures of a round run together.
//
// Packed words: `packed` holds eliminated, forward, backward and expanded bits above the range;
// `component` the colour while a vertex is live, COMPONENT_KNOWN and the representative afterwards.
// Ranges: first 2n; of pivot p, what only the forward closure reached gets 2p and what only the
// backward one did 2p + 1, the rest keeps its own; of colour c, the rest gets c. A pivot or root
// leaves with its component and never names a range again, so numbers stay unique at any depth.
//
// Races: bits are set by atomic_or, and whoever set one first queues the vertex. TRIM and COLOR read
// words that others write in the same stage: a vertex that is seen eliminated only makes trimming
// faster, a colour that is seen old is passed on in the next round, which the change brings about.

${lanes.vocabulary()}
${memory.vocabulary()}
${clock.vocabulary()}
${group.declarations()}
${queue.declarations()}
${stage.declarations()}

% for number, name in enumerate(stages, 1):
#define ${name} ${number}u
% endfor
#define COMPONENT_KNOWN ${COMPONENT_KNOWN}u
#define ELIMINATED 0x80000000u
#define REACHED_FORWARD 0x40000000u
#define REACHED_BACKWARD 0x20000000u
#define EXPANDED 0x10000000u
#define RANGE 0x0fffffffu   // of an eliminated vertex: 1 + the iteration that trimmed it
#define NO_COMPONENT 0xffffffffu
// The stage word's `hubs`: phase 2 | backward 1 | iteration 21; its `level`: how many vertices live.
#define PHASE_TRIM 0u
#define PHASE_PAIR 1u
#define PHASE_COLOR 2u

${closures.functions()}
__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void scc_begin(
    const uint n,
    __global const uint *ranges,                    // [n], or one element
    const uint split,                               // whether `ranges` are given
    __global uint *packed,                          // [n] out
    __global uint *component,                       // [n] out
    __global ulong *pivots)                         // [2 n + 1] out
{
    <%share:each_item count="n">
        packed[item] = split ? ranges[item] : 2u * n;
        component[item] = item;
        pivots[item] = pivots[n + item] = 0;
        if (item == 0) pivots[2u * n] = 0;
    </%share:each_item>
}

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void scc_steps(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    ${record.begin()}
    ${stage.setup()}
    ${queue.setup()}
    ${advance.setup()}
    const uint my_modes = ${' | '.join(f'1u << {name}' for name in rendered)};
    stage_t first_stage = stage_first(trim_limit ? TRIM : pair_limit ? PIVOT : COLOR);
    first_stage.phase = trim_limit ? PHASE_TRIM : pair_limit ? PHASE_PAIR : PHASE_COLOR;
    first_stage.iteration = trim_limit ? 0u : pair_first;
    first_stage.live = n;
    <%stage:run initial="first_stage">
    <%def name="work()">
        ${run_stage()}
    </%def>
    <%def name="decide()">
        ${next_stage()}
    </%def>
    <%def name="settle()">
        ${record.settle("now.mode == FOLLOW ? now.length : now.live", "now.mode | now.phase << 8", "next.live")}
    </%def>
    <%def name="by_one_group()">
    </%def>
    </%stage:run>
}

<%def name="each_vertex()">
<%tiles:each_tile count="n" size="${config.fill_tile}">
    for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
        const uint word = packed[v];
        if (word & ELIMINATED) continue;
        ${caller.body()}
    }
</%tiles:each_tile>
</%def>

<%def name="run_stage()">
    __global entry_t *const queue_from = now.queue ? queue_odd : queue_even;
    __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
    const uint coloring = now.phase == PHASE_COLOR;
    const uint bit = now.backward ? REACHED_BACKWARD : REACHED_FORWARD;
    __global const offset_t *const indptr = now.backward ? in_indptr : out_indptr;
    __global const uint *const indices = now.backward ? in_indices : out_indices;
    uint found_count = 0;
    ${queue.begin_stage()}
    % if "TRIM" in rendered:
    if (now.mode == TRIM) {
        const uint fresh = trim_size > 1u ? ELIMINATED | (now.iteration + 1u) : 0u;
        <%self:each_vertex>
            uint known = closed_component(in_indptr, in_indices, packed, v, trim_size, fresh);
            if (known == NO_COMPONENT) known = closed_component(out_indptr, out_indices, packed, v, trim_size, fresh);
            if (known != NO_COMPONENT) {
                component[v] = COMPONENT_KNOWN | known;
                packed[v] = ELIMINATED | (now.iteration + 1u);
                ++found_count;
            }
        </%self:each_vertex>
    }
    % endif
    % if "PIVOT" in rendered:
    if (now.mode == PIVOT) {
        // While all are in one range a lane keeps its best, so that one word sees few atomics.
        ulong best = 0;
        const int single = now.iteration == 0;
        <%self:each_vertex>
            const ulong product = (ulong)(out_indptr[v + 1] - out_indptr[v]) * (ulong)(in_indptr[v + 1] - in_indptr[v]);
            const ulong key = (product < 0xfffffffful ? product : 0xfffffffful) << 32 | (v + 1u);
            if (single) best = key > best ? key : best;
            else offer_pivot(pivots + (word & RANGE), packed, key);
        </%self:each_vertex>
        const ulong best_here = ~lane_reduce_min_ulong(~best);
        if (lane_id() == 0 && best_here) offer_pivot(pivots + 2u * n, packed, best_here);
    }
    % endif
    % if "COLOR" in rendered:
    if (now.mode == COLOR) {
        <%self:each_vertex>
            uint mine = component[v];
            // The vertex whose colour this is may have got a greater one, which then is mine too.
            const uint further = component[mine];
            mine = further > mine ? further : mine;
            for (offset_t e = out_indptr[v]; e < out_indptr[v + 1]; ++e) {
                const uint u = out_indices[e];
                if (packed[u] == word && component[u] < mine) {
                    atomic_max(&component[u], mine);
                    ++found_count;
                }
            }
        </%self:each_vertex>
    }
    % endif
    % if "SEED" in rendered:
    if (now.mode == SEED) {
        <%tiles:each_tile count="n" size="${config.lanes * 16}">
            for (uint first = tile_begin; first < tile_end; first += LANES) {
                const uint v = min(first + lane_id(), tile_end - 1u);
                const uint word = packed[v];
                const int live = first + lane_id() < tile_end && !(word & ELIMINATED);
                const int seed = live && (coloring ? component[v] == v : (uint)pivots[word & RANGE] == v + 1u);
                if (live && (seed || (word & EXPANDED))) packed[v] = (word & ~EXPANDED) | (seed ? bit : 0u);
                ${queue.push("seed", "v", "queue_to")}
            }
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "SCAN" in rendered:
    if (now.mode == SCAN) {
        ${closures.scan()}
    }
    % endif
    % if "FOLLOW" in rendered:
    if (now.mode == FOLLOW) {
        const uint tile_size = ${config.push_tile}u;
        <%advance:each_edge queue="queue_from" count="now.length">
        <%def name="visit(count)">
            % for k in range(count):
            const int reached${k} = active${k} && may_reach(packed, component, packed[u${k}], u${k}, v${k}, bit, coloring) &&
                                    !(atomic_or(&packed[v${k}], bit) & bit);
            ${queue.push(f"reached{k}", f"v{k}", "queue_to")}
            % endfor
        </%def>
        </%advance:each_edge>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "UPDATE" in rendered:
    if (now.mode == UPDATE) {
        <%self:each_vertex>
            const uint pivot = coloring ? component[v] : (uint)pivots[word & RANGE] - 1u;
            const uint ahead = coloring ? REACHED_FORWARD : word & REACHED_FORWARD, behind = word & REACHED_BACKWARD;
            if (ahead && behind) {
                component[v] = COMPONENT_KNOWN | pivot;
                packed[v] = ELIMINATED;
                ++found_count;
            } else {
                const uint range = coloring ? pivot : ahead ? 2u * pivot : behind ? 2u * pivot + 1u : word & RANGE;
                packed[v] = range;
                component[v] = v;
            }
        </%self:each_vertex>
    }
    % endif
    if (now.mode != SEED && now.mode != FOLLOW) {
        ${queue.end_count("found_count")}
    }
</%def>

## By one work-item: what follows a stage that found `queued`.
<%def name="next_stage()">
    fence_device();
    const ulong cost = ${round_work}u + (now.mode == FOLLOW ? (ulong)now.length : now.mode == TRIM || now.mode == COLOR || now.mode == SCAN ? n + m : n);
    ${record.account("cost", "!now.begun")}
    next.begun = 1;
    const uint phase = now.phase, backward = now.backward, iteration = now.iteration;
    const int by_queue = queued_closures >> (phase == PHASE_COLOR) & 1u;
    int enter = 0;   // a step is over: 1 the next is forward-backward, 2 colouring
    next.length = 0;
    if (now.mode == TRIM) {
        next.live -= queued;
        next.iteration = iteration + 1u;
        if (queued == 0 || (ulong)queued * trim_worth < now.live || iteration + 1u >= trim_limit) enter = pair_limit ? 1 : 2;
    } else if (now.mode == PIVOT) {
        next.mode = SEED;
    } else if (now.mode == COLOR) {
        next.backward = queued == 0;
        next.mode = queued ? COLOR : SEED;
    } else if (now.mode == UPDATE) {
        next.live -= queued;
        enter = phase == PHASE_COLOR || iteration + 1u >= pair_limit ? 2 : 1;
    } else if (now.mode == SEED || queued) {
        next.mode = by_queue ? FOLLOW : SCAN;
        next.length = by_queue ? queued : 0u;
        next.queue ^= 1;
    } else if (!backward) {
        next.mode = SEED;
        next.backward = 1;
    } else {
        next.mode = UPDATE;
    }
    if (enter == 1) {
        next.mode = PIVOT;
        ${enter_phase("PHASE_PAIR")}
    } else if (enter == 2) {
        next.mode = color ? COLOR : MODE_DONE;
        ${enter_phase("PHASE_COLOR")}
    }
    // What is left is left to another search where scans do not pay.
    if (next.live == 0 || spent > work_limit) next.mode = MODE_DONE;
    const int done = next.mode == MODE_DONE, pause = !done && work > budget;
    next.leave = done || pause;
    stage_by_one_group = 0;
</%def>

<%def name="enter_phase(name)">
next.phase = ${name};
next.backward = 0;
next.iteration = phase == ${name} ? iteration + 1u : 0u;
</%def>
