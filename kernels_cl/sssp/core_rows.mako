## core_rows: rows of a list, walked by one work-item.
##
## relax(u, form, heavy, source_key)  the light edges of u, or the heavy ones; `form` is a def for the
##                                  edges that shorten a distance: v, to
## prefetch(array, place, past)     asks for the row offsets of a vertex far ahead in a queue and for
##                                  the row of one not so far
## edge_types()                     at file scope: edges lie beside their targets, so that one work-item
##                                  that walks a row fetches one line for both; but not in blocks
## In scope                         the kernel's arguments; edges_here, which counts

<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="queues" file="/grid/single_group_sequential.mako"/>

<%def name="edge_types()">\
% if config.rows == "blocks":
${relaxing.edge_types()}
% else:
typedef struct {
    uint vertex;
    weight_t weight;
} edge_t;
#define WEIGHT_AT(e_) edges[e_].weight
% endif
</%def>

<%def name="relax(u, form, heavy, source_key=None)">
<% target = "indices[e]" if config.rows == "blocks" else "edges[e].vertex" %>\
{
    const key_t from = ${source_key or f"FRESH_KEY_AT({u})"};
    const offset_t row_begin = ${f"middles[{u}]" if heavy else capture(row_at.first, u)};
    const offset_t row_end = ${capture(row_at.behind, u) if heavy else f"LIGHT_END({u})"};
    edges_here += (edges_t)(row_end - row_begin);
    for (offset_t e = row_begin; e < row_end; ++e) {
        % if problem.skips:
        const uint v = VERTEX_OF(${target}), edge_class = CLASS_OF(${target});
        if (${' || '.join(f"edge_class == {code}u" for code in problem.skips)}) continue;
        % else:
        const uint v = VERTEX_OF(${target});
        % endif
        ${relaxing.relax_edge("", "1", "from", "v", "(key_t)limit", weight="WEIGHT_AT(e)")}
        if (improves) {
            % if keys.signed:
            if (to <= KEY_LEAST) atomic_or(state + STATUS_FLAGS, FLAG_BELOW);
            % endif
            ${form()}
        }
    }
}
</%def>

<%def name="prefetch(array, place, past)">
const uint ahead = ${past} - 1 - ${place};
prefetch_global(indptr + ${array}[${place} + (ahead < ${queues.module.OFFSETS_AHEAD}u ? ahead : ${queues.module.OFFSETS_AHEAD}u)]);
const uint sooner = ${array}[${place} + (ahead < ${queues.module.ROWS_AHEAD}u ? ahead : ${queues.module.ROWS_AHEAD}u)];
prefetch_global(edges + ${row_at.first("sooner")});
prefetch_global(cells + sooner);
</%def>
