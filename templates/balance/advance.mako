## advance: hand each edge out of a frontier to a visit body, exactly once.
##
## Body          visit(count): gets `count` edges per lane at once so that their loads overlap; sees
##               active0, u0, v0, e0, active1, ...: whether this lane has an edge; the entry's vertex
##               (0 where entries carry rows only), the neighbour, the edge's place in `indices`
## In scope      indices, now, slot, state, and the frontier queue's macros; for scope grid also
##               prefix, the exclusive prefix sums of the frontier's degrees [count + 1], and
##               chunk_items (/balance/shared/chunks.mako), which /balance/shared/arrange.mako makes
## Called by     all work-items, in uniform control flow; setup by a kernel's first statements
## Barriers      by config.balance.scope, see below; the body runs in lane-uniform control flow and may use
##               lane collectives, but has no barriers of its own
## Local memory  what the balancer says
## Choice        config.balance.name names a sibling file; hubs are spread over the grid by `each_hub_edge`
##
## A balancer offers setup(), expand(queue, begin, end, visit) and perhaps prepare(count, resident) with
## sharing(), of which `each_edge` reports to a def shared_out(),
## and says in which control flow its loops run, which is its scope:
##   lanes   lane-uniform: SIMD groups take entries [begin, end) on their own. No barriers; `part` and
##           `parts` tell which share of every entry is wanted
##   group   group-uniform: work-groups take at most GROUP_SIZE * block_items entries; with barriers
##   grid    uniform over the launch: expand(queue, count, visit) cuts up the whole frontier

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="arrange" file="/balance/shared/arrange.mako"/>
<%namespace name="group_ranks" file="/balance/shared/group_ranks.mako"/>
<%namespace name="rounds" file="/balance/shared/rounds.mako"/>
<%namespace name="balancer" file="${'/balance/' + context['config'].balance.name + '.mako'}"/>
<%namespace name="of_lanes" file="${'/balance/' + ('warp_search' if context['config'].balance.scope == 'grid' else context['config'].balance.name) + '.mako'}"/>

<%def name="setup()">\
% if config.balance.scope != "lanes":
${tiles.setup()}
% endif
% if config.balance.scope == "grid" and not items.module.bare(config):
${arrange.setup()}
${group_ranks.setup()}
% endif
${balancer.setup()}\
</%def>

<%def name="prepare(count, resident)">${balancer.prepare(count, resident) if hasattr(balancer, "prepare") else ""}</%def>

## What was prepared, as an expression, by balancers that prepare.
<%def name="sharing()">${balancer.sharing()}</%def>

## Edges of the entries queue[0 .. count), taken from global memory by the whole grid. While entries
## are fewer than SIMD groups, `parts` (a power of two) of these share each entry.
<%def name="each_edge(queue, count, visit, shared_out=None)">
% if config.balance.scope == "grid":
${balancer.expand(queue, count, visit)}
% elif config.balance.scope == "group":
<%tiles:each_group_tile count="${count}" size="${str(config.group_size * config.balance.block_items)}u">
    ${balancer.expand(queue, "tile_begin", "tile_end", visit)}
</%tiles:each_group_tile>
% elif hasattr(balancer, "prepare"):
${prepare(count, "resident_items" if items.module.bare(config) else "GROUP_SIZE * now.members")}
const uint part = 0, parts = 1;
${shared_out() if shared_out else ""}
<%tiles:each_tile count="${count}" size="balance_tile">
    % if items.module.counts(config):
    if (lane_id() == 0) ${items.tally("TILES")}
    % endif
    ${tile_edges(queue, "tile_begin", "tile_end", visit)}
</%tiles:each_tile>
% elif config.distribution == "static" and not items.module.bare(config):
uint parts = 1;
if (tile_size == 1)
    while (parts < 256u && (${count}) * parts * 2 <= GROUP_LANES * now.members) parts *= 2;
<%tiles:each_tile count="${count} * parts" size="tile_size">
    const uint part = tile_begin & (parts - 1), first_entry = parts > 1 ? tile_begin / parts : tile_begin;
    const uint past_entry = parts > 1 ? first_entry + 1 : tile_end;
    ${tile_edges(queue, "first_entry", "past_entry", visit)}
</%tiles:each_tile>
% else:
const uint part = 0, parts = 1;
<%tiles:each_tile count="${count}" size="tile_size">
    ${tile_edges(queue, "tile_begin", "tile_end", visit)}
</%tiles:each_tile>
% endif
</%def>

## Edges of a frontier: of a queue of now.length entries, and of now.hubs beside it, if any are set apart.
<%def name="frontier_edges(queue, hubs, visit)">
${each_edge(queue, "now.length", visit)}
% if config.hub_degree:
if (now.hubs) {
    ${each_hub_edge(hubs, "now.hubs", visit)}
}
% endif
</%def>

## Edges of the entries queue[begin .. end), by one SIMD group; its `part` of `parts` of each. Where
## the balancer's scope is the grid, which one SIMD group is not, they are shared by warp_search.
<%def name="tile_edges(queue, begin, end, visit)">
${of_lanes.expand(queue, begin, end, visit)}
</%def>

## Edges of the entries queue[0 .. count), by one work-group and in group-uniform control flow.
<%def name="group_edges(queue, count, visit)">
for (uint first_here = 0; first_here < (${count}); first_here += ${config.group_size * config.balance.block_items}u) {
    const uint past_here = min(first_here + ${config.group_size * config.balance.block_items}u, (uint)(${count}));
    ${balancer.expand(queue, "first_here", "past_here", visit)}
}
</%def>

## Edges of vertices too large for one SIMD group: all of the grid take them by turns.
<%def name="each_hub_edge(hubs, count, visit)">
{
    const uint units = GROUP_LANES * now.members, unit = LANE_GROUP * now.members + member;
    ${rounds.each_edge(f"{hubs}[place]", count, "units", "unit", visit)}
}
</%def>
