## relax: what happens to an edge out of the frontier, and to a vertex that falls.
##
## In scope      high, limit, eager, hubs_to, pile_here, pile_count, least; u0, v0, e0, active0, u1, ...
## Called by     lane-uniform control flow
## `keep`        a def that queues: (queued, entry, edges)

<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="lower" file="/visited/lower.mako"/>

<%def name="begin()">
    % if keys.guarded:
    int beyond = 0;   // whether a sum was more than the type holds
    % endif
</%def>

<%def name="end()">
    % if keys.guarded:
    if (beyond) atomic_or(state + REMARK, REMARK_BEYOND);
    % endif
</%def>

## Visit `count` edges per lane, phase by phase so that the accesses of one phase overlap.
<%def name="visit_edges(count, keep, hub_slot)">
    % for k in range(count):
    const uint head${k} = VERTEX_OF(v${k});
    int falls${k} = active${k};
    % if problem.skips:
    falls${k} = falls${k} && (${' && '.join(f"CLASS_OF(v{k}) != {code}u" for code in problem.skips)});
    % endif
    key_t to${k} = KEY_NONE, before${k} = KEY_ZERO;
    if (falls${k}) {
        const weight_t weight = WEIGHT_AT(e${k});
        to${k} = FRESH_KEY_AT(u${k});
        before${k} = KEY_AT(head${k});
        to${k} = key_add(to${k}, weight);
    }
    % if keys.guarded:
    beyond |= falls${k} && to${k} >= KEY_NONE;
    % endif
    falls${k} = falls${k} && to${k} < before${k} && to${k} <= (key_t)limit;
    offset_t row${k} = 0;
    uint degree${k} = 0;
    % endfor
    % for k in range(count):
    if (eager && falls${k} && to${k} <= high) {
        row${k} = indptr[head${k}];
        degree${k} = (uint)(LIGHT_END(head${k}) - row${k});
    }
    % endfor
    % for k in range(count):
    ${fall(k)}
    % endfor
    % for k in range(count):
    % if keys.signed:
    if (lowered${k} && to${k} <= KEY_LEAST) atomic_or(state + REMARK, REMARK_BELOW);
    % endif
    % if config.drift:
    const int queued${k} = lowered${k} && to${k} <= high;
    % else:
    const int queued${k} = lowered${k} && to${k} <= high && ${lower.first(f"head{k}", f"was{k}", "now.level", "high")};
    % endif
    if (queued${k}) {
        if (eager) prefetch_global(indices + row${k});
        else {
            row${k} = indptr[head${k}];
            degree${k} = (uint)(LIGHT_END(head${k}) - row${k});
        }
    }
    ${enqueue(k, f"head{k}", f"queued{k}", keep, hub_slot)}
    ${settle(f"head{k}", f"(lowered{k} && to{k} <= high && CELL_KEY(was{k}) > high)")}
    % if "split" in all_stages:
    // One that had a distance beyond the bound before is on the pile already.
    const int aside${k} = lowered${k} && to${k} > high;
    if (aside${k}) least = min(least, to${k});
    ${pile.push(f"aside{k} && CELL_KEY(was{k}) == KEY_NONE", f"head{k}", "pile_here", "pile_count")}
    % endif
    % endfor
</%def>

## Declares lowered and was. Where no other lane can lower the same vertex a store is enough: it has one
## in-edge, or it is reached from the only source for the first time.
<%def name="fall(k)">
    % if problem.one_way_in is not None or problem.direct_start:
    int direct${k} = 0;
    % if problem.one_way_in is not None:
    direct${k} |= CLASS_OF(v${k}) == ${problem.one_way_in}u;
    % endif
    % if problem.direct_start:
    direct${k} |= now.level == 2 && source_count == 1;
    % endif
    direct${k} = direct${k} && falls${k};
    const int shared${k} = falls${k} && !direct${k};
    ${lower.lower(f"others{k}", f"was{k}", f"head{k}", f"shared{k}", f"to{k}", "now.level")}
    if (direct${k}) {
        was${k} = CELL(before${k}, 0u);
        cells[head${k}] = CELL(to${k}, now.level);
    }
    const int lowered${k} = direct${k} || others${k};
    % else:
    ${lower.lower(f"lowered{k}", f"was{k}", f"head{k}", f"falls{k}", f"to{k}", "now.level")}
    % endif
</%def>

<%def name="enqueue(k, vertex, queued, keep, hub_slot)">
    int kept${k} = ${queued};
    % if config.hub_degree:
    if (kept${k} && degree${k} >= ${config.hub_degree}u) {
        kept${k} = 0;
        % if config.drift:
        if (atomic_xchg(stamps + ${vertex}, now.level) != now.level)
        % endif
        hubs_to[atomic_inc(${hub_slot})] = MAKE_ENTRY(${vertex}, row${k}, degree${k});
    }
    % endif
    ${keep(f"kept{k}", f"MAKE_ENTRY({vertex}, row{k}, degree{k})", f"({queued}) ? degree{k} : 0u")}
</%def>

<%def name="keep_in_queue(queued, entry, edges)">
    found_edges += ${edges};
    ${queue.push(queued, entry, "queue_to")}
</%def>

## A vertex that comes into the band for the first time: its heavy edges are relaxed when the band is
## done, those of a hub by the whole grid.
<%def name="settle(vertex, comes)">
    % if "heavy" in all_stages:
    {
        int settles = ${comes};
        const lanemask_t settling = lane_ballot(settles);
        if (settling) {
            offset_t heavy_row = 0;
            uint heavy_degree = 0;
            if (settles) {
                heavy_row = middles[${vertex}];
                heavy_degree = (uint)(indptr[${vertex} + 1] - heavy_row);
            }
            % if config.hub_degree:
            if (heavy_degree >= ${config.hub_degree}u) {
                settled_hubs[atomic_inc(board + SETTLED_HUBS)] = MAKE_ENTRY(${vertex}, heavy_row, heavy_degree);
                settles = 0;
            }
            const lanemask_t listing = lane_ballot(settles);
            % else:
            const lanemask_t listing = settling;
            % endif
            uint base = 0;
            if (lane_id() == 0 && listing) base = atomic_add(board + SETTLED, lanemask_count(listing));
            base = lane_broadcast(base, 0) + lanemask_count(listing & lane_mask_lt());
            if (settles && base < n) settled[base] = MAKE_ENTRY(${vertex}, heavy_row, heavy_degree);
            if (settles && base >= n) state[OVERFLOWED] = 1;
        }
    }
    % endif
</%def>
