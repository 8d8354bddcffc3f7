## pile: vertices that are put aside, appended with few atomics.
##
## Each SIMD group collects vertices in a buffer in local memory and reserves room for a full one with
## one atomic on the pile's counter, which stays from stage to stage.
##
## In scope      the queue's vocabulary, n (what a pile holds), state
## Called by     lane-uniform control flow; no barriers
## Local memory  2 * LANES words per SIMD group, nothing for a group of one lane
## Overflow      every reservation is checked and raises OVERFLOWED

## Vertices that are looked through together.
<%! TILE = 1024 %>

<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>

<%def name="setup()">
% if not group.module.has_one_item(config):
__local uint pile_buffers[${2 * config.group_size}];
% endif
</%def>

<%def name="begin_stage()">
__local uint *const pile_buffer = pile_buffers + LANE_GROUP * ${2 * config.lanes};
uint piled = 0;   // vertices in this SIMD group's buffer; uniform over its lanes
</%def>

<%def name="reserve(count, base, counter)">${collected.counted(count, base, counter, "n")}</%def>

<%def name="push(kept, vertex, pile, counter)">
${collected.collect(kept, vertex, "pile_buffer", "piled", "LANES", lambda: flush(pile, counter))}
</%def>

<%def name="flush(pile, counter)">
${collected.move("pile_buffer", "piled", pile, lambda count, base: reserve(count, base, counter))}
</%def>

<%def name="end_stage(pile, counter)">
lane_converge();
if (piled) ${flush(pile, counter)}
</%def>
