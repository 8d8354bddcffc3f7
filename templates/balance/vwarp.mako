## vwarp: config.balance.width lanes walk one vertex's edges together; a SIMD group takes several.
##
## config.balance.shuffle   the lanes load LANES entries at once, side by side, and virtual groups pass
##               those of their own lanes on, instead of all lanes reading the same entry
## config.balance.gather    0, or: rows of so many edges are first walked by all lanes
##
## Contract      /balance/advance.mako
## Scope         lanes
## Cost          coalesced reads of long rows; lanes idle where a degree is below the width, and all
##               virtual groups of a SIMD group wait for the longest
##
## Reference     S. Hong et al., "Accelerating CUDA graph algorithms at maximum warp", PPoPP 2011;
##               shuffle and gather: F. Busato's "Helix"

<%!
    def asked(config, name):
        """A number of the balancer; none where another leaves its long rows to this."""
        return getattr(config.balance, name) if config.balance.name == "vwarp" else 0

    def width_of(config):
        """Lanes that share a vertex: all of them where another balancer leaves its long rows to this."""
        return asked(config, "width") or config.lanes

    def short(config, degree):
        """The degree that is left of an entry's."""
        least = asked(config, "gather")
        return f"({degree} < {least}u ? {degree} : 0u)" if least else degree
%>

<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="wide_rows" file="/balance/shared/wide_rows.mako"/>

<%def name="setup()"></%def>

<%def name="expand(queue, begin, end, visit)">
<%
    width = width_of(config)
    share = f"part * {width}u + lane_id() % {width}u"
%>
% if asked(config, "gather"):
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES) {
    ${items.own(queue, begin, end, "entry_first + lane_id()")}
    ${wide_rows.walk(asked(config, "gather"), visit)}
}
% endif
% if asked(config, "shuffle"):
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES) {
    ${items.own(queue, begin, end, "entry_first + lane_id()")}
    for (uint turn = 0; turn < ${width}u; ++turn) {
        const uint owner = ${"turn" if width == config.lanes else f"(lane_id() & ~{width - 1}u) + turn"};
        const uint u0 = lane_shuffle(my_vertex, owner), whole_degree = lane_shuffle(my_degree, owner);
        const offset_t edge_begin = SHUFFLE_OFFSET(my_begin, owner);
        const uint degree = ${short(config, "whole_degree")};
        ${items.tally("BROADCASTS")}
        ${items.own_edges(share, f"parts * {width}u", visit)}
    }
}
% elif width == config.lanes:
for (uint entry_index = ${begin}; entry_index < (${end}); ++entry_index) {
    const entry_t entry = ${items.entry(queue, "entry_index")};
    const uint u0 = ENTRY_VERTEX(entry);
    const offset_t edge_begin = ENTRY_BEGIN(entry);
    const uint degree = ${short(config, "ENTRY_DEGREE(entry)")};
    ${items.shared_edges("part * LANES", "parts * LANES", visit)}
}
% else:
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += ${config.lanes // width}u) {
    const uint entry_index = entry_first + lane_id() / ${width}u;
    ${items.own(queue, begin, end, "entry_index", "u0", "edge_begin", "const uint degree", short(config, "ENTRY_DEGREE(entry)"))}
    ${items.own_edges(share, f"parts * {width}u", visit)}
}
% endif
</%def>
