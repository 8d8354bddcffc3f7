## drift: SIMD groups go on by themselves with the items whose removal they bring about.
##
## What is removed at a level does not depend on the order, so a SIMD group that has brought an item
## down to the level need not wait for the others before it takes from the counts of that item's
## company. It goes on as often as `drift` says; what is left then, or finds no room, is queued.
##
## declarations()   at file scope
## rounds()         in PEEL: the queue, with what follows from it
## keep(lost, item) a removed item, for a later round of this SIMD group
## In scope         now, slot, state, fresh, current, queue_from, queue_to; the queue's begin_stage()
## Called by        all work-items, in uniform control flow; no barriers
## Needs            a balancer that reads LANES entries before it visits any edge
##
## Stamps: what goes has that of this stage's queue; only what is left for the next has that of the next.
##
## Races: which edge of a triangle goes first is not known while groups are in different rounds, so the
## triangle itself is claimed: one bit, at its place in the shortest row that it is in. It is taken off
## once, by whoever claims it. A status that is read too early says ALIVE of who is about to go, whose
## count matters to nobody any more; one that says otherwise stays so. What a level removes depends on
## neither, but how many rounds it takes does.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="incidence" file="/truss/incidence.mako"/>
<%namespace name="balancer" file="${'/balance/' + context['config'].balance.name + '.mako'}"/>

<%def name="declarations()">
% if incident == "lists":
// Whether nobody has claimed the triangle of edges u, f and g, which is at place e of the row of u.
static int claim_triangle(__global const offset_t *indptr, __global const uint2 *sides, volatile __global uint *claims,
                          const uint u, const offset_t e, const uint f, const uint g) {
    const uint of_u = (uint)(indptr[u + 1u] - indptr[u]), of_f = (uint)(indptr[f + 1u] - indptr[f]);
    const uint of_g = (uint)(indptr[g + 1u] - indptr[g]);
    uint row = u, length = of_u;
    if (of_f < length || (of_f == length && f < row)) { row = f; length = of_f; }
    if (of_g < length || (of_g == length && g < row)) { row = g; length = of_g; }
    offset_t place = e;
    if (row != u) {
        // Two edges that meet are in one triangle at most.
        const offset_t begin = indptr[row];
        uint at = 0u;
        for (; at + 1u < length; ++at) {
            const uint2 both = sides[begin + at];
            if (both.x == u || both.y == u) break;
        }
        place = begin + at;
    }
    const uint bit = 1u << (place & 31u);
    return !(atomic_or(claims + (place >> 5), bit) & bit);
}
% endif
</%def>

<%def name="rounds()">
const uint part = 0, parts = 1;
uint items_left = 0u;       // of those that this lane removed, less those that it queued
edges_t edges_left = 0u;    // of those that it queued
const uint entries = max(1u, min((uint)LANES, now.length / (GROUP_LANES * now.members)));
<%tiles:each_tile count="now.length" size="entries">
    if (buffered > LANES) {
        lane_converge();
        ${leave()}
    }
    if (tile_begin + lane_id() < tile_end) buffer[buffered + lane_id()] = queue_from[tile_begin + lane_id()];
    buffered += tile_end - tile_begin;
    for (uint round = 0u; round < ${drift}u && buffered; ++round) {
        const uint past_taken = buffered, taken_from = buffered - min(buffered, (uint)LANES);
        lane_converge();
        buffered = taken_from;
        ${balancer.expand("buffer", "taken_from", "past_taken", local.visit)}
    }
</%tiles:each_tile>
lane_converge();
${leave()}
const uint items_here = lane_reduce_add(items_left);
const edges_t edges_here = EDGES_REDUCE(found_edges - edges_left);
if (lane_id() == 0u && (items_here || edges_here)) {
    atomic_add(&control[DRIFTED], items_here);
    atom_add((volatile __global ulong *)(control + DRIFTED_EDGES), (ulong)edges_here);
}
found_edges = edges_left;
</%def>

<%def name="visit(count)">
% for k in range(count):
% if incident == "neighbours":
const int lost${k} = active${k} && status[v${k}] == ALIVE && atomic_dec(&counts[v${k}]) == now.level + 1u;
${keep(f"lost{k}", f"v{k}")}
% else:
${incidence.pair(k)}
int lost_f${k} = 0, lost_g${k} = 0;
if (paired${k}) {
    const uint of_f = status[f${k}], of_g = status[g${k}];
    const int f_there = of_f == ALIVE || of_f == fresh || of_f == current;
    const int g_there = of_g == ALIVE || of_g == fresh || of_g == current;
    if (f_there && g_there && (of_f == ALIVE || of_g == ALIVE) && claim_triangle(indptr, sides, claims, u${k}, e${k}, f${k}, g${k})) {
        if (of_f == ALIVE) lost_f${k} = atomic_dec(&counts[f${k}]) == now.level + 1u;
        if (of_g == ALIVE) lost_g${k} = atomic_dec(&counts[g${k}]) == now.level + 1u;
    }
}
${keep(f"lost_f{k}", f"f{k}")}
${keep(f"lost_g{k}", f"g{k}")}
% endif
% endfor
</%def>

<%def name="keep(lost, item)">
{
    if (${lost}) {
        ${incidence.remove(item, "current")}
        ++items_left;
    }
    const lanemask_t keeping = lane_ballot(${lost});
    if (keeping) {
        if (${lost}) buffer[buffered + lanemask_count(keeping & lane_mask_lt())] = ${item};
        buffered += lanemask_count(keeping);
        if (buffered > ${config.buffer - config.lanes}u) {
            lane_converge();
            ${leave()}
        }
    }
}
</%def>

## What is in the buffer goes to the queue.
<%def name="leave()">
{
    for (uint i = lane_id(); i < buffered; i += LANES) {
        const uint item = buffer[i];
        status[item] = (uchar)fresh;
        edges_left += ROW_LENGTH(item);
        --items_left;
    }
    if (buffered) ${queue.flush_lanes("queue_to")}
}
</%def>
