## stages: the stages of a search for components in steps, see steps.cl.
##
## stage()       the body `work` of /grid/stage.mako
## In scope      the kernel's arguments, now, slot; rendered: the stages that are
## Counts        vertices taken out or changed, or entries of the queue, in NEXT

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="closures" file="/scc/closures.mako"/>

<%def name="each_vertex()">
<%tiles:each_tile count="n" size="${config.fill_tile}">
    for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
        const uint word = packed[v];
        if (word & ELIMINATED) continue;
        ${caller.body()}
    }
</%tiles:each_tile>
</%def>

<%def name="stage()">
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
        ${advance.each_edge("queue_from", "now.length", follow)}
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

<%def name="follow(count)">
% for k in range(count):
const int reached${k} = active${k} && may_reach(packed, component, packed[u${k}], u${k}, v${k}, bit, coloring) &&
                        !(atomic_or(&packed[v${k}], bit) & bit);
${queue.push(f"reached{k}", f"v{k}", "queue_to")}
% endfor
</%def>
