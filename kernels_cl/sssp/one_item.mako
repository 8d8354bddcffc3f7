## one_item: relaxing and splitting by work-items that are groups of their own, one per processor core.
##
## Offers        setup, work, by_one_group: bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot; in work the queues and piles of the stage
##
## In a shared stage vertices are collected in private buffers and distances are decreased by atomics; while
## the frontier is small one work-item does the same with plain accesses: /sssp/sequential.mako.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="rows" file="/sssp/core_rows.mako"/>
<%namespace name="single" file="/sssp/sequential.mako"/>

<%def name="setup()"></%def>

<%def name="shared_decrease()">
    ${keys_at.decrease("decreased", "was", "v", "1", "to", "now.level")}
    if (decreased) {
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
        if (${keys_at.first("v", "was", "now.level", "high")}) {
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
    ${flush("settled_buffer", "settled_buffered", "settled", "control_block + SETTLED", True)}
}
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
        const key_t low = (key_t)CONTROL_ULONG(LOW), high = (key_t)CONTROL_ULONG(HIGH);
        <%tiles:each_tile count="now.length" size="${pile.module.TILE}">
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
        if (settled_buffered) ${flush("settled_buffer", "settled_buffered", "settled", "control_block + SETTLED", True)}
        % endif
    }
    % endif
    % if "split" in all_stages and ("relax" in stages or "split" in stages or "heavy" in stages):
    if (least < CONTROL_ULONG(LEAST)) atom_min((volatile __global ulong *)(control_block + LEAST), (ulong)least);
    % endif
    % if "relax" in stages or "heavy" in stages:
    if (now.mode != START && now.mode <= RELAX${" || now.mode == HEAVY" if "heavy" in all_stages else ""}) if (found_edges) EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), found_edges);
    % endif
</%def>

<%def name="relax_shared(vertices, heavy)">
    const key_t high = (key_t)CONTROL_ULONG(HIGH);
    % if heavy:
    __global const uint *const settled_here = settled + control_block[SETTLED_BEGIN];
    % endif
    ${relaxing.begin()}
    edges_t edges_here = 0;
    <%tiles:each_tile count="now.length" size="${config.push_tile}">
        for (uint place = tile_begin; place < tile_end; ++place) {
            ${rows.prefetch(vertices, "place", "tile_end")}
            const uint u = ${vertices}[place];
            ${rows.relax("u", shared_decrease, heavy)}
        }
    </%tiles:each_tile>
    found_edges = edges_here;
    if (near_buffered) ${flush("near_buffer", "near_buffered", "queue_to", None, False)}
    % if "split" in all_stages:
    if (far_buffered) ${flush("far_buffer", "far_buffered", "pile_here", "pile_count", True)}
    % endif
    % if "heavy" in all_stages:
    if (settled_buffered) ${flush("settled_buffer", "settled_buffered", "settled", "control_block + SETTLED", True)}
    % endif
    ${relaxing.end()}
</%def>

<%def name="by_one_group()">${single.by_one_group()}</%def>
