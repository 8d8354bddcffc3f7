## queue: the frontiers of one work-group's search, vertices with long rows and with short ones apart.
##
## One array of `capacity` vertices holds both: those of at least `threshold` edges grow from its
## front, the others from its back. With config.keep_levels each level follows the one before in that
## array, which afterwards holds the whole search in order; otherwise two arrays take turns.
##
## config        long_rows, short_rows: which of the two queues are rendered; keep_levels
## In scope      capacity, threshold, indptr, status, and what setup() declares
## Called by     push: lane-uniform control flow; the rest: all work-items of the group, uniformly
## Barriers      none here; the counters of three levels take turns, so that one barrier a level is
##               enough between the last push and the first look at what was pushed
## Overflow      a side reserves, then looks how far the other has come: of two that meet at least the
##               later one sees it, writes nothing and raises STATUS_OVERFLOWED

<%namespace name="rows" file="/frontier/rows.mako"/>

<%def name="sides()"><% return [side for side in ("long", "short") if getattr(config, side + "_rows")] %></%def>

<%def name="setup(queues)">
% for side in ("long", "short"):
uint ${side}_begin = 0, ${side}_count = 0;   // of the frontier: first entry, entries
% endfor
__global uint *queue_from = ${queues}, *queue_to = ${queues};
% if config.one_item:
uint pushed_long = 0, pushed_short = 0;
int overflowed = 0;
% else:
// Entries pushed and entries taken by the SIMD groups, of the levels that take turns.
__local uint pushed_long[3], pushed_short[3], taken_long[3], taken_short[3];
uint turn = 0;
% endif
</%def>

## Names of this level's frontier, each an array that begins with its first entry.
<%def name="frontiers()">
__global const uint *const long_rows = queue_from + long_begin;
__global const uint *const short_rows = queue_from + capacity - short_begin - short_count;
</%def>

<%def name="begin(vertex)">
{
    const int is_long = ${is_long(vertex)};
    long_begin = short_begin = 0;
    long_count = is_long;
    short_count = !is_long;
    queue_from = queues;
    queue_to = queues${"" if config.keep_levels else " + capacity"};
    % if config.one_item:
    pushed_long = pushed_short = 0;
    overflowed = 0;
    queue_from[is_long ? 0 : capacity - 1] = ${vertex};
    % else:
    turn = 0;
    if (lid < 3) pushed_long[lid] = pushed_short[lid] = taken_long[lid] = taken_short[lid] = 0;
    if (lid == 0) queue_from[is_long ? 0 : capacity - 1] = ${vertex};
    % endif
}
</%def>

<%def name="is_long(vertex)">\
% if config.long_rows and config.short_rows:
${rows.at_least(vertex, "threshold")}\
% else:
${int(config.long_rows)}\
% endif
</%def>

## After the barrier that ends a level: its frontier is what was pushed.
<%def name="advance()">
% for side in ("long", "short"):
${side}_begin = ${f"{side}_begin + {side}_count" if config.keep_levels else "0"};
${side}_count = pushed_${side}${"" if config.one_item else "[turn]"};
% endfor
// What did not fit was counted but not written: the search ends here.
% if config.one_item:
if (overflowed)
% else:
if ((ulong)${used("long")} + ${used("short")} + ${0 if config.keep_levels else "long_count + short_count"} > capacity)
% endif
    long_count = short_count = 0;
% if config.one_item:
pushed_long = pushed_short = 0;
% else:
turn = turn == 2 ? 0 : turn + 1;
if (lid == 0) {
    const uint later = turn == 2 ? 0 : turn + 1;
    pushed_long[later] = pushed_short[later] = taken_long[later] = taken_short[later] = 0;
}
% endif
% if not config.keep_levels:
{
    __global uint *const swap = queue_from;
    queue_from = queue_to;
    queue_to = swap;
}
% endif
</%def>

## Append `vertex` of each lane whose `wanted` is true.
<%def name="push(wanted, vertex)">
% if config.one_item:
if (${wanted}) {
    % if config.long_rows and config.short_rows:
    const int is_long = ${is_long(vertex)};
    % else:
    const int is_long = ${int(config.long_rows)};
    % endif
    if (${used("long")} + pushed_long + ${used("short")} + pushed_short < capacity) {
        const uint at = is_long ? ${used("long")} + pushed_long++ : capacity - 1 - ${used("short")} - pushed_short++;
        queue_to[at] = ${vertex};
    } else {
        overflowed = status[STATUS_OVERFLOWED] = 1;
    }
}
% else:
{
    const lanemask_t pushing = lane_ballot(${wanted});
    if (pushing) {
        % if config.long_rows and config.short_rows:
        const lanemask_t is_long = lane_ballot((${wanted}) && ${is_long(vertex)});
        if (is_long) {
            ${reserve("long", "short", "is_long", vertex)}
        }
        if (pushing & ~is_long) {
            ${reserve("short", "long", "pushing & ~is_long", vertex)}
        }
        % elif config.long_rows:
        ${reserve("long", "short", "pushing", vertex)}
        % else:
        ${reserve("short", "long", "pushing", vertex)}
        % endif
    }
}
% endif
</%def>

## Entries of the array that this and earlier levels keep.
<%def name="used(side)">${f"({side}_begin + {side}_count)" if config.keep_levels else "0u"}</%def>

<%def name="reserve(side, other, mask, vertex)">
const lanemask_t mine = ${mask};
uint base = 0;
if (lane_id() == lanemask_first(mine)) base = atomic_add(&pushed_${side}[turn], lanemask_count(mine));
base = lane_shuffle(base, lanemask_first(mine));
const uint mine_end = ${used(side)} + base + lanemask_count(mine);
const uint others = ${used(other)} + *(volatile __local uint *)&pushed_${other}[turn];
if ((ulong)mine_end + others > capacity) {
    status[STATUS_OVERFLOWED] = 1;
} else if (mine >> lane_id() & 1) {
    const uint at = ${used(side)} + base + lanemask_count(mine & lane_mask_lt());
    queue_to[${"at" if side == "long" else "capacity - 1 - at"}] = ${vertex};
}
</%def>

## Hand the frontier's entries to SIMD groups, `size` at a time: the body sees tile_begin, tile_end.
<%def name="each_tile(side, size)">
% if config.one_item:
{
    const uint tile_begin = 0, tile_end = ${side}_count;
    ${caller.body()}
}
% elif config.group_size == config.lanes:
for (uint tile_begin = 0; tile_begin < ${side}_count; tile_begin += ${size}) {
    const uint tile_end = min(tile_begin + ${size}, ${side}_count);
    ${caller.body()}
}
% else:
for (;;) {
    uint tile_claimed = 0;
    if (lane_id() == 0) tile_claimed = atomic_add(&taken_${side}[turn], ${size});
    const uint tile_begin = lane_broadcast(tile_claimed, 0);
    if (tile_begin >= ${side}_count) break;
    const uint tile_end = min(tile_begin + ${size}, ${side}_count);
    ${caller.body()}
}
% endif
</%def>
