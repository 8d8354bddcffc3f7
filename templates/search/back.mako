## back: from the last level of a search to the first, a sum over the edges of every vertex.
##
## The levels lie in the queue one after the other. A long row is summed by a SIMD group, a short one
## by a single lane; nothing needs an atomic, since one lane has the sum and hands it on.
##
## config        keep_levels is true; long_rows, short_rows
## In scope      what /search/levels.mako leaves: queues, offsets, levels
## Called by     all work-items of one work-group, in uniform control flow
## Barriers      one a level
## Needs         the operator `back_sum` of /group/lane_scan.mako, on problem.sum_type

<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="snippets" file="/search/snippets.mako"/>

<%def name="run()">
for (uint back_level = levels; back_level-- > 0;) {
    level = back_level;
    const uint frontier_size = offsets[2 * level + 2] - offsets[2 * level] + offsets[2 * level + 3] - offsets[2 * level + 1];
    % if config.long_rows:
    for (uint at = offsets[2 * level] + LANE_GROUP; at < offsets[2 * level + 2]; at += GROUP_LANES) {
        const uint u = queues[at];
        const offset_t row_end = ${rows.past("u")};
        ${problem.sum_type} sum = 0;
        for (offset_t e = ${rows.begin("u")} + lane_id(); e < row_end; e += LANES) sum += ${edge()};
        sum = lane_reduce_in_back_sum(LANE_ARGS sum);
        if (lane_id() == 0) {
            ${vertex()}
        }
    }
    % endif
    % if config.short_rows:
    for (uint at = offsets[2 * level + 1] + lid; at < offsets[2 * level + 3]; at += GROUP_SIZE) {
        const uint u = queues[capacity - 1 - at];
        const offset_t row_end = ${rows.past("u")};
        ${problem.sum_type} sum = 0;
        for (offset_t e = ${rows.begin("u")}; e < row_end; ++e) sum += ${edge()};
        ${vertex()}
    }
    % endif
    group_barrier_global();
}
</%def>

<%def name="edge()">${f"search_back({capture(snippets.values)}, u, indices[e], e)" if hooks.get("back") else "0"}</%def>

<%def name="vertex()">
% if hooks.get("back_vertex"):
search_back_vertex(${snippets.values()}, u, sum);
% endif
</%def>
