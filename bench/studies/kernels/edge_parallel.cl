// Breadth-first search that looks at every edge in every level: O(m) work a level, no frontier.
//
// Races: several edges may give a vertex its distance together; all give the same.

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void edge_parallel(
    __global const uint *restrict sources,        // [m]
    __global const uint *restrict targets,        // [m]
    const ulong m,
    const int level,
    __global int *distances,                    // [n] in/out, -1 where unreached
    __global uint *found)                       // [1] in/out: set where a vertex was found
{
    for (ulong e = get_global_id(0); e < m; e += get_global_size(0)) {
        const uint v = targets[e];
        if (distances[v] == -1 && distances[sources[e]] == level) {
            distances[v] = level + 1;
            *found = 1u;
        }
    }
}
