## dyn_vwarp: virtual SIMD groups whose width follows the number of entries.
##
## The width is the resident work-items over the entries, rounded down to a power of two, between
## config.balance.width and LANES: few entries get many lanes each. Entries too long for this are
## the grid's: advance.each_hub_edge, or a list of tiles for a launch of its own (config.tiles).
##
## config.balance.vertices   how many entries a virtual group takes one after another, at most
## config.balance.discover   0, or: with fewer entries than resident work-items over this, lanes search for
##               edges instead, as in /balance/warp_search.mako
## Broadcast     where entries outnumber resident work-items and still get all lanes, which takes
##               min_virtual_warp = LANES, a SIMD group loads LANES entries at once and passes them on
##
## Contract      /balance/advance.mako; `prepare` once before a list, which also says in balance_tile
##               how many entries a SIMD group should take at a time
## Scope         lanes
##
## Reference     F. Busato, N. Bombieri, IEEE TPDS 26(7), 2015

<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="warp_search" file="/balance/warp_search.mako"/>

<%def name="setup()"></%def>

<%def name="prepare(count, resident)">
uint virtual_width = ${config.balance.width}u;
while (virtual_width < LANES && (ulong)virtual_width * 2u * (${count}) <= (${resident})) virtual_width *= 2u;
uint balance_tile = LANES / virtual_width;
% if config.balance.vertices:
// Several entries to a virtual group, but no more than leave work for all of them.
balance_tile *= min(${config.balance.vertices}u, max(1u, (uint)(((ulong)(${count}) * virtual_width + (${resident}) - 1u) / (${resident}))));
% endif
% if config.balance.discover:
const int discovering = (ulong)(${count}) * ${config.balance.discover}u < (${resident});
if (discovering) balance_tile = LANES;
% endif
% if may_broadcast(config):
const int broadcasting = (${count}) > (${resident});
if (broadcasting) balance_tile = LANES;
% endif
</%def>

## After `prepare`: how the list is shared out, an expression: lanes an entry, and 256 where lanes
## search for edges instead.
<%def name="sharing()">(virtual_width${" | (discovering ? 256u : 0u)" if config.balance.discover else ""})</%def>

<%def name="expand(queue, begin, end, visit)">
% if config.balance.discover:
if (discovering) {
    ${warp_search.expand(queue, begin, end, visit)}
} else
% endif
% if may_broadcast(config):
if (broadcasting) {
    ${pass_on(queue, begin, end, visit)}
} else
% endif
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES / virtual_width) {
    const uint entry_index = entry_first + lane_id() / virtual_width;
    ${items.own(queue, begin, end, "entry_index", "u0", "edge_begin", "uint degree")}
    ${set_apart("entry_index", "degree", "(lane_id() & (virtual_width - 1u)) == 0")}
    ${items.own_edges("part * virtual_width + (lane_id() & (virtual_width - 1u))", "parts * virtual_width", visit)}
}
</%def>

## Put an entry of too many edges on the list of tiles, by one of the lanes that have it.
<%def name="set_apart(index, degree, first_lane)">
% if getattr(config, "tiles", False):
if (${degree} > dyn_threshold) {
    if (${first_lane}) {
        const uint wanted = (${degree} - 1u) / tile_units + 1u, first_tile = atomic_add(tile_count, wanted);
        for (uint k = 0; k < wanted; ++k) tiles[first_tile + k] = (uint2)(${index}, k);
    }
    ${degree} = 0;
}
% endif
</%def>

<%def name="pass_on(queue, begin, end, visit)">
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES) {
    const uint here = min((uint)LANES, (uint)(${end}) - entry_first);
    const entry_t entry = ${items.entry(queue, f"entry_first + min(lane_id(), here - 1u)")};
    const uint my_vertex = ENTRY_VERTEX(entry);
    uint my_degree = ENTRY_DEGREE(entry);
    const offset_t my_begin = ENTRY_BEGIN(entry);
    ${set_apart("(entry_first + lane_id())", "my_degree", "lane_id() < here")}
    for (uint j = 0; j < here; ++j) {
        const uint u0 = lane_shuffle(my_vertex, j), degree = lane_shuffle(my_degree, j);
        const offset_t edge_begin = SHUFFLE_OFFSET(my_begin, j);
        ${items.tally("BROADCASTS")}
        ${items.shared_edges("part * LANES", "parts * LANES", visit)}
    }
}
</%def>

<%!
    def may_broadcast(config):
        return 1 < config.balance.width == config.lanes
%>
