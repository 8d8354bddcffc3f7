<%namespace name="shared" file="/matching/shared.mako"/>\
// Exact matches: every injective map of the query's vertices that keeps all labels and edges, by depth-
// first search, one work-item from one image of the first vertex after another.
//
// The search is resumed: a launch ends after a number of steps, with each work-item's place in memory.
//
// Races: work-items claim roots and places in the list by atomic counters; the order of the list is that
// of arrival, so the host sorts it.

${shared.prologue()}
#define NONE 0xffffffffu
#define IDLE 0xffffffffu

static inline int has_edge(
    __global const offset_t *restrict indptr, __global const uint *restrict indices, uint u, uint v)
{
    ${shared.has_edge()}
}

__kernel KERNEL void matching_exact(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    const uint n,
    __global const uint *restrict candidates,       // [node_words, n] bits of query vertices
    __global const uint *restrict order,            // [size] query vertices in the order of the search
    __global const uint *restrict parents,          // [size] depth of a matched neighbour, or NONE
    __global const uint *restrict check_indptr,     // [size + 1]
    __global const uint *restrict checks,           // depths of the other matched neighbours
    const uint size,
    const uint steps,
    const uint listed,                              // matches that there is room for
    const uint limit,                               // matches after which the search stops
    __global ulong *restrict positions,             // [size, items] in/out
    __global uint *restrict images,                 // [size, items] in/out
    __global uint *restrict depths,                 // [items] in/out
    __global uint *restrict counters,               // [3] in/out: next root, found, items that go on
    __global int *restrict mapping)                 // [listed, size] out
{
    const uint items = (uint)get_global_size(0), item = (uint)get_global_id(0);
    uint depth = depths[item];
    for (uint step = 0u; step < steps; ++step) {
        if (depth == IDLE) {
            const uint root = atomic_inc(&counters[0]);
            if (root >= n) break;
            if (!(candidates[(ulong)(order[0] / 32u) * n + root] >> order[0] % 32u & 1u)) continue;
            images[item] = root;
            depth = 1u;
            if (size > 1u) positions[(ulong)items + item] = 0ul;
        }
        if (depth == size) {
            const uint place = atomic_inc(&counters[1]);
            for (uint d = 0u; d < size && place < listed; ++d) {
                mapping[(ulong)place * size + order[d]] = (int)images[(ulong)d * items + item];
            }
            if (place >= limit) {
                atomic_max(&counters[0], n);
                depth = IDLE;
                break;
            }
            --depth;
            if (depth == 0u) depth = IDLE;
            continue;
        }
        const uint parent = parents[depth];
        const ulong place = positions[(ulong)depth * items + item];
        uint t = NONE;
        if (parent == NONE) {
            if (place < n) t = (uint)place;
        } else {
            const uint image = images[(ulong)parent * items + item];
            if (place < indptr[image + 1u] - indptr[image]) t = indices[indptr[image] + place];
        }
        if (t == NONE) {
            --depth;
            if (depth == 0u) depth = IDLE;
            continue;
        }
        positions[(ulong)depth * items + item] = place + 1ul;
        const uint u = order[depth];
        int fits = candidates[(ulong)(u / 32u) * n + t] >> u % 32u & 1u;
        for (uint d = 0u; fits && d < depth; ++d) fits = images[(ulong)d * items + item] != t;
        for (uint c = check_indptr[depth]; fits && c < check_indptr[depth + 1u]; ++c) {
            fits = has_edge(indptr, indices, images[(ulong)checks[c] * items + item], t);
        }
        if (!fits) continue;
        images[(ulong)depth * items + item] = t;
        ++depth;
        if (depth < size) positions[(ulong)depth * items + item] = 0ul;
    }
    depths[item] = depth;
    if (depth != IDLE) atomic_inc(&counters[2]);
}
