## choose: what vertices choose whose rows are summed in one piece.
##
## rows(bodies, kind, place, keeps)    of a turn, those whose rows are of one kind, the place-th
## each_key(bodies, unit)    body sees `next_to` and `value` of each edge that counts, from `begin` on
##                 for `length` edges
## add(kind, keeps)          count it; add_kept() after the loop, by groups
##                 `bodies` and `keeps` are what /communities/turns.mako calls so
## In scope        the kernel's arguments; about, first_of_kind; group_kept, in local memory
## Called by       all work-items, in uniform control flow
## Barriers        of the work-group

<%!
    # Steps of a row that are taken together, by who takes the row.
    AHEAD = {"thread": 1, "item": 4, "lanes": 2, "group": 4}
%>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="table" file="/rows/tally.mako"/>
<%namespace name="best" file="/rows/best.mako"/>

## Neighbours of several steps, and what they are counted for, are asked for at once: until the first is
## counted none waits for another.
<%def name="each_key(bodies, unit)">
<% steps = [str(step) for step in range(AHEAD[unit])] %>\
for (uint i = UNIT_ITEM; i < length; i += ${len(steps)}u * UNIT_ITEMS) {
% for k in steps:
    const uint i${k} = i + ${k}u * UNIT_ITEMS;
    const uint u${k} = i${k} < length ? indices[begin + i${k}] : v;
    const sum_t value${k} = i${k} < length ? WEIGHT(begin + i${k}) : 0;
% endfor
% for k in steps:
    const int counts${k} = ${bodies.counted(f"u{k}", "v")};
% endfor
% for k in steps:
    const uint key${k} = counts${k} ? ${bodies.key(f"u{k}")} : NO_KEY;
% endfor
% for k in steps:
    if (key${k} != NO_KEY) {
        ${caller.body(next_to=f"key{k}", value=f"value{k}")}
    }
% endfor
}
</%def>

## Count an edge, that to the vertex' own community apart: many are, and would wait for one another. A
## thread has that sum in its table.
<%def name="add(next_to, value, kind, keeps)">
% if keeps and kind["unit"] != "thread":
if (${next_to} == own) kept += ${value};
else
% endif
${table.add(next_to, value, kind)}
</%def>

## The sums of a work-group, to group_kept.
<%def name="add_kept()">
lane_converge();
kept = lane_reduce_sum(kept);
if (lane_id() == 0u) sum_add_local(&group_kept, kept);
</%def>

## What the vertices of a turn whose rows are of one kind choose.
<%def name="rows(bodies, kind, place, keeps)">
{
    ${table.use(kind)}
    const uint count = about[4 + ${place}];
% if kind["unit"] == "lanes":
    <%share:each_shared_tile count="count">
        const int there = lane_id() < width && first + lane_id() < count;
        const uint candidate = vertices[first_of_kind + (uint)(there ? first + lane_id() : first)];
        int wanting = 0;
        if (there) {
            ${bodies.look("candidate")}
            wanting = wanted;
            if (!wanted) targets[candidate] = NO_KEY;
        }
        lanemask_t left = lane_ballot(wanting);
        while (left) {
            const uint v = lane_shuffle(candidate, lanemask_first(left));
            left &= left - 1;
            ${bodies.look("v")}
            ${row(bodies, kind, keeps)}
        }
    </%share:each_shared_tile>
% else:
% if kind["unit"] == "thread":
    if (TOGETHER) row_claims[row_claim] = 0u;   // a thread alone takes all rows of every turn
% endif
    <%table:each_row count="count" kind="${kind}">
        const uint v = vertices[first_of_kind + row_slot];
        ${bodies.look("v")}
        if (!wanted) {
            if (UNIT_ITEM == 0u) targets[v] = NO_KEY;
            continue;
        }
        ${row(bodies, kind, keeps)}
    </%table:each_row>
% endif
% if kind["unit"] != "thread":
    lane_converge();
    group_barrier();                            // tables are of another kind now
% endif
}
</%def>

<%def name="row(bodies, kind, keeps)">
const offset_t begin = indptr[v];
const uint length = (uint)(indptr[v + 1] - begin);
sum_t kept = 0;
% if keeps and kind["unit"] == "group":
if (get_local_id(0) == 0) group_kept = 0;
% endif
${table.clear("length", kind)}
<%self:each_key bodies="${bodies}" unit="${kind['unit']}" args="next_to, value">
    ${add(next_to, value, kind, keeps)}
</%self:each_key>
% if keeps and kind["unit"] == "group":
${add_kept()}
% endif
${table.finish()}
% if keeps and kind["unit"] == "group":
kept = group_kept;
% elif keeps and kind["unit"] == "lanes":
kept = lane_reduce_sum(kept);
% elif keeps and kind["unit"] == "thread":
kept = sums[own];
% endif
<%best:best floor="LONG_MIN" kind="${kind}">
<%def name="score(key, sum)">${bodies.score(key, sum)}</%def>
<%def name="most(sum)">PULL(${sum})</%def>
</%best:best>
const long floor = ${bodies.floor("kept")};
if (best_score <= floor) best_key = NO_KEY;
if (UNIT_ITEM == 0u) {
    targets[v] = best_key;
    ${bodies.chosen("v")}
}
</%def>
