## aside: vertices that one work-group's search sets aside, until its frontier is empty.
##
## What `visit` sets aside is put into one of two arrays of `capacity` vertices. When the frontier is
## empty, the snippet `again` is run for each of them: what it enqueues is the next frontier, what it
## sets aside once more goes into the other array, the rest is forgotten. Then the two take turns.
##
## config        one_item
## In scope      the names that /search/snippets.mako passes, capacity, status, and what setup() declares
## Called by     push: lane-uniform control flow; the rest: all work-items of the group, uniformly
## Barriers      one, in ask_again; between two of them there is the one that ends a level
## Overflow      what does not fit is counted but not written, and then none of it is asked about

<%namespace name="queue" file="/search/queue.mako"/>
<%namespace name="snippets" file="/search/snippets.mako"/>

<%def name="setup(arrays)">
__global uint *aside_from = ${arrays}, *aside_to = ${arrays} + capacity;
% if config.one_item:
uint aside_count = 0, aside_again = 0;
% else:
__local uint aside_counts[2];   // of the two arrays; aside_turn says whose is aside_from's
uint aside_turn = 0;
% endif
</%def>

<%def name="begin()">
% if config.one_item:
aside_count = 0;
% else:
aside_turn = 0;
if (lid < 2) aside_counts[lid] = 0;
% endif
</%def>

## How many there are: the same for all work-items where the frontier is empty.
<%def name="count()">${"aside_count" if config.one_item else "*(volatile __local uint *)&aside_counts[aside_turn]"}</%def>

## Set `vertex` aside of each lane whose `wanted` is true.
<%def name="push(wanted, vertex)">${append(wanted, vertex, "aside_from", "aside_count", "aside_turn")}</%def>

<%def name="append(wanted, vertex, array, count, turn)">
% if config.one_item:
if (${wanted}) {
    if (${count} < capacity) ${array}[${count}++] = ${vertex};
    else status[STATUS_OVERFLOWED] = 1;
}
% else:
{
    const lanemask_t setting = lane_ballot(${wanted});
    if (setting) {
        uint base = 0;
        if (lane_id() == lanemask_first(setting)) base = atomic_add(&aside_counts[${turn}], lanemask_count(setting));
        base = lane_shuffle(base, lanemask_first(setting));
        if ((ulong)base + lanemask_count(setting) > capacity) status[STATUS_OVERFLOWED] = 1;
        else if (setting >> lane_id() & 1) ${array}[base + lanemask_count(setting & lane_mask_lt())] = ${vertex};
    }
}
% endif
</%def>

## Ask about all of them; the frontier is empty, and gets what is enqueued.
<%def name="ask_again()">
{
    const uint asked = ${count()} > capacity ? 0 : ${count()};
    % if config.one_item:
    aside_again = 0;
    % endif
    for (uint begin = 0; begin < asked; begin += GROUP_SIZE) {
        uint enqueued = 0, enqueues = 0, set_aside = 0, sets_aside = 0;
        if (begin + lid < asked) search_again(${snippets.values()}, aside_from[begin + lid], &enqueued, &enqueues, &set_aside, &sets_aside);
        ${snippets.check("enqueued", "enqueues")}
        ${snippets.check("set_aside", "sets_aside")}
        ${queue.push("enqueues", "enqueued")}
        ${append("sets_aside", "set_aside", "aside_to", "aside_again", "aside_turn ^ 1")}
    }
    % if config.one_item:
    aside_count = aside_again;
    % else:
    group_barrier_global();
    if (lid == 0) aside_counts[aside_turn] = 0;
    aside_turn ^= 1;
    % endif
    __global uint *const swap = aside_from;
    aside_from = aside_to;
    aside_to = swap;
}
</%def>
