## item_thread: one lane walks one vertex's edges; the oldest and, on one lane, the best way.
##
## Contract      /balance/advance.mako
## Scope         lanes
## Cost          a SIMD group takes as long as its largest degree

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="setup()"></%def>

<%def name="expand(queue, begin, end, visit)">
for (uint entry_index = ${begin} + lane_id(); lane_any(entry_index < (${end})); entry_index += LANES) {
    ${items.own(queue, begin, end, "entry_index", "u0", "edge_begin", "const uint degree")}
    ${items.own_edges("part", "parts", visit)}
}
</%def>
