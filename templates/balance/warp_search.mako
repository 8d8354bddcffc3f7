## warp_search: the lanes put their vertices' edges in one row and take them LANES at a time.
##
## Each lane holds one entry; an exclusive scan of the degrees gives every edge a rank, and the lane
## that takes a rank finds the owner by binary search over the scan, in registers. Rows of
## `config.wide` edges or more (0: none) are walked by all lanes together first, where no search is needed; where
## there are more SIMD groups than entries, each takes its `part` of such a row.
##
## config.balance.extended   where the last lane's row is longer than LANES and still fills whole rounds, these
##               are handed out without a search
##
## Contract      /balance/advance.mako
## Scope         lanes
## Cost          log2(LANES) shuffles per LANES edges; no lane idles but in the last round

<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="search" file="/balance/shared/search.mako"/>
<%namespace name="wide_rows" file="/balance/shared/wide_rows.mako"/>

<%def name="setup()"></%def>

<%def name="expand(queue, begin, end, visit)">
for (uint entry_first = ${begin}; entry_first < (${end}); entry_first += LANES) {
    ${items.own(queue, begin, end, "entry_first + lane_id()", degree="uint my_degree")}
    % if config.wide:
    ${wide_rows.walk(config.wide, visit)}
    my_degree = my_degree >= ${config.wide}u ? 0u : my_degree;
    % endif
    if (part) my_degree = 0;
    const uint my_rank = lane_scan_exclusive_add(my_degree);
    const uint total = lane_broadcast(my_rank + my_degree, LANES - 1);
    for (uint first = 0; first < total; first += ${config.scan_batch * config.lanes}u) {
        % for k in range(config.scan_batch):
        const uint rank${k} = first + ${k * config.lanes}u + lane_id();
        const int active${k} = rank${k} < total;${items.tally("SEARCHES")}
        ${search.owner(f"owner{k}", "my_rank", f"rank{k}")}
        const uint u${k} = lane_shuffle(my_vertex, owner${k});
        const offset_t e${k} = SHUFFLE_OFFSET(my_begin, owner${k}) + (rank${k} - lane_shuffle(my_rank, owner${k}));
        ${items.edge(k)}
        % endfor
        ${visit(config.scan_batch)}
        % if config.balance.extended:
        ${extend(visit)}
        % endif
    }
}
</%def>

<%def name="extend(visit)">
const uint last_owner = lane_shuffle(owner${config.scan_batch - 1}, LANES - 1);
const uint last_degree = lane_shuffle(my_degree, last_owner);
if (first + ${config.scan_batch}u * LANES <= total && last_degree > LANES) {
    const uint last_vertex = lane_shuffle(my_vertex, last_owner), last_rank = lane_shuffle(my_rank, last_owner);
    const offset_t last_begin = SHUFFLE_OFFSET(my_begin, last_owner);
    while (first + ${config.scan_batch + 1}u * LANES <= last_rank + last_degree) {
        const int active0 = 1;
        const uint u0 = last_vertex;
        const offset_t e0 = last_begin + (first + ${config.scan_batch}u * LANES - last_rank) + lane_id();
        ${items.edge(0)}
        ${visit(1)}
        first += LANES;
    }
}
</%def>
