## heavy: the heavy edges of a band, once nothing is left in it to relax light ones of.
##
## PUSH          the settled vertices of the band give their heavy edges' heads a distance, hubs by the
##               whole grid
## PULLS         whoever lies beyond the band looks for settled in-neighbours along its own heavy edges:
##               where most edges belong to few vertices and those are settled first, the others have
##               few. The same atomic minimum, on the vertex that looks
## In scope      the kernel's arguments, now, slot; the queues and piles of the stage
## Called by     all work-items, in uniform control flow

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="lower" file="/visited/lower.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>

<%def name="push()">
    const int eager = 0;
    const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
    __global entry_t *const settled_here = settled + board[SETTLED_BEGIN];
    <%advance:each_edge queue="settled_here" count="now.length">
    <%def name="visit(count)">
        heavy_edges += ${" + ".join(f"(uint)active{k}" for k in range(count))};
        ${relaxing.visit_edges(count, relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
    </%def>
    </%advance:each_edge>
    % if config.hub_degree:
    if (now.hubs) {
        __global entry_t *const hubs_here = settled_hubs + board[SETTLED_HUBS_BEGIN];
        <%advance:each_hub_edge hubs="hubs_here" count="now.hubs">
        <%def name="visit(count)">
            heavy_edges += ${" + ".join(f"(uint)active{k}" for k in range(count))};
            ${relaxing.visit_edges(count, relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
        </%def>
        </%advance:each_hub_edge>
    }
    % endif
</%def>

<%def name="pull()">
    const uint part = 0, parts = 1;
    <%tiles:each_tile count="n" size="LANES">
        const uint looking = tile_begin + lane_id();
        int looks = looking < tile_end && KEY_AT(looking) > high;
        offset_t looking_row = 0;
        uint looking_degree = 0;
        if (looks) {
            looking_row = in_middles[looking];
            looking_degree = (uint)(in_indptr[looking + 1] - looking_row);
            looks = looking_degree > 0;
        }
        const lanemask_t keeping = lane_ballot(looks);
        if (looks) buffer[buffered + lanemask_count(keeping & lane_mask_lt())] = MAKE_ENTRY(looking, looking_row, looking_degree);
        buffered += lanemask_count(keeping);
        lane_converge();
        if (buffered > LANES) {
            ${look("LANES")}
        }
    </%tiles:each_tile>
    if (buffered) {
        ${look("buffered")}
    }
</%def>

## The last `count` vertices of the buffer look along their edges.
<%def name="look(count)">
    const uint past_looking = buffered, first_looking = buffered - ${count};
    buffered = first_looking;
    __global const uint *const indices = in_indices;
    ${advance.tile_edges("buffer", "first_looking", "past_looking", look_along)}
    lane_converge();
</%def>

<%def name="look_along(count)">
    heavy_edges += ${" + ".join(f"(uint)active{k}" for k in range(count))};
    % for k in range(count):
    key_t from${k} = active${k} ? KEY_AT(v${k}) : KEY_NONE, to${k} = KEY_NONE;
    int falls${k} = (from${k} > low || first_band) && from${k} <= high;
    if (falls${k}) {
        to${k} = key_add(from${k}, in_edges[e${k}]);
        % if keys.guarded:
        beyond |= to${k} >= KEY_NONE;
        % endif
        falls${k} = to${k} < KEY_AT(u${k}) && to${k} <= (key_t)limit;
    }
    % endfor
    % for k in range(count):
    ${lower.lower(f"lowered{k}", f"was{k}", f"u{k}", f"falls{k}", f"to{k}", "now.level")}
    // Rounding may put one into the band itself.
    const int queued${k} = lowered${k} && to${k} <= high && ${lower.first(f"u{k}", f"was{k}", "now.level", "high")};
    if (lane_any(queued${k})) {
        const offset_t row${k} = indptr[u${k}];
        const uint degree${k} = (uint)(LIGHT_END(u${k}) - row${k});
        found_edges += queued${k} ? degree${k} : 0u;
        ${queue.push_at_once(f"queued{k}", f"MAKE_ENTRY(u{k}, row{k}, degree{k})", "queue_to")}
    }
    ${relaxing.settle(f"u{k}", f"(lowered{k} && to{k} <= high && CELL_KEY(was{k}) > high)")}
    const int aside${k} = lowered${k} && to${k} > high;
    if (aside${k}) least = min(least, to${k});
    ${pile.push(f"aside{k} && CELL_KEY(was{k}) == KEY_NONE", f"u{k}", "pile_here", "pile_count")}
    % endfor
</%def>
