## wide_rows: the rows of a SIMD group's entries that are long, each walked by all lanes together.
##
## walk(least, visit)   those of `least` edges and above, config.wide_batch of a lane at a time; where
##               config.row_line is given, from the last place before a row that is a multiple of it
## In scope      my_vertex, my_begin, my_degree of each lane's own entry; part, parts: which share of
##               each row is wanted
## Called by     lane-uniform control flow

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="walk(least, visit)">
<% line = getattr(config, "row_line", 0) %>\
lanemask_t wide = lane_ballot(my_degree >= ${least}u);
while (wide) {
    const uint owner = lanemask_first(wide);
    wide &= wide - 1;
    % if items.module.counts(config):
    if (lane_id() == 0) ${items.tally("LANE_ROWS")}
    % endif
    const uint degree = lane_shuffle(my_degree, owner);
    const offset_t edge_begin = SHUFFLE_OFFSET(my_begin, owner);
    % if line:
    const uint before = (uint)edge_begin & ${line - 1}u;
    % endif
    % for k in range(config.wide_batch):
    const uint u${k} = lane_shuffle(my_vertex, owner);
    % endfor
    for (uint i = part * ${config.wide_batch * config.lanes}u; i < degree${" + before" if line else ""}; i += parts * ${config.wide_batch * config.lanes}u) {
        % for k in range(config.wide_batch):
        const uint rank${k} = i + ${k * config.lanes}u + lane_id()${" - before" if line else ""};
        const int active${k} = rank${k} < degree;
        const offset_t e${k} = edge_begin + rank${k};
        ${items.edge(k)}
        % endfor
        ${visit(config.wide_batch)}
    }
}
</%def>
