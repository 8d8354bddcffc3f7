## lists: a stage's list of edges or vertices, shared among SIMD groups.
##
## fill_tile(), push_tile()   entries, or items, of a tile: as few as keep every SIMD group busy, and at most so many
## each_place()     body sees `active`, in lane-uniform control flow, and HERE, an expression: a place of the list
## In scope         now, slot, state

<%! HERE = "active ? first + lane_id() : tile_begin" %>

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="fill_tile()">${tile("LANES", config.fill_tile)}</%def>

<%def name="push_tile()">${tile("1u", config.push_tile)}</%def>

<%def name="tile(least, most)">max((uint)(${least}), min((uint)(${most}u), now.length / (GROUP_LANES * now.members)))</%def>

<%def name="each_place()">
<%tiles:each_tile count="now.length" size="${capture(fill_tile)}">
    for (uint first = tile_begin; first < tile_end; first += LANES) {
        const int active = first + lane_id() < tile_end;
        ${caller.body()}
    }
</%tiles:each_tile>
</%def>
