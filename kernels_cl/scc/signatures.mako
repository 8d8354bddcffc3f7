## signatures: priorities and their propagation along edges, for scc/signatures.cl.
##
## functions()    at file scope
## spread(tile)   priorities travel over all edges once
## trim(tile)     a round of trimming the edges
## list_edges()   a tile of the graph's edges goes to the queue
## In scope       the kernel's arguments, and what its stage declares

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="bisect" file="/rows/bisect.mako"/>

<%def name="functions()">
// Priorities of a repetition: a permutation of [0, 2^bits), and above them all the pivot's.
typedef struct { uint bits, mask, salt, pivot; } order_t;

static inline order_t order_of(const uint bits, const uint repetition, const uint pivot) {
    const order_t order = {bits, (1u << bits) - 1u, repetition * 0x9e3779b9u, pivot};
    return order;
}

static inline uint priority_of(const order_t order, const uint v) {
    if (v == order.pivot) return 1u << order.bits;
    uint x = ((v ^ order.salt) * FIRST_FACTOR) & order.mask;
    x ^= x >> (order.bits + 1u) / 2u;
    return (x * LAST_FACTOR) & order.mask;
}

static inline uint vertex_of(const order_t order, const uint priority) {
    if (priority >> order.bits) return order.pivot;
    uint x = (priority * LAST_INVERSE) & order.mask;
    x ^= x >> (order.bits + 1u) / 2u;
    return ((x * FIRST_INVERSE) ^ order.salt) & order.mask;
}

static inline uint region_hash(const uint forward, const uint backward) {
    uint x = (forward ^ forward >> 15) * 0x85ebca6bu;
    x = (x ^ x >> 13 ^ backward * 0x27d4eb2fu) * 0x165667b1u;
    return x ^ x >> 16;
}

// The vertex that v has been contracted into, directly or by steps.
static inline uint root_of(__global const uint *component, uint v) {
    for (uint above = component[v]; above != v; above = component[v]) {
        if (above & COMPONENT_KNOWN) return above ^ COMPONENT_KNOWN;
        v = above;
    }
    return v;
}

// The end of the chain of signatures that begins with `priority`, or a place well along it.
static inline uint follow(volatile __global uint *signature, const order_t order, uint priority) {
    for (uint hop = 0; hop < ${hops}u; ++hop) {
        const uint further = signature[vertex_of(order, priority)];
        if (further <= priority) break;
        priority = further;
    }
    return priority;
}

// Raise both ends of an edge along which `signature` travels from `tail` to `head`.
static inline uint raise(volatile __global uint *signature, volatile __global uint *changed, const uint round,
                         const order_t order, const uint tail, const uint head) {
    const uint known = signature[tail], there = signature[head];
    const uint best = follow(signature, order, known);
    if (best > known) {
        atomic_max(&signature[tail], best);
        changed[tail] = round;
    }
    if (best > there) {
        atomic_max(&signature[head], best);
        changed[head] = round;
    }
    return best > there || best > known;
}

// The row that holds edge e, by binary search.
static inline uint row_of(__global const offset_t *indptr, const uint n, const uint e) {
    uint low = 0, high = n;   // indptr[low] <= e < indptr[high]
    ${bisect.last("low", "high", "indptr[middle] <= e")}
    return low;
}
</%def>

## Once over all edges, in both directions.
<%def name="spread(tile)">
<%tiles:each_tile count="now.length" size="${tile}">
    for (uint i = tile_begin + lane_id(); i < tile_end; i += LANES) {
        const uint2 edge = edges_from[i];
        if (least == 0 || changed[edge.x] >= least)
            found_count += raise(forward, changed, now.level + 1u, order, edge.x, edge.y);
        if (least == 0 || changed[edge.y] >= least)
            found_count += raise(backward, changed, now.level + 1u, order, edge.y, edge.x);
    }
</%tiles:each_tile>
</%def>

## Edges from vertices that no edge enters, or to those that none leaves, go; the others say so of
## their ends, in a stamp for each round. Round 0 only says.
<%def name="trim(tile)">
    volatile __global ushort *const stamps = (volatile __global ushort *)region;   // [2 n] entered, left
    const ushort round = (ushort)now.level;
    <%tiles:each_tile count="now.length" size="${tile}">
        for (uint first = tile_begin; first < tile_end; first += LANES) {
            const int active = first + lane_id() < tile_end;
            const uint2 edge = edges_from[active ? first + lane_id() : tile_begin];
            // One that is kept may have been stamped for the next round already.
            const int kept = active && (round == 0 || (stamps[2u * edge.x] >= round && stamps[2u * edge.y + 1u] >= round));
            if (kept) {
                stamps[2u * edge.x + 1u] = round + 1u;
                stamps[2u * edge.y] = round + 1u;
            }
            ${queue.push("kept", "edge", "queue_to")}
        }
    </%tiles:each_tile>
</%def>

## The edges of a tile between live vertices and without loops, a span of neighbours to each lane.
<%def name="list_edges()">
    const uint begin = tile_begin + lane_id() * ${list_span}u;
    uint u = begin < tile_end ? row_of(indptr, n, begin) : 0u;
    offset_t row_end = indptr[u + 1];
    for (uint k = 0; k < ${list_span}u; ++k) {
        const uint e = begin + k;
        const int active = e < tile_end;
        if (active && e >= row_end) {
            // Most often it is the next row; there may be a million empty ones between, though.
            u = e < indptr[u + 2] ? u + 1u : row_of(indptr, n, e);
            row_end = indptr[u + 1];
        }
        const uint v = active ? indices[e] : u;
        const int kept = u != v && !((component[u] | component[v]) & COMPONENT_KNOWN);
        ${queue.push("kept", "(uint2)(u, v)", "queue_to")}
    }
</%def>
