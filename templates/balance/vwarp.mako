## vwarp: config.balance.width lanes walk one vertex's edges together; a SIMD group takes several.
##
## Contract      /balance/advance.mako
## Scope         lanes
## Cost          coalesced reads of long rows; lanes idle where a degree is below the width, and all
##               virtual groups of a SIMD group wait for the longest
##
## Reference     S. Hong et al., "Accelerating CUDA graph algorithms at maximum warp", PPoPP 2011

<%!
    def width_of(config):
        """Lanes that share a vertex: all of them where another balancer leaves its long rows to this."""
        return config.balance.width if config.balance.name == "vwarp" else config.lanes
%>

<%namespace name="items" file="/balance/items.mako"/>

<%def name="setup()"></%def>

<%def name="expand(queue, begin, end, visit)">
% if width_of(config) == config.lanes:
for (uint entry_index = ${begin}; entry_index < (${end}); ++entry_index) {
    const entry_t entry = ${items.entry(queue, "entry_index")};
    const uint u0 = ENTRY_VERTEX(entry);
    const offset_t edge_begin = ENTRY_BEGIN(entry);
    const uint degree = ENTRY_DEGREE(entry);
    for (uint i = part * LANES; i < degree; i += parts * LANES) {
        const int active0 = i + lane_id() < degree;
        const offset_t e0 = edge_begin + i + lane_id();
        ${items.edge(0)}
        ${visit(1)}
    }
}
% else:
<% width = width_of(config) %>
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += ${config.lanes // width}u) {
    const uint entry_index = entry_first + lane_id() / ${width}u;
    const int has_entry = entry_index < (${end});
    const entry_t entry = ${items.entry(queue, f"has_entry ? entry_index : ({begin})")};
    const uint u0 = ENTRY_VERTEX(entry);
    const offset_t edge_begin = ENTRY_BEGIN(entry);
    const uint degree = has_entry ? ENTRY_DEGREE(entry) : 0u;
    for (uint i = part * ${width}u + lane_id() % ${width}u; lane_any(i < degree); i += parts * ${width}u) {
        const int active0 = i < degree;
        const offset_t e0 = edge_begin + i;
        ${items.edge(0)}
        ${visit(1)}
    }
}
% endif
</%def>
