## self_tuning_rows: the edges out of a self-tuned frontier, by a processor core's only work-item.
##
## relax()       the stage RELAX of /sssp/self_tuning.mako; what improves is collected in a private buffer

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="one_item" file="/sssp/one_item.mako"/>
<%namespace name="rows" file="/sssp/core_rows.mako"/>

<%def name="relax()">
    uint improved[${config.buffer}];
    uint improved_count = 0;
    edges_t edges_here = 0;
    ${relaxing.begin()}
    <%tiles:each_tile count="now.length" size="${config.push_tile}">
        for (uint place = tile_begin; place < tile_end; ++place) {
            ${rows.prefetch("queue_from", "place", "tile_end")}
            const uint u = queue_from[place];
            ${rows.relax("u", collect, False, "expanded[u]")}
        }
    </%tiles:each_tile>
    if (improved_count) ${one_item.flush("improved", "improved_count", "queue_to", None, False)}
    ${relaxing.end()}
</%def>

<%def name="collect()">
    ${keys_at.decrease("decreased", "was", "v", "1", "to", "now.level")}
    if (decreased && ${keys_at.first("v", "was", "now.level", "KEY_NONE")}) {
        improved[improved_count++] = v;
        if (improved_count == ${config.buffer}u) {
            ${one_item.flush("improved", "improved_count", "queue_to", None, False)}
        }
    }
</%def>
