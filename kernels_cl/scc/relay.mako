## relay: rounds of scc/signatures.cl in which few signatures change, by SIMD groups that do not wait for others.
##
## A repetition's last rounds are many and change little, yet all groups look at all edges in each and wait
## for one another. So once few have changed, edges are linked by their ends, and every SIMD group takes some of
## those that have and passes them on along their edges alone; what rises waits in a queue of its own, until
## that is empty or it took its turns. What is left then is noted in `changed`, as in other rounds.
## A long way is walked step by step like this, where a round of all follows chains and gets on in steps that
## double. So where turns ran out, such a round is next, and the relay after it has half the turns, down to what
## takes as long as a round; every repetition gives twice as many back.
##
## functions()    at file scope
## setup()        local memory
## link(tile)     a stage: edges are linked, those out of a vertex and those into it
## rounds()       a stage: from whatever changed in the one before; `found_count` counts what is left,
##                and `found_edges` what waited when turns were over
## In scope       the kernel's arguments, and what its stage declares
##
## Races: whoever raises a signature passes it on itself, after it did, and with what is there by then. So of
## those that raise one, the last passes on the greatest. Links lie in the other list of edges, which nobody
## needs before edges are removed.

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="functions()">
// What a SIMD group has to pass on: 2 v + 1 where v's `backward` rose, 2 v where `forward` did.
typedef struct {
    __local uint *entries;                          // [relay_room], a ring
    __local uint *tail;
    uint head;
    uint stamp;                                     // that notes what there is no room for
    uint left;                                      // and how much there was
} relay_t;

static inline void relay_leave(relay_t *relay, volatile __global uint *changed, const uint entry) {
    changed[entry >> 1] = relay->stamp;
    ++relay->left;
}

static inline void relay_push(relay_t *relay, volatile __global uint *changed, const uint entry) {
    const uint at = atomic_inc(relay->tail);
    if (at - relay->head < ${relay_room}u) relay->entries[at % ${relay_room}u] = entry;
    else relay_leave(relay, changed, entry);
}

// How many wait, once all lanes have pushed.
static inline uint relay_waiting(relay_t *relay) {
    lane_converge();
    const uint waiting = *relay->tail - relay->head;
    lane_converge();
    if (waiting > ${relay_room}u && lane_id() == 0) *relay->tail = relay->head + ${relay_room}u;
    lane_converge();
    return min(waiting, ${relay_room}u);
}

// Pass a signature on. Rows that are too long for one lane are left to a round of all.
static inline void relay_visit(relay_t *relay, volatile __global uint *changed, const uint entry,
                               volatile __global uint *signature, volatile __global uint *first,
                               __global const uint2 *edges, __global const uint2 *links) {
    const uint v = entry >> 1, back = entry & 1u;
    uint e = first[entry];
    const uint best = signature[v];
    for (uint walked = 0u; e; ++walked) {
        if (walked == ${most_links}u) {
            relay_leave(relay, changed, entry);
            break;
        }
        const uint2 edge = edges[e - 1u], link = links[e - 1u];
        const uint w = back ? edge.x : edge.y;
        e = back ? link.y : link.x;
        if (atomic_max(&signature[w], best) < best) relay_push(relay, changed, 2u * w + back);
    }
}
</%def>

<%def name="setup()">
__local uint relay_entries[${relay_room} * GROUP_LANES];
__local uint relay_tails[GROUP_LANES];
</%def>

<%def name="link(tile)">
<%tiles:each_tile count="now.length" size="${tile}">
    for (uint i = tile_begin + lane_id(); i < tile_end; i += LANES) {
        const uint2 edge = edges_from[i];
        queue_to[i] = (uint2)(atomic_xchg(&first[2u * edge.x], i + 1u), atomic_xchg(&first[2u * edge.y + 1u], i + 1u));
    }
</%tiles:each_tile>
</%def>

<%def name="rounds()">
relay_t relay = {relay_entries + LANE_GROUP * ${relay_room}u, relay_tails + LANE_GROUP, 0u, RELAYED(now.level), 0u};
if (lane_id() == 0) *relay.tail = 0u;
lane_converge();
const uint most_turns = RELAY_TURNS(now.vain);
uint turns = 0u, waiting = 0u;
<%tiles:each_tile count="n" size="${config.fill_tile}">
    for (uint begin = tile_begin; begin < tile_end; begin += LANES) {
        const uint v = min(begin + lane_id(), n - 1u);
        if (begin + lane_id() < tile_end && component[v] == v && changed[v] >= now.level) {
            relay_push(&relay, changed, 2u * v);
            relay_push(&relay, changed, 2u * v + 1u);
        }
        waiting = relay_waiting(&relay);
        for (; waiting > ${relay_room // 2}u && turns < most_turns; ++turns) {
            ${turn()}
        }
    }
</%tiles:each_tile>
for (; waiting && turns < most_turns; ++turns) {
    ${turn()}
}
for (uint i = lane_id(); i < waiting; i += LANES) relay_leave(&relay, changed, relay.entries[(relay.head + i) % ${relay_room}u]);
lane_converge();
found_count = relay.left;
found_edges += waiting;
</%def>

## As many as there are lanes, or all that wait.
<%def name="turn()">
const uint taken = min(waiting, (uint)LANES);
const uint entry = relay.entries[(relay.head + lane_id()) % ${relay_room}u];
lane_converge();
relay.head += taken;
if (lane_id() < taken)
    relay_visit(&relay, changed, entry, entry & 1u ? backward : forward, first, edges_from, queue_to);
waiting = relay_waiting(&relay);
</%def>
