## few: rounds of scc/signatures.cl in which few signatures change, by one group.
##
## A repetition's last rounds are many and change little, yet all groups look at all edges in each and wait
## for one another. So once few have changed, edges are linked by their ends, and the group that decides
## goes on by itself from those that have, along their edges alone.
##
## setup()        local memory
## collect(tile)  a stage of all groups: list who changed in the round before, and link the edges unless they are
## rounds()       by one group, from that list: until signatures rest, a round of all is due, or it is too much
## In scope       the kernel's arguments, and what its stage declares
##
## A signature that rises is noted in `changed` as in other rounds, so whatever this group leaves undone is what
## a round of all finds. Links lie in the other list of edges, which nobody needs before edges are removed.

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="setup()">
__local uint few_waiting[${2 * few_room}];   // 2 v + 1 where v's `backward` rose, 2 v where `forward` did
__local uint few_counts[3];
</%def>

<%def name="collect(tile)">
const uint linking = now.linked ? 0u : now.length;
<%tiles:each_tile count="max(n, linking)" size="${tile}">
    for (uint i = tile_begin + lane_id(); i < tile_end; i += LANES) {
        if (i < linking) {
            const uint2 edge = edges_from[i];
            queue_to[i] = (uint2)(atomic_xchg(&first[2u * edge.x], i + 1u), atomic_xchg(&first[2u * edge.y + 1u], i + 1u));
        }
        if (i < n && component[i] == i && changed[i] >= now.level) {
            const uint at = 1u + atomic_add(&waiting[0], 2u);
            if (at < ${few_room}u) {
                waiting[at] = 2u * i;
                waiting[at + 1u] = 2u * i + 1u;
            }
        }
    }
</%tiles:each_tile>
</%def>

<%def name="rounds()">
{
    __global const uint2 *const edges_from = now.queue ? edges_odd : edges_even;
    __global const uint2 *const links = now.queue ? edges_even : edges_odd;
    const order_t order = order_of(bits, now.repetition, (uint)*pivot_key);
    ulong work = *(volatile __global ulong *)(state + WORK), spent = *(volatile __global ulong *)(state + EXPLORED);
    uint noted = state[REACHED], count = waiting[0], turn = 0u, side = 0u;
    const uint begun = history[min(noted, capacity)].w;
    int going = count <= ${few_room}u;
    if (going) {
        for (uint i = lid; i < count; i += GROUP_SIZE) few_waiting[i] = waiting[1u + i];
    }
    if (lid == 0u) few_counts[0] = few_counts[1] = few_counts[2] = 0u;
    group_barrier_global();
    if (lid == 0u) waiting[0] = 0u;
    while (going) {
        const uint next_turn = (turn + 1u) % 3u, round = now.level + 1u;
        __local const uint *const from = few_waiting + side * ${few_room}u;
        __local uint *const to = few_waiting + (side ^ 1u) * ${few_room}u;
        if (lid == 0u) few_counts[(turn + 2u) % 3u] = 0u;
        for (uint i = lid; i < count; i += GROUP_SIZE) {
            ${visit()}
        }
        group_barrier_global();
        if (lid == 0u) {
            if (noted < capacity) history[noted + 1u] = (uint4)(count, few_counts[next_turn], 1u << 8 | PROPAGATE, begun);
            store_relaxed(state + HEARTBEAT, round);
        }
        ++noted;
        work += ${few_work}u + count;
        spent += ${few_work}u + count;
        turn = next_turn;
        side ^= 1u;
        count = few_counts[turn];
        now.level = round;
        going = count && count <= ${few_room}u && round < ROUNDS(now.stretch) && round % ${few_every}u &&
                work <= budget && spent <= work_limit;
    }
    ${end()}
}
</%def>

## Rows that are too long for one lane are left to a round of all, and so is what there is no room for.
<%def name="visit()">
const uint entry = from[i], v = entry >> 1, back = entry & 1u;
volatile __global uint *const signature = back ? backward : forward;
const uint known = signature[v], best = follow(signature, order, known);
if (best > known) {
    atomic_max(&signature[v], best);
    changed[v] = round;
}
uint e = first[entry];
for (uint walked = 0u; e; ++walked) {
    if (walked == ${most_links}u) {
        changed[v] = round;
        atomic_add(&few_counts[next_turn], ${few_room + 1}u);
        break;
    }
    const uint2 edge = edges_from[e - 1u], link = links[e - 1u];
    const uint w = back ? edge.x : edge.y;
    e = back ? link.y : link.x;
    if (atomic_max(&signature[w], best) < best) {
        changed[w] = round;
        const uint at = atomic_inc(&few_counts[next_turn]);
        if (at < ${few_room}u) to[at] = 2u * w + back;
    }
}
</%def>

## What follows, as after a round of all groups.
<%def name="end()">
const int pause = work > budget;
now.few = 0;
now.at_rest = count == 0u;
now.leave = pause;
now.mode = now.at_rest || now.level >= ROUNDS(now.stretch) ? DETECT : PROPAGATE;
if (lid == 0u) {
    if (noted > state[REACHED] && noted <= capacity) history[noted].w = device_clock_ns();
    *(volatile __global ulong *)(state + WORK) = pause ? 0ul : work;
    *(volatile __global ulong *)(state + EXPLORED) = spent;
    state[REACHED] = noted;
    state[STATUS] = pause ? STATUS_PAUSED : STATUS_RUNNING;
}
group_barrier_global();
</%def>
