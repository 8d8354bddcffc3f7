## all_edges: one search by one work-group, every work-item striding over all edges in every level.
##
## The oldest way: no queue, so nothing to balance, but every level reads every edge. A vertex is in
## the frontier where its stamp is the level.
##
## In scope      the names that /search/snippets.mako passes, edge_sources [m], stamps [n]
## Called by     all work-items of one work-group, in uniform control flow
## Barriers      two a level, and one after each snippet of the group
## Local memory  8 bytes

<%namespace name="snippets" file="/search/snippets.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>

<%def name="setup()">
% if config.one_item:
uint found[2];
% else:
__local uint found[2];   // by levels in turn
% endif
</%def>

<%def name="run()">
{
    for (uint x = lid; x < n; x += GROUP_SIZE) stamps[x] = x == source ? 0u : NO_STAMP;
    if (lid < 2) found[lid] = 0;
    % if config.one_item:
    found[1] = 0;
    % endif
    group_barrier_global();
    uint frontier_size = 1;
    while (frontier_size && level < max_levels) {
        ${snippets.call("prior")}
        uint mine = 0;
        for (ulong e = lid; e < m; e += GROUP_SIZE) {
            const uint u = edge_sources[e];
            if (stamps[u] != level) continue;
            const uint v = ${memory.module.loaded(config, "indices", "e")};
            % if hooks.get("where"):
            if (!search_where(${snippets.values()}, u, v, (offset_t)e)) continue;
            % endif
            uint enqueued = 0, enqueues = 0;
            % if hooks.get("visit"):
            search_visit(${snippets.values()}, u, v, (offset_t)e, &enqueued, &enqueues);
            % endif
            ${snippets.check("enqueued", "enqueues")}
            if (enqueues) stamps[enqueued] = level + 1;
            mine += enqueues;
        }
        % if config.one_item:
        found[level & 1] += mine;
        % else:
        if (mine) atomic_add(&found[level & 1], mine);
        % endif
        group_barrier_global();
        frontier_size = found[level & 1];
        group_barrier_global();
        if (lid == 0) found[level & 1] = 0;
        level += 1;
        ${snippets.call("post")}
    }
    frontier_left = frontier_size;
}
</%def>
