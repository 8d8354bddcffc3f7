## item_thread: one lane walks one vertex's edges; the oldest and, on one lane, the best way.
##
## Contract      /balance/advance.mako
## Scope         lanes
## Cost          a SIMD group takes as long as its largest degree

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="setup()"></%def>

<%def name="expand(queue, begin, end, visit)">
for (uint entry_index = ${begin} + lane_id(); lane_any(entry_index < (${end})); entry_index += LANES) {
    const int has_entry = entry_index < (${end});
    const entry_t entry = ${items.entry(queue, f"has_entry ? entry_index : ({begin})")};
    const uint u0 = ENTRY_VERTEX(entry);
    const offset_t edge_begin = ENTRY_BEGIN(entry);
    const uint degree = has_entry ? ENTRY_DEGREE(entry) : 0u;
    ${items.own_edges("part", "parts", visit)}
}
</%def>
