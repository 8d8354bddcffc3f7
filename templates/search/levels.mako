## levels: one search by one work-group, level after level, over the edges of its frontier.
##
## Long rows are walked by a SIMD group each, which takes them one by one from a counter in local
## memory; short rows as config.balance.name says.
##
## config        long_rows, short_rows, keep_levels, and what /balance/advance.mako asks for
## In scope      the names that /search/snippets.mako passes, threshold, capacity, queues, offsets
## Called by     all work-items of one work-group, in uniform control flow
## Barriers      one a level, and one after each snippet of the group

<%namespace name="queue" file="/search/queue.mako"/>
<%namespace name="aside" file="/search/aside.mako"/>
<%namespace name="snippets" file="/search/snippets.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="whole_group" file="/balance/vwarp.mako"/>

## `count` edges a lane: all are asked for before any is visited, so that the questions overlap.
<%def name="visit(count)">
% for k in range(count):
const int wanted${k} = active${k}${f" && search_where({capture(snippets.values)}, u{k}, v{k}, e{k})" if hooks.get("where") else ""};
% endfor
% for k in range(count):
uint enqueued${k} = 0, enqueues${k} = 0;
% if hooks.get("again"):
uint set_aside${k} = 0, sets_aside${k} = 0;
% endif
if (wanted${k}) {
    % if hooks.get("visit"):
    search_visit(${snippets.values()}, u${k}, v${k}, e${k}, &enqueued${k}, &enqueues${k}${f", &set_aside{k}, &sets_aside{k}" if hooks.get("again") else ""});
    % endif
    ${snippets.check(f"enqueued{k}", f"enqueues{k}")}
    % if hooks.get("again"):
    ${snippets.check(f"set_aside{k}", f"sets_aside{k}")}
    % endif
}
% endfor
% for k in range(count):
${queue.push(f"enqueues{k}", f"enqueued{k}")}
% if hooks.get("again"):
${aside.push(f"sets_aside{k}", f"set_aside{k}")}
% endif
% endfor
</%def>

<%def name="run()">
{
    const uint part = 0, parts = 1;
    ${queue.begin("source")}
    % if hooks.get("again"):
    ${aside.begin()}
    % endif
    ${keep_offsets("0")}
    group_barrier_global();
    uint frontier_size = 1;
    while (${waiting()} && level < max_levels) {
        % if hooks.get("again"):
        if (!frontier_size) {
            ${snippets.call("exhausted")}
            ${aside.ask_again()}
        } else
        % endif
        {
            ${snippets.call("prior")}
            ${queue.frontiers()}
            % if config.long_rows:
            <%queue:each_tile side="long" size="1u">
                ${whole_group.expand("long_rows", "tile_begin", "tile_end", visit)}
            </%queue:each_tile>
            % endif
            % if config.short_rows:
            <%queue:each_tile side="short" size="LANES">
                ${advance.tile_edges("short_rows", "tile_begin", "tile_end", visit)}
            </%queue:each_tile>
            % endif
        }
        group_barrier_global();
        ${queue.advance()}
        frontier_size = long_count + short_count;
        level += 1;
        ${keep_offsets("level")}
        ${snippets.call("post")}
    }
    frontier_left = ${waiting()};
}
</%def>

## Whether there is anything to do, in this level or when the frontier is empty.
<%def name="waiting()">${f"(frontier_size || {capture(aside.count)})" if hooks.get("again") else "frontier_size"}</%def>

## Where each level begins in the two queues; the level after the last ends where it begins.
<%def name="keep_offsets(level)">
% if config.keep_levels:
if (lid == 0) {
    offsets[2 * (${level})] = long_begin;
    offsets[2 * (${level}) + 1] = short_begin;
    offsets[2 * (${level}) + 2] = long_begin + long_count;
    offsets[2 * (${level}) + 3] = short_begin + short_count;
}
% endif
</%def>
