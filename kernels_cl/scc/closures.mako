## closures: who may be trimmed, chosen and reached, and a round of a closure over all vertices.
##
## functions()   at file scope
## scan()        a stage that expands every vertex which has been reached and not been expanded
## In scope      the kernel's arguments, and what its stage declares

<%namespace name="rows" file="/balance/open_rows.mako"/>
## Vertices of the largest component that trimming can take out.
<%! TRIM_MOST = 3 %>

<%def name="functions()">
// Whether a word was live when the stage began that eliminates by `fresh`.
static inline int lived(const uint word, const uint fresh) { return !(word & ELIMINATED) || word == fresh; }

// The component of v, by its greatest vertex, if no more than `size` live vertices reach v against the
// edges given; NO_COMPONENT if more do. None of them, which all come to the same end, sees another as gone
// before the stage is over; trivial components, which nothing else depends on, may (fresh = 0).
static inline uint closed_component(__global const offset_t *indptr, __global const uint *indices,
                                    volatile __global uint *packed, const uint v, const uint size, const uint fresh) {
    uint member0 = v${"".join(f", member{i} = v" for i in range(1, TRIM_MOST))}, members = 1;
    uint ${", ".join(f"into{i} = 0" for i in range(TRIM_MOST))};   // bit j: an edge joins members i and j
    % for i in range(TRIM_MOST):
    if (members > ${i}u) {
        const offset_t row_end = indptr[member${i} + 1];
        for (offset_t e = indptr[member${i}]; e < row_end; ++e) {
            const uint u = indices[e];
            if (u == member${i} || !lived(packed[u], fresh)) continue;
            uint place = members;
            % for j in reversed(range(TRIM_MOST)):
            if (members > ${j}u && u == member${j}) place = ${j}u;
            % endfor
            if (place == size) return NO_COMPONENT;
            % for j in range(1, TRIM_MOST):
            if (place == ${j}u) member${j} = u;
            % endfor
            members = max(members, place + 1u);
            into${i} |= 1u << place;
        }
    }
    % endfor
    // Of those that reach v, the ones that v reaches.
    uint reached = 1u;
    % for i in list(range(1, TRIM_MOST)) * (TRIM_MOST - 1):
    reached |= (into${i} & reached ? 1u : 0u) << ${i};
    % endfor
    uint greatest = v;
    % for i in range(1, TRIM_MOST):
    if (reached >> ${i} & 1u) greatest = max(greatest, member${i});
    % endfor
    return greatest;
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
    <%rows:each_edge shift="coloring ? color_lanes : pair_lanes">
    <%def name="state(u)">packed[${u}]</%def>
    <%def name="is_open(word)">(${word} & (ELIMINATED | EXPANDED | bit)) == bit</%def>
    <%def name="close(u)">atomic_or(&packed[${u}], EXPANDED)</%def>
    <%def name="visit()">
                if (may_reach(packed, component, word, u, v, bit, coloring))
                    found_count += !(atomic_or(&packed[v], bit) & bit);
    </%def>
    </%rows:each_edge>
</%def>
