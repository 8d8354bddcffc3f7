## alone: relaxing and splitting by work-items that are groups of their own, one per processor core.
##
## Offers        setup, work, alone: bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot; in work the queues and piles of the stage
##
## In a shared stage vertices are collected in private buffers and distances fall by atomics; while
## the frontier is small one work-item does the same with plain accesses, appending to the queues
## themselves. Every append is made whether it counts or not, and the count is stepped on condition:
## a store costs less than a branch that is hard to predict.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="lower" file="/visited/lower.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="deciding" file="/sssp/decide.mako"/>

<%def name="setup()"></%def>

## The light edges of u, or the heavy ones; `form` is the shared or the lone form of what follows.
<%def name="relax_row(u, form, heavy)">
{
    const key_t from = FRESH_KEY_AT(${u});
    const offset_t row_begin = ${f"middles[{u}]" if heavy else f"indptr[{u}]"};
    const offset_t row_end = ${f"indptr[{u} + 1]" if heavy else f"LIGHT_END({u})"};
    edges_here += (edges_t)(row_end - row_begin);
    for (offset_t e = row_begin; e < row_end; ++e) {
        % if problem.skips:
        const uint v = VERTEX_OF(edges[e].head), edge_class = CLASS_OF(edges[e].head);
        if (${' || '.join(f"edge_class == {code}u" for code in problem.skips)}) continue;
        % else:
        const uint v = VERTEX_OF(edges[e].head);
        % endif
        const key_t to = key_add(from, edges[e].weight);
        % if keys.guarded:
        beyond |= to >= KEY_NONE;
        % endif
        if (to < KEY_AT(v) && to <= (key_t)limit) {
            % if keys.signed:
            if (to <= KEY_LEAST) atomic_or(state + REMARK, REMARK_BELOW);
            % endif
            ${form()}
        }
    }
}
</%def>

<%def name="shared_fall()">
    ${lower.lower("lowered", "was", "v", "1", "to", "now.level")}
    if (lowered) {
        % if "split" in all_stages:
        if (to > high) {
            if (to < least) least = to;
            far_buffer[far_buffered] = v;
            far_buffered += CELL_KEY(was) == KEY_NONE;
            if (far_buffered == ${config.buffer}u) {
                ${flush("far_buffer", "far_buffered", "pile_here", "pile_count", True)}
            }
        } else
        % endif
        {
        % if "heavy" in all_stages:
        if (CELL_KEY(was) > high) {
            ${settle_shared("v")}
        }
        % endif
        if (${lower.first("v", "was", "now.level", "high")}) {
            near_buffer[near_buffered++] = v;
            if (near_buffered == ${config.buffer}u) {
                ${flush("near_buffer", "near_buffered", "queue_to", None, False)}
            }
        }
        }
    }
</%def>

<%def name="settle_shared(v)">
settled_buffer[settled_buffered++] = ${v};
if (settled_buffered == ${config.buffer}u) {
    ${flush("settled_buffer", "settled_buffered", "settled", "board + SETTLED", True)}
}
</%def>

<%def name="lone_fall()">
    const cell_t was = cells[v];
    cells[v] = CELL(to, now.level);
    % if "split" in all_stages:
    const int near = to <= high, aside = !near && CELL_KEY(was) == KEY_NONE;
    least = !near && to < least ? to : least;
    pile_here[far_count] = v;
    far_count += (uint)aside;
    % else:
    const int near = 1;
    % endif
    % if config.claims == "packed":
    const int fresh = near && ((uint)was != now.level || CELL_KEY(was) > high);
    % elif config.claims == "none":
    const int fresh = near;
    % else:
    const int fresh = near && stamps[v] != now.level;
    stamps[v] = near ? now.level : stamps[v];
    % endif
    queue_to[found] = v;
    found += (uint)fresh;
    % if "heavy" in all_stages:
    settled[settled_count] = v;
    settled_count += near && CELL_KEY(was) > high;
    % endif
</%def>

<%def name="flush(buffer, count, array, counter, onto_pile)">
{
    % if onto_pile:
    ${pile.reserve(count, "flush_base", counter)}
    % else:
    ${queue.reserve(count, "flush_base")}
    % endif
    if (flush_base != NO_SPACE)
        for (uint i = 0; i < ${count}; ++i) ${array}[flush_base + i] = ${buffer}[i];
    ${count} = 0;
}
</%def>

## Ask for the row offsets of a vertex far ahead in a queue and for the row of one not so far.
<%def name="prefetch_rows(array, place, past)">
const uint ahead = ${past} - 1 - ${place};
prefetch_global(indptr + ${array}[${place} + (ahead < ${config.prefetch_row}u ? ahead : ${config.prefetch_row}u)]);
const uint sooner = ${array}[${place} + (ahead < ${config.prefetch_edges}u ? ahead : ${config.prefetch_edges}u)];
prefetch_global(edges + indptr[sooner]);
prefetch_global(cells + sooner);
</%def>

<%def name="work()">
    % if "relax" in stages or "split" in stages or "heavy" in stages:
    uint near_buffer[${config.buffer}];
    uint near_buffered = 0;
    % if "split" in all_stages:
    uint far_buffer[${config.buffer}];
    uint far_buffered = 0;
    key_t least = KEY_NONE;
    % endif
    % if "heavy" in all_stages:
    uint settled_buffer[${config.buffer}];
    uint settled_buffered = 0;
    % endif
    % endif
    % if "relax" in stages:
    if (now.mode == RELAX) {
        ${relax_shared("queue_from", False)}
    }
    % endif
    % if "heavy" in stages:
    if (now.mode == HEAVY) {
        ${relax_shared("settled_here", True)}
    }
    % endif
    % if "split" in stages:
    if (now.mode == SPLIT) {
        const key_t low = (key_t)BOARD_ULONG(LOW), high = (key_t)BOARD_ULONG(HIGH);
        <%tiles:each_tile count="now.length" size="${config.split_tile}">
            for (uint place = tile_begin; place < tile_end; ++place) {
                const uint v = pile_here[place];
                const key_t key = KEY_AT(v);
                near_buffer[near_buffered] = v;
                near_buffered += key > low && key <= high;
                % if "heavy" in all_stages:
                if (key > low && key <= high) {
                    ${settle_shared("v")}
                }
                % endif
                far_buffer[far_buffered] = v;
                far_buffered += key > high;
                least = key > high && key < least ? key : least;
                if (near_buffered == ${config.buffer}u) {
                    ${flush("near_buffer", "near_buffered", "queue_to", None, False)}
                }
                if (far_buffered == ${config.buffer}u) {
                    ${flush("far_buffer", "far_buffered", "pile_other", "other_count", True)}
                }
            }
        </%tiles:each_tile>
        if (near_buffered) ${flush("near_buffer", "near_buffered", "queue_to", None, False)}
        if (far_buffered) ${flush("far_buffer", "far_buffered", "pile_other", "other_count", True)}
        % if "heavy" in all_stages:
        if (settled_buffered) ${flush("settled_buffer", "settled_buffered", "settled", "board + SETTLED", True)}
        % endif
    }
    % endif
    % if "split" in all_stages and ("relax" in stages or "split" in stages or "heavy" in stages):
    if (least < BOARD_ULONG(LEAST)) atom_min((volatile __global ulong *)(board + LEAST), (ulong)least);
    % endif
    % if "relax" in stages or "heavy" in stages:
    if (now.mode != START && now.mode <= RELAX${" || now.mode == HEAVY" if "heavy" in all_stages else ""}) if (found_edges) EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), found_edges);
    % endif
</%def>

<%def name="relax_shared(vertices, heavy)">
    const key_t high = (key_t)BOARD_ULONG(HIGH);
    % if heavy:
    __global const uint *const settled_here = settled + board[SETTLED_BEGIN];
    % endif
    ${relaxing.begin()}
    edges_t edges_here = 0;
    <%tiles:each_tile count="now.length" size="${config.push_tile}">
        for (uint place = tile_begin; place < tile_end; ++place) {
            ${prefetch_rows(vertices, "place", "tile_end")}
            const uint u = ${vertices}[place];
            ${relax_row("u", shared_fall, heavy)}
        }
    </%tiles:each_tile>
    found_edges = edges_here;
    if (near_buffered) ${flush("near_buffer", "near_buffered", "queue_to", None, False)}
    % if "split" in all_stages:
    if (far_buffered) ${flush("far_buffer", "far_buffered", "pile_here", "pile_count", True)}
    % endif
    % if "heavy" in all_stages:
    if (settled_buffered) ${flush("settled_buffer", "settled_buffered", "settled", "board + SETTLED", True)}
    % endif
    ${relaxing.end()}
</%def>

## By the only work-item of the group that decided, when it may go on alone.
<%def name="alone()">
% if config.solo:
{
    ulong explored, work, alone_for = 0;
    ${deciding.load_totals()}
    ${relaxing.begin()}
    int going = 1;
    while (going) {
        __global const uint *const queue_from = now.queue ? queue_odd : queue_even;
        __global uint *const queue_to = now.queue ? queue_even : queue_odd;
        __global uint *const pile_here = now.visited ? pile_odd : pile_even;
        volatile __global uint *const pile_count = board + (now.visited ? PILE_ODD : PILE_EVEN);
        const key_t high = (key_t)BOARD_ULONG(HIGH);
        key_t least = (key_t)BOARD_ULONG(LEAST);
        uint found = 0;
        edges_t edges_here = 0;
        % if "heavy" in all_stages:
        uint settled_count = board[SETTLED];
        % endif
        % if "split" in all_stages:
        if (now.mode == SPLIT) {
            const key_t low = (key_t)BOARD_ULONG(LOW);
            uint stays = 0;
            for (uint place = 0; place < now.length; ++place) {
                const uint v = pile_here[place];
                const key_t key = KEY_AT(v);
                queue_to[found] = v;
                found += key > low && key <= high;
                % if "heavy" in all_stages:
                settled[settled_count] = v;
                settled_count += key > low && key <= high;
                % endif
                pile_here[stays] = v;
                stays += key > high;
                least = key > high && key < least ? key : least;
            }
            *pile_count = stays;
        } else
        % endif
        {
            uint far_count = *pile_count;
            % if "heavy" in all_stages:
            if (now.mode == HEAVY) {
                __global const uint *const settled_here = settled + board[SETTLED_BEGIN];
                for (uint place = 0; place < now.length; ++place) {
                    ${prefetch_rows("settled_here", "place", "now.length")}
                    const uint u = settled_here[place];
                    ${relax_row("u", lone_fall, True)}
                }
                board[SETTLED_BEGIN] += now.length;
            } else
            % endif
            for (uint place = 0; place < now.length; ++place) {
                ${prefetch_rows("queue_from", "place", "now.length")}
                const uint u = queue_from[place];
                ${relax_row("u", lone_fall, False)}
            }
            *pile_count = far_count;
        }
        % if "split" in all_stages:
        BOARD_ULONG(LEAST) = least;
        % endif
        % if "heavy" in all_stages:
        board[SETTLED] = settled_count;
        % endif
        explored += edges_here;
        work += (ulong)edges_here + now.length + ${config.stage_work}u;
        alone_for += (ulong)edges_here + now.length + ${config.stage_work}u;
        ${deciding.correct_record("now", "edges_here")}
        now.queue ^= 1;
        now.length = found;
        now.hubs = 0;
        if (found) {
            ${deciding.go_on("now", "0u")}
        } else {
            ${deciding.frontier_is_empty("now")}
        }
        ${deciding.record("now", "0u")}
        if (!dismissed && alone_for > ${config.solo_patience}u && get_num_groups(0) > 1 && !(flags & FLAG_STEPPED)) {
            dismissed = 1;
            stage_dismiss(state, now);
        }
        const ulong ahead = (ulong)now.length * ${"(now.mode == SPLIT ? 1u : mean_degree)" if "split" in all_stages else "mean_degree"};
        going = (now.mode == RELAX || now.mode == ${"SPLIT" if "split" in all_stages else "RELAX"}${" || now.mode == HEAVY" if "heavy" in all_stages else ""}) && work <= budget &&
                ahead <= (dismissed ? ${16 * config.solo_edges}u : ${config.solo_edges}u);
        if ((now.level & 63u) == 0) store_relaxed(state + HEARTBEAT, now.level);
    }
    ${relaxing.end()}
    {
        stage_t s = now;
        ${deciding.finish("s")}
        ${deciding.store_totals("s")}
        now = s;
    }
}
% endif
</%def>
