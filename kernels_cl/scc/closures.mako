## closures: who may be trimmed, chosen and reached, and a round of a closure over all vertices.
##
## functions()   at file scope
## scan()        a stage that expands every vertex which has been reached and not been expanded
## In scope      the kernel's arguments, and what its stage declares

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="functions()">
// Whether v has a live neighbour other than itself.
static inline int has_live(__global const offset_t *indptr, __global const uint *indices,
                           volatile __global uint *packed, const uint v) {
    for (offset_t e = indptr[v]; e < indptr[v + 1]; ++e)
        if (indices[e] != v && !(packed[indices[e]] & ELIMINATED)) return 1;
    return 0;
}

// Make `key` the pivot of a range, if it is greater or the one there is has been eliminated.
static inline void offer_pivot(volatile __global ulong *pivot, volatile __global uint *packed, const ulong key) {
    ulong seen = *pivot;
    while (seen < key || (packed[(uint)seen - 1u] & ELIMINATED)) {
        const ulong before = atom_cmpxchg(pivot, seen, key);
        if (before == seen) return;
        seen = before;
    }
}

// Whether a closure may step from u, whose word is given, to v, which it has not seen reached.
static inline int may_reach(volatile __global uint *packed, volatile __global uint *component, const uint word,
                            const uint u, const uint v, const uint bit, const uint coloring) {
    const uint other = packed[v];
    if ((other & (ELIMINATED | bit)) || ((other ^ word) & RANGE)) return 0;
    return !coloring || component[v] == component[u];
}
</%def>

<%def name="scan()">
    // Several lanes share a vertex, and the first of them says for all whether it is open: others that
    // reach it meanwhile may let one lane see the bit and the next one not, and a share would be lost.
    const uint shift = coloring ? color_lanes : pair_lanes;
    const uint share = lane_id() & ((1u << shift) - 1u);
    <%tiles:each_tile count="n" size="${config.lanes}">
        for (uint first = tile_begin; first < tile_end; first += LANES >> shift) {
            const uint u = min(first + (lane_id() >> shift), tile_end - 1u);
            const uint word = packed[u];
            const lanemask_t ready = lane_ballot(first + (lane_id() >> shift) < tile_end &&
                                                 (word & (ELIMINATED | EXPANDED | bit)) == bit);
            const int open = (int)(ready >> (lane_id() - share) & 1u);
            if (open && share == 0) atomic_or(&packed[u], EXPANDED);
            const offset_t row_end = open ? indptr[u + 1] : 0;
            for (offset_t e = open ? indptr[u] + share : 0; e < row_end; e += 1u << shift) {
                const uint v = indices[e];
                if (may_reach(packed, component, word, u, v, bit, coloring))
                    found_count += !(atomic_or(&packed[v], bit) & bit);
            }
        }
    </%tiles:each_tile>
</%def>
