## lanes_per_vertex: all lanes of a group walk one vertex's edges together, vertex after vertex.
##
## Contract      /balance/advance.mako
## Cost          coalesced reads of long rows; lanes idle where a degree is below LANES

<%def name="expand(queue, begin, end, visit)">
for (uint entry_index = ${begin}; entry_index < (${end}); ++entry_index) {
    const entry_t entry = ${queue}[entry_index];
    const uint u0 = ENTRY_VERTEX(entry);
    const offset_t edge_begin = ENTRY_BEGIN(entry);
    const uint degree = ENTRY_DEGREE(entry);
    for (uint i = part * LANES; i < degree; i += parts * LANES) {
        const int active0 = i + lane_id() < degree;
        const offset_t e0 = edge_begin + i + lane_id();
        const uint v0 = active0 ? indices[e0] : 0u;
        ${visit(1)}
    }
}
</%def>
