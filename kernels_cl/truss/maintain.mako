## maintain: edges of a dynamic graph by their place in the pool, and the triangles that they are in.
##
## An edge u < v goes by the place of v in the row of u; its key stands there and in the row of v, so
## that whoever goes through a row has the keys beside the neighbours. The upper half of a key is the
## truss number, the lower the place in an order of the edges of that number: of its triangles with
## edges of greater or equal keys, an edge has no more than its number allows, so that peeling in this
## order would remove it then. CANDIDATE is set while an edge is tried with a number that it may have to
## give up, and puts it at the end of its order.
##
## functions()        at file scope; lower_bound is to be declared before
## Called by           any work-item, in any control flow

<%def name="functions()">\
#define CANDIDATE (1ul << 63)
#define NUMBER(key_) ((uint)((key_) >> 32) & 0x7fffffffu)
#define ORDER(key_) ((uint)(key_))
#define MAKE_KEY(number_, order_) ((ulong)(number_) << 32 | (order_))
#define EFFECTIVE(key_) ((key_) & CANDIDATE ? ((key_) & ~CANDIDATE) | 0xfffffffful : (key_))

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
