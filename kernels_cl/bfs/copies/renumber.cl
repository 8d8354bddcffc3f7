// Rows of a graph under other numbers, in the order of these. Who has no number has no edges.
//
// No races: each work-group writes the rows that are its own.

typedef ${"ulong" if wide_offsets else "uint"} offset_t;

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void bfs_renumber(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    __global const uint *restrict order,            // [count] the vertex that has each number
    __global const uint *restrict numbers,          // [n] the number of each vertex
    __global const offset_t *restrict made_indptr,  // [count + 1]
    const uint count,
    __global uint *restrict made)                   // [m] out
{
    for (uint row = (uint)get_group_id(0); row < count; row += (uint)get_num_groups(0)) {
        const offset_t from = indptr[order[row]], to = made_indptr[row], length = made_indptr[row + 1] - to;
        for (offset_t e = get_local_id(0); e < length; e += ${group_size}u) made[to + e] = numbers[indices[from + e]];
    }
}
