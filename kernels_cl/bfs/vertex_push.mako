## vertex_push: PUSH, the stage that expands a queue of vertices along their out-edges.
##
## Offers        setup(), stage()
## In scope      the kernel's arguments, now, slot; the queues, hubs and bitmap of a stage of
##               vertex_queue.mako

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="small" file="/bfs/small_frontiers.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="bins" file="/balance/bins.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>

<%def name="setup()">
${advance.setup()}
${duplicates.setup()}
% if config.frontier.duplicates.startswith("load"):
__local entry_t kept_entries[${config.group_size}];
% if config.balance.scope == "group":
__local uint kept_count;
if (get_local_id(0) == 0) kept_count = 0;
group_barrier();
% endif
% endif
</%def>

<%def name="shared_out()">
% if shares:
if (member == 0 && lid == 0 && now.level - 1 < level_capacity) level_shares[now.level - 1] = ${advance.sharing()};
% endif
</%def>

<%def name="stage()">
    % if "push" in stages:
    % if config.group_resident:
    if (holding) {
        ${small.hold()}
    } else
    % endif
    if (now.mode == PUSH) {
        % if lists_pulled:
        uint bare_found = 0;
        % endif
        const int eager = now.length <= ${config.limits.eager}u${" && !now.inverts" if lists_pulled else ""};
        const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
        % if config.frontier.duplicates.startswith("load"):
        % if config.balance.scope == "group":
        <%tiles:each_group_tile count="now.length" size="${str(config.group_size)}u">
            ${expand_kept_by_group()}
        </%tiles:each_group_tile>
        % else:
        const uint part = 0, parts = 1;
        __local entry_t *const kept = kept_entries + LANE_GROUP * LANES;
        <%tiles:each_tile count="now.length" size="tile_size">
            ${expand_kept()}
        </%tiles:each_tile>
        % endif
        % else:
        ${advance.each_edge("queue_from", "now.length", visit_each, shared_out)}
        % endif
        % if config.hub_bins:
        if (now.hubs) {
            ${bins.each_edge("hubs_from", visit_each)}
        }
        % elif config.hub_degree:
        if (now.hubs) {
            ${advance.each_hub_edge("hubs_from", "now.hubs", visit_each)}
        }
        % endif
        % if lists_pulled:
        if (now.inverts) {
            found_edges = (edges_t)bare_found * mean_degree;
            ${queue.end_count("bare_found")}
        } else
        % endif
        ${queue.end_stage("queue_to", f"now.length <= {queue.module.DIRECT}u")}
    }
    % endif
</%def>

## The entries of a tile but for those that another lane holds too.
<%def name="expand_kept()">
for (uint first = tile_begin; first < tile_end; first += LANES) {
    int has_entry = first + lane_id() < tile_end;
    const entry_t entry = queue_from[has_entry ? first + lane_id() : first];
    const uint vertex = ENTRY_VERTEX(entry);
    ${duplicates.at_load("has_entry", "vertex")}
    const lanemask_t keeping = lane_ballot(has_entry);
    if (has_entry) kept[lanemask_count(keeping & lane_mask_lt())] = entry;
    const uint kept_count = lanemask_count(keeping);
    lane_converge();
    ${advance.tile_edges("kept", "0u", "kept_count", visit_each)}
    lane_converge();
}
</%def>

<%def name="expand_kept_by_group()">
{
    int has_entry = tile_begin + lid < tile_end;
    const entry_t entry = queue_from[has_entry ? tile_begin + lid : tile_begin];
    const uint vertex = ENTRY_VERTEX(entry);
    ${duplicates.at_load("has_entry", "vertex")}
    const lanemask_t keeping = lane_ballot(has_entry);
    uint at = 0;
    if (lane_id() == 0 && keeping) at = atomic_add(&kept_count, lanemask_count(keeping));
    at = lane_broadcast(at, 0) + lanemask_count(keeping & lane_mask_lt());
    if (has_entry) kept_entries[at] = entry;
}
group_barrier();
{
    const uint kept_here = kept_count;
    ${advance.group_edges("kept_entries", "kept_here", visit_each)}
    group_barrier();
    if (lid == 0) kept_count = 0;
    group_barrier();
}
</%def>

<%def name="visit_each(count)">
${visiting.visit_edges(count, "now.level", visiting.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE", bare="now.inverts" if lists_pulled else None)}
</%def>
