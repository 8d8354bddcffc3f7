## single_group: one work-group runs level after level alone while the frontier is small.
##
## The group that decided the last stage goes on by itself: its frontier lives in local memory, its
## barriers are work-group barriers, and nobody is waited for. The others keep polling. It stops when
## the frontier or its edges outgrow the limits, a hub is found, or the search ends.
##
## Body defs     visit(count): as in /balance/advance.mako; it queues through `keep`
##               single_level(length, edges): bookkeeping after each level, by all work-items; an
##               expression that is true to go on
## In scope      now, queue_from, queue_to, group_entries, balance templates
## Called by     all work-items of one work-group, in uniform control flow; barriers inside
## Local memory  2 * single_group_capacity entries (shared with the queue buffers, never used together)

## Frontiers up to so many vertices fetch the rows of what they find before they know it is new.
<%!
    EAGER = 1024

    def shares_rows(config):
        """Whether rows may be long: hubs show that they are of all sizes."""
        scope = config.balance.scope
        return getattr(config, "hub_degree", 0) > 0 and scope == "lanes" and config.balance.name != "dyn_vwarp"
%>

<%namespace name="advance" file="/balance/advance.mako"/>

<%def name="setup()">
__local uint single_lengths[3];
__local edges_t single_group_edges[3];
__local uint single_hubs[3];
</%def>

## How the level's edges are shared out, see /balance/advance.mako; in single_level.
<%def name="sharing()">${advance.sharing()}</%def>

<%def name="keep(claimed, entry, edges)">
<%call expr='keep_in("single_lengths", claimed, entry, edges)'>
            else if (at < ${"n" if config.exact else "queue_capacity"}) queue_to[at] = ${entry};
            % if not config.exact:
            else state[OVERFLOWED] = 1;
            % endif
</%call>
</%def>

## What is found, into local memory as far as there is room; the body says where else.
<%def name="keep_in(lengths, claimed, entry, edges)">
{
    found_edges += ${edges};
    const lanemask_t pushing = lane_ballot(${claimed});
    if (pushing) {
        uint base = 0;
        if (lane_id() == lanemask_first(pushing)) base = atomic_add(&${lengths}[next], lanemask_count(pushing));
        base = lane_shuffle(base, lanemask_first(pushing));
        const uint at = base + lanemask_count(pushing & lane_mask_lt());
        if (${claimed}) {
            if (at < ${config.limits.single_group_capacity}u) group_entries[other + at] = ${entry};
            ${caller.body()}
        }
    }
}
</%def>

<%def name="levels()">
{
    __global entry_t *queue_from = now.queue ? queue_odd : queue_even;
    __global entry_t *queue_to = now.queue ? queue_even : queue_odd;
    __global entry_t *hubs_to = now.queue ? hubs_even : hubs_odd;
    % if not shares_rows(config):
    const uint part = 0, parts = 1;
    % endif
    for (uint i = lid; i < now.length; i += GROUP_SIZE) group_entries[i] = queue_from[i];
    if (lid < 3) {
        single_lengths[lid] = 0;
        single_group_edges[lid] = 0;
        single_hubs[lid] = 0;
    }
    uint side = 0, turn = 0;
    int going = 1;
    group_barrier();
    while (going) {
        const uint next = (turn + 1) % 3u, other = side ? 0u : ${config.limits.single_group_capacity}u;
        const uint mine = side ? ${config.limits.single_group_capacity}u : 0u;
        const uint share = min((uint)LANES, (now.length + GROUP_LANES - 1) / GROUP_LANES);
        edges_t found_edges = 0;
        % if shares_rows(config):
        // A few vertices may have long rows: then several SIMD groups are at each of them.
        uint parts = 1;
        while (max(now.length, 1u) * parts * 2u <= GROUP_LANES) parts *= 2u;
        const uint part = LANE_GROUP & (parts - 1u);
        % endif
        const int eager = now.length <= ${EAGER}u;${advance.prepare("now.length", "GROUP_SIZE")}
        if (lid == 0) {
            single_lengths[(turn + 2) % 3u] = 0;
            single_group_edges[(turn + 2) % 3u] = 0;
            single_hubs[(turn + 2) % 3u] = 0;
        }
        % if config.balance.scope == "group":
        __local entry_t *const single_from = group_entries + mine;
        ${advance.group_edges("single_from", "now.length", caller.visit)}
        % else:
        % if shares_rows(config):
        for (uint tile = LANE_GROUP / parts * share; tile < now.length; tile += GROUP_LANES / parts * share) {
        % else:
        for (uint tile = LANE_GROUP * share; tile < now.length; tile += GROUP_LANES * share) {
        % endif
            const uint tile_end = min(tile + share, now.length);
            __local entry_t *const single_from = group_entries + mine;
            ${advance.tile_edges("single_from", "tile", "tile_end", caller.visit)}
        }
        % endif
        const edges_t edges_here = EDGES_REDUCE(found_edges);
        if (lane_id() == 0 && edges_here) EDGES_ADD(&single_group_edges[next], edges_here);
        group_barrier_global();
        now.length = single_lengths[next];
        const edges_t edges = single_group_edges[next];
        const uint single_hubs_found = single_hubs[next];
        side ^= 1;
        turn = next;
        now.queue ^= 1;
        {
            __global entry_t *const swap = queue_from;
            queue_from = queue_to;
            queue_to = swap;
            hubs_to = hubs_to == hubs_even ? hubs_odd : hubs_even;
        }
        ${caller.single_level()}
        % if not config.exact:
        // All have read whether the level overflowed before anyone can say so of the next.
        group_barrier();
        % endif
        if (lid == 0) store_relaxed(state + HEARTBEAT, now.level);
    }
    // Hand over: what fits in local memory goes to the queue, the rest is there already.
    for (uint i = lid; i < min(now.length, ${f"{config.limits.single_group_capacity}u" if config.exact else f"min({config.limits.single_group_capacity}u, queue_capacity)"}); i += GROUP_SIZE)
        queue_from[i] = group_entries[(side ? ${config.limits.single_group_capacity}u : 0u) + i];
    group_barrier_global();
}
</%def>
