## best: which key of a row scores best, once a tally has the sums of all (tally.mako).
##
## best(floor)             body defines score(key, sum), which sets `tally_score`, a long, or leaves it
##                         at LONG_MIN, and most(sum), which no key of that sum scores above; leaves
##                         in `best_score` and `best_key` what scores highest above `floor`; of
##                         several the one whose TALLY_ORDER(key) is lowest; NO_KEY if none
## In scope      what the tally of the row left, TALLY_ORDER(key), and `kind`, if it is not `tally`
## Called by     all work-items of a unit
## Barriers      of the unit

<%def name="best(floor, kind=None)">
<% kind = kind or tally %>\
long best_score = ${floor};
uint best_key = NO_KEY${"" if kind["unit"] == "thread" else ", best_order = NO_KEY"};
% if kind["unit"] in ("thread", "item"):
for (uint key_at = 0u; key_at < key_count; ++key_at) {
    const uint key = keys[key_at${"" if kind["unit"] == "thread" else " * GROUP_SIZE"}];
    const sum_t key_sum = sums[${"key" if kind["unit"] == "thread" else "key_at * GROUP_SIZE"}];
% if kind["unit"] == "thread":
    sums[key] = 0;
% endif
% else:
for (uint key_at = UNIT_ITEM; key_at <= key_mask; key_at += UNIT_ITEMS) {
    const uint key = keys[key_at];
    if (key == NO_KEY) continue;
    const sum_t key_sum = sums[key_at];
% endif
% if kind["unit"] == "thread":
    // What cannot win is not looked up; what decides between equals is found only for those.
    if (${caller.most("key_sum")} < best_score) continue;
% endif
    long tally_score = LONG_MIN;
    ${caller.score("key", "key_sum")}
% if kind["unit"] == "thread":
    if (tally_score > best_score) {
        best_score = tally_score;
        best_key = key;
    } else if (tally_score == best_score && best_key != NO_KEY && TALLY_ORDER(key) < TALLY_ORDER(best_key)) {
        best_key = key;
    }
}
% else:
    const uint order = TALLY_ORDER(key);
    // Equal to the floor is not above it: nothing has been found then.
    if (tally_score > best_score || (tally_score == best_score && best_key != NO_KEY && order < best_order)) {
        best_score = tally_score;
        best_order = order;
        best_key = key;
    }
}
% endif
% if kind["unit"] in ("lanes", "group"):
unit_barrier();
${best_of_lanes()}
% endif
% if kind["unit"] == "group" and kind["group_size"] > kind["lanes"]:
if (lane_id() == 0u) {
    group_scores[LANE_GROUP] = best_score;
    group_orders[LANE_GROUP] = best_order;
    group_keys[LANE_GROUP] = best_key;
}
unit_barrier();
for (uint other = 0u; other < GROUP_LANES; ++other) {
    if (group_keys[other] == NO_KEY || group_scores[other] < best_score) continue;
    if (group_scores[other] > best_score || best_key == NO_KEY || group_orders[other] < best_order) {
        best_score = group_scores[other];
        best_order = group_orders[other];
        best_key = group_keys[other];
    }
}
unit_barrier();
% endif
</%def>

## What scores best on all lanes, to each of them.
<%def name="best_of_lanes()">
{
    const long unit_score = lane_reduce_in_highest(LANE_ARGS best_score);
    const uint mine = best_key != NO_KEY && best_score == unit_score ? best_order : NO_KEY;
    best_order = lane_reduce_min(mine);
    best_key = lane_reduce_min(best_key != NO_KEY && mine == best_order ? best_key : NO_KEY);
    best_score = unit_score;
}
</%def>
