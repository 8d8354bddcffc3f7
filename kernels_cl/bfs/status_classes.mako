## status_classes: what a level does with the edges of a queue's vertices, whatever its degree class.
##
## In scope      what /balance/degree_classes.mako needs; the kernel's arguments
## Called by     all work-items, in uniform control flow; group barriers inside
## Hub cache     vertices of many edges that the level before visited, by id modulo config.frontier.hub_cache:
##               an in-neighbour found there needs no look at its status. Collisions: the later one
##               stays, a miss costs a read.

<%namespace name="classes" file="/balance/degree_classes.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>

<%def name="setup()">
${classes.setup()}
% if config.frontier.hub_cache and config.pull:
__local uint hub_cache[${config.frontier.hub_cache}];
% endif
</%def>

<%def name="each_vertex(pulls)">
% if pulls and config.frontier.hub_cache:
for (uint i = lid; i < ${config.frontier.hub_cache}u; i += GROUP_SIZE) hub_cache[i] = NO_SPACE;
group_barrier();
for (uint i = lid; i < tallies[TALLY_HUBS_LISTED]; i += GROUP_SIZE)
    hub_cache[hub_list[i] & ${config.frontier.hub_cache - 1}u] = hub_list[i];
% endif
<%classes:each_vertex searches="${pulls}" whole="${config.frontier.generation == 'none'}" batch="${config.class_batch}">
<%def name="takes_part()">STATUS_OF(v) == ${"UNREACHED" if pulls else "(int)now.level - 1"}</%def>
<%def name="settled()">LATEST_STATUS_OF(v) != UNREACHED</%def>
<%def name="visit()">
    const uint w = indices[e];
    if (STATUS_OF(w) == UNREACHED) {
        ${visiting.reach("w", "v")}
    }
</%def>
<%def name="found(w)">
    ${visiting.reach("v", w)}
</%def>
<%def name="look(active)">
    int hit = 0;
    % if config.frontier.hub_cache:
    if (${active}) {
        ++cache_looks;
        hit = hub_cache[w & ${config.frontier.hub_cache - 1}u] == w;
        cache_hits += (uint)hit;
    }
    % endif
</%def>
<%def name="look_further(active)">
    if (${active}) hit = (uint)STATUS_OF(w) < now.level;
</%def>
</%classes:each_vertex>
</%def>
