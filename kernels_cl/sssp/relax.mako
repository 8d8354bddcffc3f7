## relax: what happens to an edge out of the frontier, and to a vertex that improves.
##
## In scope      high, limit, eager, hubs_to, pile_here, pile_count, least; u0, v0, e0, active0, u1, ...
## Called by     lane-uniform control flow
## `keep`        a def that queues: (queued, entry, edges)

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>

## At file scope: weights beside the targets, which lanes read side by side.
<%def name="edge_types()">\
typedef weight_t edge_t;
% if config.cache != "default" and keys.bits == 32:
#define WEIGHT_AT(e_) as_${keys.weight}(${memory.module.loaded(config, "(__global const uint *)edges", "(e_)")})
% else:
#define WEIGHT_AT(e_) edges[e_]
% endif
</%def>

## Every relaxation of an edge: declares `to`, the key of its head by way of it, `before`, what the head
## has, and `improves`, whether `to` is less and no more than `bound`. `source_key` is an expression for the
## key of its tail; without a head every edge up to the bound improves, and the atomic decides alone.
<%def name="relax_edge(k, active, source_key, head, bound, weight=None, may_exceed='')">
    int improves${k} = ${active};
    key_t to${k} = KEY_NONE${f", before{k} = KEY_ZERO" if head else ""};
    if (improves${k}) {
        ${items.tally("RELAXED")}
        const weight_t weight = ${weight or f"WEIGHT_AT(e{k})"};
        to${k} = ${source_key};
        % if head:
        before${k} = KEY_AT(${head});
        % endif
        to${k} = key_add(to${k}, weight);
    }
    % if keys.guarded:
    beyond |= ${may_exceed}improves${k} && to${k} >= KEY_NONE;
    % endif
    improves${k} = improves${k} && to${k} < ${f"before{k}" if head else "KEY_NONE"} && to${k} <= ${bound};
</%def>

<%def name="begin()">
    % if keys.guarded:
    int beyond = 0;   // whether a sum was more than the type holds
    % endif
</%def>

<%def name="end()">
    % if keys.guarded:
    if (beyond) atomic_or(state + STATUS_FLAGS, FLAG_BEYOND);
    % endif
</%def>

## Of a stage that puts vertices aside, here or where a band is split.
<%def name="begin_aside()">
    ${pile.begin_stage()}
    key_t least = KEY_NONE;   // of what this lane put aside or left there
</%def>

## Vertices of the pile, a lane each: body sees v0 and `improved`, whether it is in the band now; those beyond it
## are put aside again.
<%def name="each_on_pile()">
<%tiles:each_tile count="now.length" size="LANES">
    const uint place = tile_begin + lane_id();
    const int active = place < tile_end;
    const uint v0 = active ? pile_here[place] : 0u;
    const key_t key = active ? KEY_AT(v0) : KEY_ZERO;
    const int improved = active && key > low && key <= high, stays = active && key > high;
    if (stays) least = min(least, key);
    ${caller.body()}
    ${pile.push("stays", "v0", "pile_other", "other_count")}
</%tiles:each_tile>
</%def>

## Its end: what was left in lanes' hands goes to a pile.
<%def name="end_aside(pile_to, counter)">
    ${pile.end_stage(pile_to, counter)}
    // Most groups find a smaller one there already.
    const key_t least_here = REDUCE_MIN_KEY(least);
    if (lane_id() == 0 && least_here < CONTROL_ULONG(LEAST)) atom_min((volatile __global ulong *)(control_block + LEAST), (ulong)least_here);
</%def>

## Visit `count` edges per lane, phase by phase so that the accesses of one phase overlap.
<%def name="visit_edges(count, keep, hub_slot)">
    % for k in range(count):
    const uint target${k} = VERTEX_OF(v${k});
    ${relax_edge(k, " && ".join([f"active{k}", *(f"CLASS_OF(v{k}) != {code}u" for code in problem.skips)]),
                 f"FRESH_KEY_AT(u{k})", f"target{k}", "(key_t)limit")}
    offset_t row${k} = 0;
    uint degree${k} = 0;
    % endfor
    % for k in range(count):
    if (eager && improves${k} && to${k} <= high) {
        ${row_at.load(f"row{k}", f"degree{k}", f"target{k}")}
    }
    % endfor
    % for k in range(count):
    ${decrease(k)}
    % endfor
    % for k in range(count):
    % if keys.signed:
    if (decreased${k} && to${k} <= KEY_LEAST) atomic_or(state + STATUS_FLAGS, FLAG_BELOW);
    % endif
    % if config.drift:
    const int queued${k} = decreased${k} && to${k} <= high;
    % else:
    const int queued${k} = decreased${k} && to${k} <= high && ${keys_at.first(f"target{k}", f"was{k}", "now.level", "high")};
    % endif
    if (queued${k}) {
        if (eager) prefetch_global(indices + row${k});
        else {
            ${row_at.load(f"row{k}", f"degree{k}", f"target{k}")}
        }
    }
    ${enqueue(k, f"target{k}", f"queued{k}", keep, hub_slot)}
    % if "split" in all_stages:
    // One that had a distance beyond the bound before is on the pile already.
    const int aside${k} = decreased${k} && to${k} > high;
    if (aside${k}) least = min(least, to${k});
    ${pile.push(f"aside{k} && CELL_KEY(was{k}) == KEY_NONE", f"target{k}", "pile_here", "pile_count")}
    % endif
    % endfor
</%def>

## Declares decreased and was. Where no other lane can decrease the same vertex a store is enough: it has one
## in-edge, or it is reached from the only source for the first time.
<%def name="decrease(k)">
    % if problem.one_way_in is not None or problem.direct_start:
    int direct${k} = 0;
    % if problem.one_way_in is not None:
    direct${k} |= CLASS_OF(v${k}) == ${problem.one_way_in}u;
    % endif
    % if problem.direct_start:
    direct${k} |= now.level == 2 && source_count == 1;
    % endif
    direct${k} = direct${k} && improves${k};
    const int shared${k} = improves${k} && !direct${k};
    ${keys_at.decrease(f"others{k}", f"was{k}", f"target{k}", f"shared{k}", f"to{k}", "now.level")}
    if (direct${k}) {
        was${k} = CELL(before${k}, 0u);
        cells[target${k}] = CELL(to${k}, now.level);
    }
    const int decreased${k} = direct${k} || others${k};
    % else:
    ${keys_at.decrease(f"decreased{k}", f"was{k}", f"target{k}", f"improves{k}", f"to{k}", "now.level")}
    % endif
</%def>

<%def name="enqueue(k, vertex, queued, keep, hub_slot)">
    int kept${k} = ${queued};
    % if config.row_limit:
    int unsettled${k} = 0;
    ${in_pieces(f"kept{k}", f"unsettled{k}", vertex, f"row{k}", f"degree{k}")}
    % elif config.hub_degree:
    if (kept${k} && degree${k} >= ${config.hub_degree}u) {
        kept${k} = 0;
        % if config.drift:
        if (atomic_xchg(stamps + ${vertex}, now.level) != now.level) {
            hubs_to[atomic_inc(${hub_slot})] = MAKE_ENTRY(${vertex}, row${k}, degree${k});
            found_edges += degree${k};
        }
        % else:
        hubs_to[atomic_inc(${hub_slot})] = MAKE_ENTRY(${vertex}, row${k}, degree${k});
        % endif
    }
    % endif
    ${keep(f"kept{k}", f"MAKE_ENTRY({vertex}, row{k}, degree{k})", f"({queued}) ? degree{k} : 0u")}
</%def>

<%def name="keep_in_queue(queued, entry, edges)">
    found_edges += ${edges};
    ${queue.push(queued, entry, "queue_to")}
</%def>

## Rows of more than config.row_limit edges piece by piece, by all lanes together: into the queue where
## `queued`, and onto the list of settled ones where `settles`; both flags are cleared then. The
## counter of hubs is that of pieces but the first.
<%def name="in_pieces(queued, settles, vertex, row, degree)">
{
    const uint pieces = (${degree} + ${config.row_limit - 1}u) / ${config.row_limit}u;
    uint queue_first = NO_SPACE, settled_first = NO_SPACE;
    lanemask_t long_rows = lane_ballot((${queued} || ${settles}) && pieces > 1u);
    // All reserve at the same time: one after another they would wait for each other's atomics.
    if (pieces > 1u) {
        if (${queued}) {
            ${queue.reserve("pieces", "reserved")}
            queue_first = reserved;
            atomic_add(state + NEXT_HUBS + slot * SLOT_STRIDE, pieces - 1);
        }
        % if "heavy" in all_stages:
        if (${settles}) {
            ${reserve_settled("pieces", "reserved")}
            settled_first = reserved;
        }
        % endif
        ${queued} = 0;
        ${settles} = 0;
    }
    while (long_rows) {
        const uint owner = lanemask_first(long_rows);
        long_rows &= long_rows - 1;
        const uint v = lane_shuffle(${vertex}, owner), edges_of_row = lane_shuffle(${degree}, owner);
        const offset_t row_begin = SHUFFLE_OFFSET(${row}, owner);
        const uint queue_base = lane_shuffle(queue_first, owner), settled_base = lane_shuffle(settled_first, owner);
        for (uint k = lane_id(); k * ${config.row_limit}u < edges_of_row; k += LANES) {
            const uint before = k * ${config.row_limit}u;
            const entry_t piece = MAKE_ENTRY(v, row_begin + before, min(${config.row_limit}u, edges_of_row - before));
            if (queue_base != NO_SPACE) queue_to[queue_base + k] = piece;
            if (settled_base != NO_SPACE) settled[settled_base + k] = piece;
        }
    }
}
</%def>

<%def name="reserve_settled(count, base)">
${collected.counted(count, base, "control_block + SETTLED", "queue_capacity")}
</%def>

## Edges of what the band has settled, of all lanes.
<%def name="end_settling()">
    {
        const uint settled_here = lane_reduce_add(settled_edges);
        if (lane_id() == 0 && settled_here) atom_add((volatile __global ulong *)(control_block + SETTLED_EDGES), (ulong)settled_here);
    }
</%def>
