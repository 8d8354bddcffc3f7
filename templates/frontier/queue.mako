## queue: frontier entries, and appending to a queue with few atomics.
##
## An entry is a vertex, a row (begin, degree) or both, as config.entry says: rows save the next
## level one dependent load, vertices are smaller. Each SIMD group collects what it finds in a
## buffer in local memory and reserves queue space for a full buffer with one atomic; what is left
## at the end of a stage is put together by the work-group and reserved with one more.
##
## In scope      state (slot), indptr, config.entry, config.buffer (entries per SIMD group)
## Called by     lane-uniform control flow; end_stage and end_count by the whole group (barriers)
## Local memory  GROUP_LANES * buffer entries
## Overflow      a queue holds n entries, or queue_capacity where vertices may enter it more than
##               once; every reservation is checked and raises OVERFLOWED
## Choice        config.frontier.update.name: "buffer" as above; "ballot" reserves what the lanes found together
##               with one atomic, at once; "registers" is in registers.mako

## Frontiers up to so many vertices append what is left without putting it together first.
<%! DIRECT = 1 << 14 %>

<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="registers" file="/frontier/registers.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>

<%def name="declarations()">
${rows.declarations()}
% if config.entry == "vertex":
typedef uint entry_t;
#define ENTRY_VERTEX(entry_) (entry_)
#define ENTRY_BEGIN(entry_) ${rows.begin("entry_")}
#define ENTRY_DEGREE(entry_) ${rows.degree("entry_")}
#define MAKE_ENTRY(vertex_, begin_, degree_) (vertex_)
% elif config.entry == "row":
typedef uint2 entry_t;
#define ENTRY_VERTEX(entry_) 0u
#define ENTRY_BEGIN(entry_) (entry_).x
#define ENTRY_DEGREE(entry_) (entry_).y
#define MAKE_ENTRY(vertex_, begin_, degree_) (uint2)((begin_), (degree_))
% else:
typedef uint4 entry_t;
#define ENTRY_VERTEX(entry_) (entry_).w
#define ENTRY_BEGIN(entry_) ((offset_t)((entry_).x | ((ulong)(entry_).y << 32)))
#define ENTRY_DEGREE(entry_) (entry_).z
#define MAKE_ENTRY(vertex_, begin_, degree_) (uint4)((uint)(begin_), (uint)((ulong)(begin_) >> 32), (degree_), (vertex_))
% endif
</%def>

<%def name="setup()">
__local entry_t group_entries[${max(config.group_size // config.lanes * config.buffer, 2 * config.limits.single_group_capacity * (not group.module.has_one_item(config)))}];
__local uint group_count, group_base;
__local edges_t group_edges;
% if config.group_size > config.lanes:
if (get_local_id(0) == 0) {
    group_count = 0;
    group_edges = 0;
}
% endif
</%def>

<%def name="begin_stage()">
__local entry_t *const buffer = group_entries + LANE_GROUP * ${config.buffer};
uint buffered = 0;   // entries in this SIMD group's buffer; uniform over its lanes
edges_t found_edges = 0;  // out-edges of what this lane found
% if config.frontier.update.name == "registers":
${registers.begin_stage()}
% endif
</%def>

<%def name="reserve(count, base)">
${items.tally("RESERVATIONS")}
uint ${base} = (uint)atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), (ulong)(${count}));
if (${base} + (${count}) > ${"n" if config.exact else "queue_capacity"}) {
    state[OVERFLOWED] = 1;
    ${base} = NO_SPACE;
}
</%def>

<%def name="push(claimed, entry, queue)">
% if config.frontier.update.name == "ballot":
${collected.append(claimed, entry, queue, reserve)}
% elif config.frontier.update.name == "registers":
${registers.push(claimed, entry, queue, reserve)}
% else:
${collected.collect(claimed, entry, "buffer", "buffered", f"{config.buffer - config.lanes}u", lambda: flush_lanes(queue))}
% endif
</%def>

<%def name="flush_lanes(queue)">
${collected.move("buffer", "buffered", queue, reserve)}
</%def>

<%def name="end_stage(queue, small)">
{
    const edges_t edges_here = EDGES_REDUCE(found_edges);
    % if config.frontier.update.name == "registers":
    ${registers.flush(queue, reserve)}
    % endif
    % if config.group_size == config.lanes:
    if (1) {
    % else:
    if (${small}) {
    % endif
        // Few entries in all: an atomic per SIMD group costs less than bringing them together.
        if (buffered) ${flush_lanes(queue)}
        if (lane_id() == 0 && edges_here)
            EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), edges_here);
    }
    % if config.group_size > config.lanes:
    else {
        // One reservation for what all SIMD groups of the work-group have left.
        uint offset = 0;
        if (lane_id() == 0 && (buffered | edges_here)) {
            offset = atomic_add(&group_count, buffered);
            EDGES_ADD(&group_edges, edges_here);
        }
        offset = lane_broadcast(offset, 0);
        group_barrier();
        if (get_local_id(0) == 0 && (group_count | group_edges)) {
            uint base = 0;
            if (group_count) {
                ${reserve("group_count", "reserved")}
                base = reserved;
            }
            if (group_edges) EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), group_edges);
            group_base = base;
            group_count = 0;
            group_edges = 0;
        }
        group_barrier();
        if (buffered && group_base != NO_SPACE)
            for (uint i = lane_id(); i < buffered; i += LANES)
                ${queue}[group_base + offset + i] = buffer[i];
    }
    % endif
}
</%def>

<%def name="end_count(count)">
{
    // The stage kept no queue: only how many it found, and their edges.
    const uint count_here = lane_reduce_add(${count});
    const edges_t edges_here = EDGES_REDUCE(found_edges);
    % if config.group_size == config.lanes:
    if (lane_id() == 0 && count_here) {
        atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), (ulong)count_here);
        EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), edges_here);
    }
    % else:
    if (lane_id() == 0 && count_here) {
        atomic_add(&group_count, count_here);
        EDGES_ADD(&group_edges, edges_here);
    }
    group_barrier();
    if (get_local_id(0) == 0 && group_count) {
        atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), (ulong)group_count);
        EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), group_edges);
        group_count = 0;
        group_edges = 0;
    }
    % endif
}
</%def>
