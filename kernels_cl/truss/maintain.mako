## maintain: edges of a dynamic graph by their place in the pool, and the triangles that they are in.
##
## An edge u < v goes by the place of v in the row of u; its truss number stands there and in the row of
## v, so that whoever goes through a row has the numbers beside the neighbours. CANDIDATE is set in both
## while an edge is tried with a number that it may have to give up.
##
## functions()        at file scope; lower_bound is to be declared before
## Called by           any work-item, in any control flow

<%def name="functions()">\
#define CANDIDATE 0x80000000u
#define VALUE(number_) ((number_) & 0x7fffffffu)

// Where a row has a neighbour, if it does: all ones where not.
static inline uint place_in_row(const __global uint *pointer, const __global uint *used,
                                const __global uint *indices, const uint u, const uint v) {
    const uint length = used[u];
    if (length == 0u) return ~0u;
    const __global uint *row = indices + pointer[u];
    const uint at = lower_bound(row, length, v);
    return at < length && row[at] == v ? pointer[u] + at : ~0u;
}

// The place that an edge goes by, from the place of w in the row of u.
static inline uint place_of_edge(const __global uint *pointer, const __global uint *used,
                                 const __global uint *indices, const uint u, const uint w, const uint place) {
    return u < w ? place : place_in_row(pointer, used, indices, w, u);
}
</%def>
