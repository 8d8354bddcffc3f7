## rounds: the edges of long rows, handed out in rounds that SIMD groups take by turns.
##
## each_edge(row_at, count, units, unit, visit)   the edges of `count` rows by `units` SIMD groups of which this is
##               number `unit`; row_at is an expression in `place` for the entry at a place. A round is
##               config.wide_batch edges a lane of one row, or config.hub_batch where that is given.
##               Where config.row_line is given they begin at places that are multiples of it.
##               Rounds are numbered through, LANES rows at a time by a scan, so that a SIMD group
##               goes from one of its rounds to the next without a look at the rows between them
## Called by     lane-uniform control flow
## Cost          a scan for LANES rows, a ballot and a few shuffles for a round

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="each_edge(row_at, count, units, unit, visit)">
<% step, batch = config.wide_batch * config.lanes, getattr(config, "hub_batch", 0) * config.lanes %>\
<% line = getattr(config, "row_line", 0) %>\
{
    const uint row_count = ${count};
    uint turn = ${unit};   // which of the rounds of the rows at hand is the next of this SIMD group
    for (uint first = 0; first < row_count; first += LANES) {
        const int has_row = first + lane_id() < row_count;
        const uint place = has_row ? first + lane_id() : first;
        const entry_t row = ${row_at};
        const uint my_vertex = ENTRY_VERTEX(row);
        const offset_t my_begin = ENTRY_BEGIN(row);
        % if line:
        const uint my_before = has_row ? (uint)my_begin & ${line - 1}u : 0u;
        const uint my_degree = has_row ? ENTRY_DEGREE(row) + my_before : 0u;
        % else:
        const uint my_degree = has_row ? ENTRY_DEGREE(row) : 0u;
        % endif
        const uint my_rounds = my_degree / ${batch or step}u + (my_degree % ${batch or step}u != 0u);
        const uint my_round = lane_scan_exclusive_add(my_rounds);
        const uint rounds = lane_broadcast(my_round + my_rounds, LANES - 1);
        for (; turn < rounds; turn += ${units}) {
            const uint owner = lanemask_count(lane_ballot(my_round <= turn)) - 1u;
            % if line:
            const uint before = lane_shuffle(my_before, owner);
            const offset_t begin = SHUFFLE_OFFSET(my_begin, owner) - before;
            % else:
            const offset_t begin = SHUFFLE_OFFSET(my_begin, owner);
            % endif
            const uint degree = lane_shuffle(my_degree, owner);
            const uint round_begin = (turn - lane_shuffle(my_round, owner)) * ${batch or step}u;
            % for k in range(config.wide_batch):
            const uint u${k} = lane_shuffle(my_vertex, owner);
            % endfor
            % if batch:
            for (uint i = round_begin; i < min(round_begin + ${batch}u, degree); i += ${step}u) {
            % else:
            {
                const uint i = round_begin;
            % endif
                % for k in range(config.wide_batch):
                const uint rank${k} = i + ${k * config.lanes}u + lane_id();
                const int active${k} = rank${k} < degree${f" && rank{k} >= before" if line else ""};
                const offset_t e${k} = begin + rank${k};
                ${items.edge(k)}
                % endfor
                ${visit(config.wide_batch)}
            }
        }
        turn -= rounds;
    }
}
</%def>
