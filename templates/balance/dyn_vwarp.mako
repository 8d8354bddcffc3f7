## dyn_vwarp: virtual SIMD groups whose width follows the number of entries.
##
## The width is the resident work-items over the entries, rounded down to a power of two, between
## config.min_virtual_warp and LANES: few entries get many lanes each. Entries too long for this are
## the grid's: advance.each_hub_edge, or a list of tiles for a launch of its own (config.tiles).
##
## Contract      /balance/advance.mako; `prepare` once before a list
## Scope         lanes
##
## Reference     F. Busato, N. Bombieri, IEEE TPDS 26(7), 2015

<%namespace name="items" file="/balance/items.mako"/>

<%def name="setup()"></%def>

<%def name="prepare(count, resident)">
uint virtual_width = ${min(config.min_virtual_warp, config.lanes)}u;
while (virtual_width < LANES && (ulong)virtual_width * 2u * (${count}) <= (${resident})) virtual_width *= 2u;
</%def>

<%def name="expand(queue, begin, end, visit)">
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES / virtual_width) {
    const uint entry_index = entry_first + lane_id() / virtual_width;
    const int has_entry = entry_index < (${end});
    const entry_t entry = ${items.entry(queue, f"has_entry ? entry_index : ({begin})")};
    const uint u0 = ENTRY_VERTEX(entry);
    const offset_t edge_begin = ENTRY_BEGIN(entry);
    uint degree = has_entry ? ENTRY_DEGREE(entry) : 0u;
    % if getattr(config, "tiles", False):
    if (degree > dyn_threshold) {
        if ((lane_id() & (virtual_width - 1u)) == 0) {
            const uint wanted = (degree - 1u) / tile_units + 1u, first_tile = atomic_add(tile_count, wanted);
            for (uint k = 0; k < wanted; ++k) tiles[first_tile + k] = (uint2)(entry_index, k);
        }
        degree = 0;
    }
    % endif
    for (uint i = part * virtual_width + (lane_id() & (virtual_width - 1u)); lane_any(i < degree); i += parts * virtual_width) {
        const int active0 = i < degree;
        const offset_t e0 = edge_begin + i;
        ${items.edge(0)}
        ${visit(1)}
    }
}
</%def>
