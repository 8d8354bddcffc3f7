## cws: the largest rows by a work-group at a time, the next by a SIMD group, the rest by a scan.
##
## Each work-item holds one entry. Rows of more than config.balance.group_threshold edges are walked by all
## work-items together, one row after another; then rows of more than config.balance.lane_threshold edges by
## each SIMD group; what is left is put in one row of config.balance.scratch places at a time, which any
## work-item takes.
##
## Contract      /balance/advance.mako
## Scope         group: at most GROUP_SIZE entries at a time
## Cost          two barriers a row of the first kind, two a round of the last
## Local memory  (8 or 12 bytes) * (scratch + 1)
##
## Reference     D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012

<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="group_ranks" file="/balance/shared/group_ranks.mako"/>

<%def name="setup()">
${group_ranks.setup()}
__local uint taker, taken_vertex, taken_degree;
__local offset_t taken_begin;
__local uint scratch_vertices[${config.balance.scratch}];
__local offset_t scratch_edges[${config.balance.scratch}];
</%def>

<%def name="expand(queue, begin, end, visit)">
{
    const uint item = (uint)get_local_id(0);
    ${items.own(queue, begin, end, f"({begin}) + item", degree="uint left")}
    ${by_group(visit)}
    ${by_lanes(visit)}
    ${by_scan(visit)}
}
</%def>

## The lowest work-item with such a row is next; NO_SPACE is above all of them.
<%def name="by_group(visit)">
for (;;) {
    if (item == 0) taker = NO_SPACE;
    group_barrier();
    if (left > ${config.balance.group_threshold}u) atomic_min(&taker, item);
    group_barrier();
    const uint owner = taker;
    if (owner == NO_SPACE) break;
    if (item == owner) {
        taken_vertex = my_vertex;
        taken_begin = my_begin;
        taken_degree = left;
        left = 0;
        ${items.tally("GROUP_ROWS")}
    }
    group_barrier();
    for (uint first = LANE_GROUP * LANES; first < taken_degree; first += GROUP_SIZE) {
        const int active0 = first + lane_id() < taken_degree;
        const uint u0 = taken_vertex;
        const offset_t e0 = taken_begin + first + lane_id();
        ${items.edge(0)}
        ${visit(1)}
    }
}
</%def>

<%def name="by_lanes(visit)">
lanemask_t wide = lane_ballot(left > ${config.balance.lane_threshold}u);
while (wide) {
    const uint owner = lanemask_first(wide);
    wide &= wide - 1;
    const uint degree = lane_shuffle(left, owner);
    const offset_t edge_begin = SHUFFLE_OFFSET(my_begin, owner);
    const uint u0 = lane_shuffle(my_vertex, owner);
    if (lane_id() == owner) {
        left = 0;
        ${items.tally("LANE_ROWS")}
    }
    ${items.shared_edges("0", "LANES", visit)}
}
</%def>

<%def name="by_scan(visit)">
${group_ranks.scan("my_rank", "total", "left", in_order=False)}
for (uint first = 0; first < total; first += ${config.balance.scratch}u) {
    const uint past = min(my_rank + left, first + ${config.balance.scratch}u);
    for (uint at = max(my_rank, first); at < past; ++at) {
        scratch_vertices[at - first] = my_vertex;
        scratch_edges[at - first] = my_begin + (at - my_rank);
    }
    group_barrier();
    const uint filled = min(total - first, ${config.balance.scratch}u);
    if (item == 0) { ${items.tally("SCAN_ROUNDS")} }
    for (uint place = LANE_GROUP * LANES; place < filled; place += GROUP_SIZE) {
        const int active0 = place + lane_id() < filled;
        const uint from0 = active0 ? place + lane_id() : 0u;
        const uint u0 = scratch_vertices[from0];
        const offset_t e0 = scratch_edges[from0];
        ${items.edge(0)}
        ${visit(1)}
    }
    group_barrier();
}
</%def>
