## small_frontiers: levels that are run without a queue in memory, one group alone or each by itself.
##
## Offers        hold: inside a stage, by all groups (/grid/group_frontier.mako); by_one_group: the body of that name of
##               /grid/stage.mako
## In scope      the kernel's arguments, now, slot; in `hold` what a stage of vertex_queue.mako has

## Groups hold frontiers of up to so many vertices, more than one group alone should have, and look
## vertices up before they claim them from so many edges a vertex on.
<%! RESIDENT, RESIDENT_EDGES_OF_ONE, RESIDENT_LOOK = 1 << 15, 1 << 8, 5 %>

<%namespace name="single" file="${context['single_group']}"/>
<%namespace name="group_frontier" file="/grid/group_frontier.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="level" file="/bfs/level.mako"/>

## Levels whose frontier stays with the groups: while it is small enough for that, and too large for
## one group alone.
<%def name="hold()">
        const int eager = 1, look = mean_degree >= ${RESIDENT_LOOK}u;
        edges_t resident_edges = 0;
        <%group_frontier:levels queue="queue_from">
        <%def name="visit(count)">
            ${visiting.visit_edges(count, "now.level", group_frontier.keep, "state + NEXT_HUBS + slot * SLOT_STRIDE",
                                    look="look")}
        </%def>
        <%def name="resident_level()">
            const ulong ahead = (ulong)total * mean_degree;
            going = total != 0 && !overfull && now.level < max_level && total <= resident_limit && resident_levels < ${config.resident_levels}u &&
                    !((flags & FLAG_SINGLE_GROUP) && total <= ${config.limits.single_group_capacity}u && ahead <= ${RESIDENT_EDGES_OF_ONE}u);
            if (going) {
                ++resident_levels;
                resident_found += total;
                resident_edges += found_edges;
                found_edges = 0;
                now.level += 1;
                if (member == 0 && lid == 0 && now.level - 1 < level_capacity)
                    levels[now.level - 1] = (uint4)(total, 0u, PUSH, device_clock_ns());
            }
        </%def>
        </%group_frontier:levels>
        ${group_frontier.add_edges("found_edges", "resident_edges")}
</%def>

## By all work-items of the group that decided, when it may go on alone.
<%def name="by_one_group()">
% if config.single_group:
{
    __global word_t *const the_visited = now.visited ? visited_odd : visited_even;
    uint reached;
    ulong explored, work;
    ${level.load_totals()}
    <%single:levels>
    <%def name="visit(count)">
        ${visiting.visit_edges(count, "now.level", single.keep, "&single_hubs[next]")}
    </%def>
    <%def name="may_find(v)">
        % if config.frontier.visited == "bitmap":
        (uint)(~(the_visited[${v} >> WORD_SHIFT] >> (${v} & WORD_MASK)) & 1)\
        % else:
        (uint)(distances[${v}] == UNREACHED)\
        % endif
    </%def>
    <%def name="visit_by_one_group()">
        % if config.frontier.visited == "bitmap":
        claimed = (int)(~(the_visited[v >> WORD_SHIFT] >> (v & WORD_MASK)) & 1);
        the_visited[v >> WORD_SHIFT] |= WORD_BIT(v);
        % else:
        claimed = distances[v] == UNREACHED;
        distances[v] = (int)now.level;
        % endif
    </%def>
    <%def name="label()">
        % if config.frontier.visited == "bitmap":
        distances[v] = (int)now.level;
        % endif
        % if problem.predecessors:
        predecessors[v] = (int)u;
        % endif
    </%def>
    <%def name="edges_of(v)">(${rows.past(v)} - ${rows.begin(v)})</%def>
    <%def name="single_level()">
        % if shares:
        if (lid == 0 && now.level - 1 < level_capacity)
            level_shares[now.level - 1] = ${single.sharing()} | ${shares["single"]}u;
        % endif
        reached += now.length + single_hubs_found;
        explored += edges;
        work += (ulong)edges + ${config.stage_work}u;
        ${level.conclude("now", "0", "1", "now.length", "single_hubs_found", "edges")}
        if (lid == 0) {
            ${level.record("now")}
        }
        going = now.mode == ${level.expansion()} && now.hubs == 0${" && !now.share" if copies else ""} && now.length <= ${config.limits.single_group_capacity}u &&
                edges <= ${config.limits.single_group_edges}u && work <= budget;
        % if config.balance.scope == "grid":
        if (lid == 0 && !going) {
            ${level.cut("now")}
        }
        % endif
    </%def>
    </%single:levels>
    ${stage.finish("now")}
    if (lid == 0) {
        ${level.store_totals("now")}
    }
}
% endif
</%def>
