<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="key" file="/visited/keys.mako"/>
// The rules that make distances and a tree right, checked on every vertex and edge.
//
// Race: several work-items may store the same one to supported[v]. The smallest offending vertex of
// each rule is kept by an atomic minimum.

${lanes.vocabulary()}
${memory.vocabulary()}
${key.declarations()}
typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define IS_SOURCE(v_) (marks[v_] & 1u)
#define SUPPORTED 2u

static inline key_t key_of(const weight_t length) {
% if keys.real and keys.signed:
    return key_add(KEY_ZERO, length);
% elif keys.real:
    return ${"as_ulong" if keys.bits == 64 else "as_uint"}(length);
% else:
    return (key_t)length ^ KEY_ZERO;
% endif
}

// By all edges: none leads from a reached vertex to one that could be nearer; those that give a
// vertex its distance support it.
__kernel void sssp_verify_edges(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    __global const weight_t *restrict weights,      // [m]
    const uint n,
    const ulong limit,                              // keys beyond it were not asked for
    __global const weight_t *restrict distances,    // [n]
    __global uint *marks,                           // [n] in: 1 for sources; out: supported
    __global uint *broken)                          // [rules] in/out: smallest vertex that breaks each
{
    for (uint u = get_global_id(0); u < n; u += get_global_size(0)) {
        const key_t from = key_of(distances[u]);
        if (from < KEY_NONE && from > limit)
            atomic_min(broken + ${rules["source"]}, u);
        if (IS_SOURCE(u) && (from > KEY_ZERO)) atomic_min(broken + ${rules["source"]}, u);
        if (from < KEY_NONE)
            for (offset_t e = indptr[u]; e < indptr[u + 1]; ++e) {
                const key_t to = key_add(from, weights[e]), there = key_of(distances[indices[e]]);
                if (to < there && to <= limit) atomic_min(broken + ${rules["edge"]}, u);
                else if (to == there && indices[e] != u) atomic_or(marks + indices[e], SUPPORTED);
            }
    }
}

// By all vertices: whoever has a distance is a source or has it from an edge, and the edge to a
// vertex from its predecessor is one that gives it. Begins the search for cycles.
__kernel void sssp_verify_vertices(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    __global const weight_t *restrict weights,      // [m]
    const uint n,
    const uint has_tree,
    __global const weight_t *restrict distances,    // [n]
    __global const int *restrict predecessors,      // [n], or one element
    __global const uint *restrict marks,            // [n]
    __global uint *ancestors,                       // [n] out, or one element
    __global uint *broken)                          // [rules] in/out
{
    for (uint v = get_global_id(0); v < n; v += get_global_size(0)) {
        const key_t here = key_of(distances[v]);
        const int root = IS_SOURCE(v) && here == KEY_ZERO;
        if (here < KEY_NONE && !root && !(marks[v] & SUPPORTED)) atomic_min(broken + ${rules["support"]}, v);
        if (has_tree) {
            const int parent = predecessors[v];
            uint ancestor = v;
            if ((parent >= 0) != (here < KEY_NONE) || parent >= (int)n || (parent == (int)v && !root)) {
                atomic_min(broken + ${rules["tree"]}, v);
            } else if (parent >= 0 && parent != (int)v) {
                int gives = 0;
                const key_t from = key_of(distances[parent]);
                for (offset_t e = indptr[parent]; e < indptr[parent + 1]; ++e)
                    gives |= indices[e] == v && from < KEY_NONE && key_add(from, weights[e]) == here;
                if (!gives) atomic_min(broken + ${rules["tree"]}, v);
                ancestor = (uint)parent;
            }
            ancestors[v] = ancestor;
        }
    }
}

// Doubles how far each ancestor is; after enough rounds it is a root, or there is a cycle.
__kernel void sssp_verify_double(
    const uint n,
    __global const uint *restrict ancestors,        // [n]
    __global uint *restrict farther)                // [n] out
{
    for (uint v = get_global_id(0); v < n; v += get_global_size(0)) farther[v] = ancestors[ancestors[v]];
}

__kernel void sssp_verify_roots(
    const uint n,
    __global const int *restrict predecessors,      // [n]
    __global const uint *restrict ancestors,        // [n]
    __global uint *broken)                          // [rules] in/out
{
    for (uint v = get_global_id(0); v < n; v += get_global_size(0))
        if (predecessors[v] >= 0 && predecessors[ancestors[v]] != (int)ancestors[v])
            atomic_min(broken + ${rules["cycle"]}, v);
}
