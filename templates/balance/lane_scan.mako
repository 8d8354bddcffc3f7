## lane_scan: the lanes put their vertices' edges in one row and take them LANES at a time.
##
## Each lane holds one entry; an exclusive scan of the degrees gives every edge a rank, and the lane
## that takes a rank finds the owner by binary search over the scan, in registers. Rows of
## `config.wide` edges or more are walked by all lanes together first, where no search is needed.
##
## Contract      /balance/advance.mako
## Cost          log2(LANES) shuffles per LANES edges; no lane idles but in the last round

<%namespace name="search" file="/balance/search.mako"/>

<%def name="expand(queue, begin, end, visit)">
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES) {
    const int has_entry = entry_first + lane_id() < (${end});
    const entry_t entry = ${queue}[has_entry ? entry_first + lane_id() : (${begin})];
    const uint my_vertex = ENTRY_VERTEX(entry);
    const offset_t my_begin = ENTRY_BEGIN(entry);
    uint my_degree = has_entry ? ENTRY_DEGREE(entry) : 0u;
    lanemask_t wide = lane_ballot(my_degree >= ${config.wide}u);
    while (wide) {
        const uint owner = lanemask_first(wide);
        wide &= wide - 1;
        const uint u = lane_shuffle(my_vertex, owner), degree = lane_shuffle(my_degree, owner);
        const offset_t edge_begin = SHUFFLE_OFFSET(my_begin, owner);
        for (uint i = 0; i < degree; i += LANES) {
            const int active = i + lane_id() < degree;
            const offset_t e = edge_begin + i + lane_id();
            const uint v = active ? indices[e] : 0u;
            ${visit()}
        }
    }
    my_degree = my_degree >= ${config.wide}u ? 0u : my_degree;
    const uint my_rank = lane_scan_exclusive_add(my_degree);
    const uint total = lane_broadcast(my_rank + my_degree, LANES - 1);
    for (uint first = 0; first < total; first += LANES) {
        const uint rank = first + lane_id();
        const int active = rank < total;
        ${search.owner("owner", "my_rank", "rank")}
        const uint u = lane_shuffle(my_vertex, owner);
        const offset_t e = SHUFFLE_OFFSET(my_begin, owner) + (rank - lane_shuffle(my_rank, owner));
        const uint v = active ? indices[e] : 0u;
        ${visit()}
    }
}
</%def>
