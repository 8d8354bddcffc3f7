## warp_search_local: warp_search with its ranks in local memory instead of registers.
##
## Every lane looks its owner up for itself, so no collective is needed between a rank and its edge;
## where several SIMD groups share a row of entries, they take its rounds in turn.
##
## Contract      /balance/advance.mako
## Scope         lanes
## Cost          log2(LANES) local reads per LANES edges
## Local memory  4 * (LANES + 1) bytes for each SIMD group

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="setup()">
__local uint lane_ranks[GROUP_LANES * (LANES + 1u)];
</%def>

<%def name="expand(queue, begin, end, visit)">
__local uint *const row_ranks = lane_ranks + LANE_GROUP * (LANES + 1u);
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES) {
    const int has_entry = entry_first + lane_id() < (${end});
    const entry_t entry = ${items.entry(queue, f"has_entry ? entry_first + lane_id() : ({begin})")};
    const uint my_degree = has_entry ? ENTRY_DEGREE(entry) : 0u;
    const uint my_rank = lane_scan_exclusive_add(my_degree);
    lane_converge();
    row_ranks[lane_id()] = my_rank;
    if (lane_id() == LANES - 1) row_ranks[LANES] = my_rank + my_degree;
    lane_converge();
    const uint total = row_ranks[LANES];
    for (uint first = part * LANES; first < total; first += parts * LANES) {
        const uint rank0 = first + lane_id();
        const int active0 = rank0 < total;
        uint owner0 = 0;
        ${items.tally("SEARCHES")}
        for (uint step = LANES / 2; step; step >>= 1)
            if (row_ranks[owner0 + step] <= rank0) owner0 += step;
        const entry_t entry0 = ${items.entry(queue, f"active0 ? entry_first + owner0 : ({begin})")};
        const uint u0 = ENTRY_VERTEX(entry0);
        const offset_t e0 = ENTRY_BEGIN(entry0) + (rank0 - row_ranks[owner0]);
        ${items.edge(0)}
        ${visit(1)}
    }
}
</%def>
