// The rules that make distances and a tree right, checked on every vertex and edge.
//
// Race: several work-items may store the same one to supported[v]. The smallest offending vertex of
// each rule is kept by an atomic minimum.

#define UNREACHED (${UNREACHED})
typedef ${"ulong" if wide_offsets else "uint"} offset_t;

// Place of the first of the ascending targets indices[begin .. end) that is not below v, or end.
static offset_t first_target(__global const uint *indices, offset_t begin, offset_t end, const uint v) {
    while (begin < end) {
        const offset_t middle = begin + (end - begin) / 2;
        if (indices[middle] < v) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

__kernel void bfs_verify_edges(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    const uint n,
    const uint source,
    const uint max_level,                           // distances beyond it were not asked for
    const uint has_tree,
    __global const int *restrict distances,         // [n]
    __global const int *restrict predecessors,      // [n], or one element
    __global uint *supported,                       // [n] out, zero on entry
    __global uint *broken)                          // [rules] in/out: smallest vertex that breaks each
{
    for (uint u = get_global_id(0); u < n; u += get_global_size(0)) {
        const int distance = distances[u];
        if (distance < UNREACHED || distance > (int)max_level || (distance == 0) != (u == source))
            atomic_min(broken + ${rules["source"]}, u);
        if (distance >= 0 && (uint)distance < max_level)
            for (offset_t e = indptr[u]; e < indptr[u + 1]; ++e) {
                const int other = distances[indices[e]];
                if (other < 0 || other > distance + 1) atomic_min(broken + ${rules["edge"]}, u);
                else if (other == distance + 1) supported[indices[e]] = 1;
            }
        if (has_tree) {
            const int parent = predecessors[u];
            if ((parent < 0) != (distance < 0) || parent >= (int)n) {
                atomic_min(broken + ${rules["tree"]}, u);
            } else if (u == source) {
                if (parent != (int)u) atomic_min(broken + ${rules["tree"]}, u);
            } else if (parent >= 0) {
                const offset_t begin = indptr[parent], end = indptr[parent + 1];
                const offset_t at = first_target(indices, begin, end, u);
                if (distances[parent] != distance - 1 || at == end || indices[at] != u)
                    atomic_min(broken + ${rules["tree"]}, u);
            }
        }
    }
}

__kernel void bfs_verify_support(
    const uint n,
    __global const int *restrict distances,         // [n]
    __global const uint *restrict supported,        // [n]
    __global uint *broken)                          // [rules] in/out
{
    for (uint v = get_global_id(0); v < n; v += get_global_size(0))
        if (distances[v] > 0 && !supported[v]) atomic_min(broken + ${rules["support"]}, v);
}
