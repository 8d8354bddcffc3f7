## row_sums: of each row the sum of what a body gives of its edges, long rows by many work-items.
##
## Rows wait in classes by their length, one after the other; a work-group serves one class, with a
## team of work-items for each row, and takes as many rows after each other as its class says. Rows
## beyond `piece` edges are cut into pieces, whose sums a second launch puts together in their order. So
## every sum is taken in an order that depends on the device alone. With several columns a team has a work-item for each column, which takes all edges.
##
## arguments(type)           parameters of a kernel; its launch passes RowShares.arguments
## each_sum(type, pieced)    body defines term(e, column), the value of an edge,
##                           done(row, column, sum), run once a row and column by one work-item, and
##                           ahead(row, column, leads), declarations before the sum that `done` sees:
##                           what is loaded there, on work-items that lead, does not wait for the sum;
##                           pieced: for rows in pieces, in a launch of RowShares.pieced_groups
## magnitude(x)              of a number; to a CPU the built-in function is a call, which costs as much
##                           as the edges of a short row
## In scope      shares (what RowShares renders), indptr, the lane and group vocabulary with add in
##               `type`
## Called by     all work-items of a plain launch, in uniform control flow
## Barriers      those of a reduction over the group
## Local memory  that of the group vocabulary
## Choice        one lane is a CPU's thread: rows go by ranges of about as many edges, and in long rows
##               several sums at once hide the latency of additions; a short row has one loop, which
##               costs one misprediction at its end
<%! LONG_ROW = 16 %>\

<%def name="arguments(type)">\
    __global const uint *restrict share_begins,
% if shares["ordered"]:
    __global const uint *restrict share_rows,
% endif
% if shares["pieced"]:
    __global const uint *restrict piece_parts,
    __global const uint *restrict piece_begins,
    __global ${type} *piece_sums,
% endif
</%def>

<%def name="each_sum(type, pieced=False)">
% if pieced:
for (uint share_at = (uint)get_global_id(0); share_at < ${shares["pieced"] * shares["columns"]}u; share_at += (uint)get_global_size(0)) {
    const uint share_long = share_at / ${shares["columns"]}u, share_c = share_at % ${shares["columns"]}u;
    const uint share_row = ${row_of("piece_begins[share_long]")};
    ${type} share_sum = 0;
    for (uint share_piece = piece_begins[share_long]; share_piece < piece_begins[share_long + 1]; ++share_piece)
        share_sum += piece_sums[share_piece * ${shares["columns"]}u + share_c];
    ${caller.ahead("share_row", "share_c", "1")}
    ${caller.done("share_row", "share_c", "share_sum")}
}
% elif shares["ranges"]:
const uint share_end = share_begins[get_group_id(0) + 1];
for (uint share_row = share_begins[get_group_id(0)]; share_row < share_end; ++share_row) {
    offset_t share_edge = indptr[share_row];
    const offset_t share_row_end = indptr[share_row + 1];
% if shares["columns"] == 1:
    ${type} share_sum = 0;
    if (share_row_end - share_edge >= ${LONG_ROW}u) {
        ${type} share_sum_b = 0, share_sum_c = 0, share_sum_d = 0;
#pragma unroll 1
        for (; share_edge + 4 <= share_row_end; share_edge += 4) {
            share_sum += ${caller.term("share_edge", "0u")};
            share_sum_b += ${caller.term("(share_edge + 1)", "0u")};
            share_sum_c += ${caller.term("(share_edge + 2)", "0u")};
            share_sum_d += ${caller.term("(share_edge + 3)", "0u")};
        }
        share_sum = (share_sum + share_sum_b) + (share_sum_c + share_sum_d);
    }
#pragma unroll 1
    for (; share_edge < share_row_end; ++share_edge) share_sum += ${caller.term("share_edge", "0u")};
    ${caller.ahead("share_row", "0u", "1")}
    ${caller.done("share_row", "0u", "share_sum")}
% else:
    ${type} share_sums[${shares["columns"]}] = {0};
    for (; share_edge < share_row_end; ++share_edge)
        for (uint share_c = 0u; share_c < ${shares["columns"]}u; ++share_c)
            share_sums[share_c] += ${caller.term("share_edge", "share_c")};
    for (uint share_c = 0u; share_c < ${shares["columns"]}u; ++share_c) {
        ${caller.ahead("share_row", "share_c", "1")}
        ${caller.done("share_row", "share_c", "share_sums[share_c]")}
    }
% endif
}
% else:
uint share_class = 0u;
% for index in range(1, len(shares["teams"])):
share_class += (uint)get_group_id(0) >= share_begins[${3 * index}];
% endfor
% for index, team in enumerate(shares["teams"]):
<%
    cut = shares["pieced"] and index == 0
    leads = " && share_member == 0u" if shares["columns"] == 1 else ""
%>\
if (share_class == ${index}u) {
    const uint share_member = (uint)get_local_id(0) % ${team}u;
    const uint share_c = ${"0u" if shares["columns"] == 1 else "share_member"};
    const uint share_tiles = share_begins[${3 * index + 2}], share_stop = share_begins[${3 * index + 4}];
    uint share_slot = share_begins[${3 * index + 1}]
        + ((uint)get_group_id(0) - share_begins[${3 * index}]) * share_tiles * ${shares["group_size"] // team}u
        + (uint)get_local_id(0) / ${team}u;
    uint share_next = share_slot < share_stop ? ${row_of("share_slot")} : 0u;
    offset_t share_next_edge = share_slot < share_stop ? indptr[share_next] : 0;
    offset_t share_next_end = share_slot < share_stop ? indptr[share_next + 1] : 0;
    for (uint share_tile = 0u; share_tile < share_tiles; ++share_tile) {
        const uint share_row = share_next;
        const int share_leads = share_slot < share_stop${leads};
        ${caller.ahead("share_row", "share_c", "share_leads")}
        offset_t share_edge = share_next_edge, share_row_end = share_next_end;
% if cut:
        const uint share_place = share_slot;
        if (share_slot < share_stop) {
            share_edge += (offset_t)piece_parts[share_slot] * ${shares["piece"]}u;
            share_row_end = min(share_row_end, share_edge + ${shares["piece"]}u);
        }
% endif
        // Where the next row is, while this one is summed.
        share_slot += ${shares["group_size"] // team}u;
        const int share_more = share_tile + 1u < share_tiles && share_slot < share_stop;
        share_next = share_more ? ${row_of("share_slot")} : 0u;
        share_next_edge = share_more ? indptr[share_next] : 0;
        share_next_end = share_more ? indptr[share_next + 1] : 0;
        ${type} share_sum = 0;
% if shares["columns"] == 1:
        offset_t share_left = share_row_end - share_edge;
        share_left -= min(share_left, (offset_t)share_member);
        share_edge += share_member;
% if team < shares["lanes"]:
        {
            ${several(type, team, caller.term)}
        }
% else:
        for (; share_left; share_left -= min(share_left, (offset_t)${shares["member_edges"] * team}u)) {
            ${several(type, team, caller.term)}
            share_edge += ${shares["member_edges"] * team}u;
        }
% endif
        lane_converge();
        ${within(team)}
% else:
#pragma unroll 4
        for (; share_edge < share_row_end; ++share_edge) share_sum += ${caller.term("share_edge", "share_member")};
        lane_converge();
% endif
        if (share_leads) {
% if cut:
            piece_sums[share_place * ${shares["columns"]}u + share_c] = share_sum;
% else:
            ${caller.done("share_row", "share_c", "share_sum")}
% endif
        }
    }
}
% endfor
% endif
</%def>

## The next edges of a member, whose loads do not wait for each other.
<%def name="several(type, team, term)">
% for k in range(shares["member_edges"]):
const ${type} share_value_${k} = ${k * team}u < share_left ? ${term(f"(share_edge + {k * team}u)", "0u")} : 0;
% endfor
% for k in range(shares["member_edges"]):
share_sum += share_value_${k};
% endfor
</%def>

<%def name="row_of(slot)">${f"share_rows[{slot}]" if shares["ordered"] else slot}</%def>

## The sum over a team, on its first member at least.
<%def name="within(team)">
% if team > shares["lanes"]:
    share_sum = group_reduce_add(share_sum);
% else:
% for step in (1 << bit for bit in reversed(range(team.bit_length() - 1))):
    share_sum += add_shuffle(LANE_ARGS share_sum, lane_id() ^ ${step}u);
% endfor
% endif
</%def>

<%def name="magnitude(x)">${f"(({x}) < 0 ? -({x}) : ({x}))" if shares["ranges"] else f"fabs({x})"}</%def>
