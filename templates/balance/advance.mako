## advance: hand each edge out of a frontier to a visit body, exactly once.
##
## Body sees     active, u, v, e: whether this lane has an edge; the entry's vertex (0 where entries
##               carry rows only), the neighbour, the edge's place in `indices`
## In scope      indices, now, slot, state, and the frontier queue's macros
## Called by     all work-items, in uniform control flow
## Barriers      none; the body runs in lane-uniform control flow and may use lane collectives
## Local memory  none
## Choice        config.balance names a sibling file; hubs are spread over the grid by `each_hub_edge`

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="item_per_vertex" file="/balance/item_per_vertex.mako"/>
<%namespace name="lanes_per_vertex" file="/balance/lanes_per_vertex.mako"/>
<%namespace name="lane_scan" file="/balance/lane_scan.mako"/>
<%!
    BALANCERS = ("item_per_vertex", "lanes_per_vertex", "lane_scan")
%>

<%def name="strategy()"><%
    return {"item_per_vertex": item_per_vertex, "lanes_per_vertex": lanes_per_vertex,
            "lane_scan": lane_scan}[config.balance]
%></%def>

## Edges of the entries queue[0 .. count), taken from global memory by the whole grid.
<%def name="each_edge(queue, count)">
<%tiles:each_tile count="${count}" size="tile_size">
    const uint index = tile_begin + lane_id();
    ${tile_edges(queue, "tile_begin", "tile_end", caller.body)}
</%tiles:each_tile>
</%def>

## Edges of the entries queue[begin .. end), by one lane group.
<%def name="tile_edges(queue, begin, end, visit)">
% if config.balance == "item_per_vertex" or config.lanes == 1:
${item_per_vertex.expand(queue, begin, end, visit)}
% elif config.balance == "lanes_per_vertex":
${lanes_per_vertex.expand(queue, begin, end, visit)}
% else:
${lane_scan.expand(queue, begin, end, visit)}
% endif
</%def>

## Edges of vertices too large for one lane group: each lane group strides over each of them,
## starting where the last hub ended so that the first lane groups do not get all the short ends.
<%def name="each_hub_edge(hubs, count)">
{
    const uint units = GROUP_LANES * now.members, unit = LANE_GROUP * now.members + member;
    uint turn = 0;
    for (uint first = 0; first < (${count}); first += LANES) {
        entry_t mine = ${hubs}[min(first + lane_id(), (uint)(${count}) - 1u)];
        const ulong my_begin = ENTRY_BEGIN(mine);
        const uint my_degree = ENTRY_DEGREE(mine), my_vertex = ENTRY_VERTEX(mine);
        const uint here = min((uint)LANES, (uint)(${count}) - first);
        for (uint hub = 0; hub < here; ++hub) {
            const ulong begin = lane_shuffle_ulong(my_begin, hub);
            const uint degree = lane_shuffle(my_degree, hub), u = lane_shuffle(my_vertex, hub);
            const uint start = unit >= turn ? unit - turn : unit + units - turn;
            for (uint i = start * LANES; i < degree; i += units * LANES) {
                const int active = i + lane_id() < degree;
                const ulong e = begin + i + lane_id();
                const uint v = active ? indices[e] : 0u;
                ${caller.body()}
            }
            turn = (turn + (degree + LANES - 1u) / LANES) % units;
        }
    }
}
</%def>
