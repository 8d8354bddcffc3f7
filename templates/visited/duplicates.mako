## duplicates: dropping all but one of equal vertices that lanes hold at the same time, by hashing.
##
## Each lane stores (vertex, itself) in a slot and reads it back: it reads itself and stays, the same
## vertex of another lane and goes, or another vertex and stays. Of lanes with the same vertex the last
## to store never goes; a lane that has gone stores no more in later rounds, or two could drop each
## other. History is a table of what a work-group has let pass since it started: what it holds goes.
##
## drop          clears the flag `alive` of duplicates among the lanes of the scope
## recall        clears `alive` where this work-group has let `v` pass before, and notes it if not
## setup         among a kernel's first statements, by all work-items
## Called by     lane-uniform control flow
## Barriers      one work-group barrier in setup where there is a history
## Races         SIMD groups share slots and history unsynchronised: a vertex may be overlooked and
##               stay twice, but one that goes has another of its kind in flight or behind it
## Local memory  8 * hash_size bytes per SIMD group, or per work-group; 4 * history
## Choice        config.frontier.duplicates: "keep", or where and among whom: load_ (as entries are taken from a
##               queue) or lookup_ (as neighbours are found), _lanes or _group

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="setup()">
% if config.frontier.duplicates != "keep":
__local volatile ulong duplicate_slots[${config.frontier.hash_size * (1 if config.frontier.duplicates.endswith("group") else config.group_size // config.lanes)}];
% endif
% if config.frontier.history:
__local volatile uint history_slots[${config.frontier.history}];
for (uint i = (uint)get_local_id(0); i < ${config.frontier.history}u; i += GROUP_SIZE) history_slots[i] = NO_SPACE;
group_barrier();
% endif
</%def>

<%def name="drop(alive, v)">
% for multiplier in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)[: config.frontier.hash_rounds]:
{
    const uint place = ((${v} * ${multiplier}u) >> 7) & ${config.frontier.hash_size - 1}u;
    __local volatile ulong *const duplicate_slot = duplicate_slots + place${"" if config.frontier.duplicates.endswith("group") else f" + LANE_GROUP * {config.frontier.hash_size}u"};
    if (${alive}) *duplicate_slot = (ulong)(${v}) << 32 | (uint)get_local_id(0);
    lane_converge();
    const ulong seen = *duplicate_slot;
    % if items.module.counts(config):
    if (${alive} && (uint)(seen >> 32) != ${v}) { ${items.tally("CONFLICTS")} }
    if (${alive} && (uint)(seen >> 32) == ${v} && (uint)seen != (uint)get_local_id(0)) { ${items.tally("DROPPED")} }
    % endif
    if ((uint)(seen >> 32) == ${v} && (uint)seen != (uint)get_local_id(0)) ${alive} = 0;
    lane_converge();
}
% endfor
</%def>

<%def name="recall(alive, v)">
if (${alive}) {
    __local volatile uint *const remembered = history_slots + (${v} & ${config.frontier.history - 1}u);
    % if items.module.counts(config):
    if (*remembered == ${v}) ${items.tally("DROPPED")}
    else if (*remembered != NO_SPACE) ${items.tally("CONFLICTS")}
    % endif
    if (*remembered == ${v}) ${alive} = 0;
    else *remembered = ${v};
}
</%def>

## What happens as entries are taken from a queue, and as neighbours are found.
<%def name="at_load(alive, v)">
% if config.frontier.duplicates.startswith("load"):
${drop(alive, v)}
% endif
</%def>

<%def name="at_lookup(alive, v)">
% if config.frontier.history:
${recall(alive, v)}
% endif
% if config.frontier.duplicates.startswith("lookup"):
${drop(alive, v)}
% endif
</%def>
