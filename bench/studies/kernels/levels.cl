<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="barrier" file="/grid/barrier.mako"/>
// Breadth-first search that looks at every vertex in every level, in three versions.
//
// Races: several work-items may give a vertex its distance together; all give the same.

${lanes.vocabulary()}
${memory.vocabulary()}
${barrier.vocabulary()}
#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
#define UNREACHED (-1)

// A launch for each level, a work-item for each vertex.
__kernel KERNEL void levels_one(
    __global const uint *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    const int level,
    __global int *distances,                    // [n] in/out
    __global uint *found)                       // [1] in/out: set where a vertex was found
{
    const uint u = (uint)get_global_id(0);
    if (u < n && distances[u] == level) {
        for (uint e = indptr[u]; e < indptr[u + 1]; ++e) {
            const uint v = indices[e];
            if (distances[v] == UNREACHED) {
                distances[v] = level + 1;
                *found = 1u;
            }
        }
    }
}

// All levels in one launch, with a barrier of all work-groups between them. `cooperative` SIMD groups
// share a vertex's edges.
% for name, cooperative in (("levels_all", False), ("levels_shared", True)):
__kernel KERNEL void ${name}(
    __global const uint *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global int *distances,                    // [n] in/out
    volatile __global uint *found,              // [3] in/out, 0 on entry: by level modulo 3
    volatile __global uint *state,              // [GRID_BARRIER_WORDS] see barrier.mako
    const uint spin_limit)
{
    ${lanes.setup()}
    ${barrier.setup()}
    % if cooperative:
    const uint first = (uint)get_global_id(0) / LANES, step = (uint)get_global_size(0) / LANES;
    const uint lane = lane_id(), lanes = LANES;
    % else:
    const uint first = (uint)get_global_id(0), step = (uint)get_global_size(0);
    const uint lane = 0u, lanes = 1u;
    % endif
    for (int level = 0; level < (int)n; ++level) {
        uint mine = 0u;
        for (uint u = first; u < n; u += step) {
            if (distances[u] != level) continue;
            const uint last = indptr[u + 1];
            for (uint e = indptr[u] + lane; e < last; e += lanes) {
                const uint v = indices[e];
                if (distances[v] == UNREACHED) {
                    distances[v] = level + 1;
                    mine = 1u;
                }
            }
        }
        if (mine) store_relaxed(found + level % 3, 1u);
        if (get_global_id(0) == 0) store_relaxed(found + (level + 1) % 3, 0u);
        if (!grid_barrier(state, spin_limit)) return;
        if (!load_relaxed(found + level % 3)) return;
    }
}

% endfor
