## queue: frontier entries, and appending to a queue with few atomics.
##
## An entry is a vertex, a row (begin, degree) or both, as config.entry says: rows save the next
## level one dependent load, vertices are smaller. Each SIMD group collects what it finds in a
## buffer in local memory and reserves queue space for a full buffer with one atomic; what is left
## at the end of a stage is put together by the work-group and reserved with one more.
##
## In scope      state (slot), indptr, config.entry, config.buffer (entries per SIMD group)
## Called by     lane-uniform control flow; flush_group by the whole group (barriers)
## Local memory  GROUP_LANES * buffer entries
## Overflow      a queue holds n entries, or queue_capacity where vertices may enter it more than
##               once; every reservation is checked and raises OVERFLOWED
## Choice        config.frontier.update.name: "buffer" as above; "ballot" reserves what the lanes found together with
##               one atomic, at once; "registers" keeps config.frontier.update.size entries in each lane and
##               reserves for all lanes when one is full: the fewest atomics, scattered stores
## config.frontier.update.scan   how lanes with registers number their entries: "shuffle", by a scan, or "binary", by a
##               ballot where no lane holds more than one
## config.frontier.update.induced   0, or: with so many entries a lane in the mean (config.frontier.update.induced_by "length"), or so few
##               lanes a vertex ("width"), lanes store theirs in turn, first those that all lanes
##               have, so that stores are side by side

## Frontiers up to so many vertices append what is left without putting it together first.
<%! DIRECT = 1 << 14 %>

<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>

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
uint held = 0;   // entries in this lane's registers
% if config.frontier.update.induced and config.frontier.update.induced_by == "width":
const uint virtual_width = LANES;   // where no balancer says otherwise
% endif
entry_t ${", ".join(f"held{j} = 0" for j in range(config.frontier.update.size))};
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
${push_at_once(claimed, entry, queue)}
% elif config.frontier.update.name == "registers":
${push_to_registers(claimed, entry, queue)}
% else:
${push_to_buffer(claimed, entry, queue)}
% endif
</%def>

<%def name="push_at_once(claimed, entry, queue)">
{
    const lanemask_t pushing = lane_ballot(${claimed});
    if (pushing) {
        uint base = 0;
        if (lane_id() == 0) {
            ${reserve("lanemask_count(pushing)", "reserved")}
            base = reserved;
        }
        base = lane_broadcast(base, 0);
        if (${claimed} && base != NO_SPACE) ${queue}[base + lanemask_count(pushing & lane_mask_lt())] = ${entry};
    }
}
</%def>

<%def name="push_to_registers(claimed, entry, queue)">
{
    // Indexed by constants only, so that it stays in registers.
    % for j in range(config.frontier.update.size):
    if (${claimed} && held == ${j}u) held${j} = ${entry};
    % endfor
    held += (${claimed}) ? 1u : 0u;
    if (lane_any(held == ${config.frontier.update.size}u)) {
        ${flush_registers(queue)}
    }
}
</%def>

<%def name="flush_registers(queue)">
{
    ${number_registers()}
    uint base = 0;
    if (lane_id() == 0 && held_here) {
        ${reserve("held_here", "reserved")}
        base = reserved;
    }
    base = lane_broadcast(base, 0);
    if (base != NO_SPACE) {
        % if config.frontier.update.induced:
        ${store_side_by_side(queue)}
        % endif
        {
            % for j in range(config.frontier.update.size):
            if (held > ${j}u) ${queue}[base + held_before + ${j}u] = held${j};
            % endfor
        }
    }
    held = 0;
}
</%def>

<%def name="number_registers()">
% if config.frontier.update.scan == "binary":
uint held_before, held_here;
if (lane_all(held <= 1u)) {
    if (lane_id() == 0) { ${items.tally("BINARY_RANKS")} }
    const lanemask_t holding_one = lane_ballot(held);
    held_before = lanemask_count(holding_one & lane_mask_lt());
    held_here = lanemask_count(holding_one);
} else {
    held_before = lane_scan_exclusive_add(held);
    held_here = lane_broadcast(held_before + held, LANES - 1);
}
% else:
const uint held_before = lane_scan_exclusive_add(held);
const uint held_here = lane_broadcast(held_before + held, LANES - 1);
% endif
</%def>

<%def name="store_side_by_side(queue)">
if (${f"virtual_width <= {config.frontier.update.induced}u" if config.frontier.update.induced_by == "width" else f"held_here >= {config.frontier.update.induced}u * LANES"}) {
    if (lane_id() == 0) { ${items.tally("INDUCED_STORES")} }
    const uint common = lane_reduce_min(held);   // what every lane has goes row by row
    const uint rest = base + common * LANES + held_before - lane_id() * common;
    % for j in range(config.frontier.update.size):
    if (held > ${j}u) ${queue}[${j}u < common ? base + ${j}u * LANES + lane_id() : rest + ${j}u - common] = held${j};
    % endfor
} else
</%def>

<%def name="push_to_buffer(claimed, entry, queue)">
{
    const lanemask_t pushing = lane_ballot(${claimed});
    if (pushing) {
        if (${claimed}) buffer[buffered + lanemask_count(pushing & lane_mask_lt())] = ${entry};
        buffered += lanemask_count(pushing);
        if (buffered > ${config.buffer - config.lanes}u) {
            lane_converge();
            ${flush_lanes(queue)}
        }
    }
}
</%def>

<%def name="flush_lanes(queue)">
{
    uint base = 0;
    if (lane_id() == 0) {
        ${reserve("buffered", "reserved")}
        base = reserved;
    }
    base = lane_broadcast(base, 0);
    if (base != NO_SPACE)
        for (uint i = lane_id(); i < buffered; i += LANES) ${queue}[base + i] = buffer[i];
    buffered = 0;
    lane_converge();
}
</%def>

<%def name="end_stage(queue, small)">
{
    const edges_t edges_here = EDGES_REDUCE(found_edges);
    % if config.frontier.update.name == "registers":
    ${flush_registers(queue)}
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
