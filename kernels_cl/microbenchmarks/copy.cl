// Copies an array in elements of ${element_bytes} bytes, `rounds` times.
//
// No races: each work-item has elements of its own; every round writes what the first wrote.
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void copy(
    const uint rounds,
    const ulong count,                          // elements
    volatile const __global ${kind} *from,      // [count]
    volatile __global ${kind} *to)              // [count] out
{
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
        for (ulong k = get_global_id(0); k < count; k += get_global_size(0)) {
            to[k] = from[k];
        }
    }
}
