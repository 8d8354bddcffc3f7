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
## pair, write        one edge of this work-item, by the kernel's arguments
## list_once          in lane-uniform control flow: marks, fresh and found_edges of the stage
## Called by          any work-item, in any control flow

<%namespace name="queue" file="/frontier/queue.mako"/>\
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

## Declares the keys of the other edges of a triangle of edge u, and the place of the second, if paired;
## the first is e, and a key below `least` is none.
<%def name="pair(k, least)">
int paired${k} = 0;
ulong of_f${k} = 0ul, of_g${k} = 0ul;
uint g${k} = 0u;
if (active${k}) {
    of_f${k} = keys[e${k}];
    if (EFFECTIVE(of_f${k}) >= ${least}) {
        g${k} = place_in_row(pointer, used, indices, sources[u${k}] ^ indices[u${k}] ^ SHORTER(u${k}), v${k});
        paired${k} = g${k} != ~0u;
        if (paired${k}) of_g${k} = keys[g${k}];
    }
}
</%def>

## Lists an edge of a triangle, from its place in the row of a vertex, if it is not listed yet.
<%def name="list_once(wanted, row, neighbour, place, to)">
{
    uint edge = 0u;
    int claimed = 0;
    if (${wanted}) {
        edge = place_of_edge(pointer, used, indices, ${row}, ${neighbour}, (uint)${place});
        claimed = edge != ~0u && atomic_max(&marks[edge], fresh) < fresh;
        if (claimed) found_edges += ROW_LENGTH(edge);
    }
    ${queue.push("claimed", "edge", to)}
}
</%def>

## A key in both rows.
<%def name="write(p, key)">
{
    const ulong given = ${key};
    keys[${p}] = given;
    keys[place_in_row(pointer, used, indices, indices[${p}], sources[${p}])] = given;
}
</%def>
