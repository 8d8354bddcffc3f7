## units: share the entries of rows of any lengths among all work-items, equally.
##
## functions()      at file scope: UNIT_TILE and unit_row
## each_unit(sums, rows, total)
##                  sums [rows + 1] are the lengths' exclusive sums, the last of them `total`
## each_unit_together(sums, rows, total)
##                  the same, and lanes stay together: those that have none are not `active`
## Body sees        row, unit: the unit-th entry of all is number unit - sums[row] of its row
## In scope         the lane vocabulary, offset_t
## Called by        all work-items, in uniform control flow; control flow in the body is divergent, and
##                  with each_unit_together lane-uniform
## Barriers         none
## Local memory     none
##
## A SIMD group takes UNIT_TILE entries and finds the rows of its first and its last, between which each
## lane finds its own.

<%namespace name="bisect" file="/rows/bisect.mako"/>

<%def name="functions()">\
#define UNIT_TILE (LANES < 4u ? 64u : 16u * LANES)

// The row, from `low` on and below `high`, that holds a unit.
static inline uint unit_row(const __global offset_t *sums, uint low, uint high, const offset_t unit) {
    ${bisect.last("low", "high", "sums[middle] <= unit")}
    return low;
}
</%def>

<%def name="each_unit(sums, rows, total)">${tiles(sums, rows, total, one_lane, caller.body)}</%def>

<%def name="each_unit_together(sums, rows, total)">${tiles(sums, rows, total, together, caller.body)}</%def>

<%def name="tiles(sums, rows, total, lanes_take, body)">
const offset_t unit_stride = (offset_t)(get_global_size(0) / LANES) * UNIT_TILE;
for (offset_t tile = (offset_t)(get_global_id(0) / LANES) * UNIT_TILE; tile < (${total}); tile += unit_stride) {
    const offset_t tile_end = min((offset_t)(tile + UNIT_TILE), (offset_t)(${total}));
    const uint tile_low = unit_row(${sums}, 0u, ${rows}, tile);
    const uint tile_high = unit_row(${sums}, tile_low, ${rows}, tile_end - 1u) + 1u;
    ${lanes_take(sums, body)}
}
</%def>

<%def name="one_lane(sums, body)">
    for (offset_t unit = tile + lane_id(); unit < tile_end; unit += LANES) {
        const uint row = unit_row(${sums}, tile_low, tile_high, unit);
        ${body()}
    }
</%def>

<%def name="together(sums, body)">
    for (offset_t unit_first = tile; unit_first < tile_end; unit_first += LANES) {
        const int active = unit_first + lane_id() < tile_end;
        const offset_t unit = active ? unit_first + lane_id() : unit_first;
        const uint row = unit_row(${sums}, tile_low, tile_high, unit);
        ${body()}
    }
</%def>
