// Accesses, additions, local memory and atomics side by side, each of which can be left out.
//
// Races: only additions by atomics; what is written belongs to the work-item.

#define SLOTS ${slots}u

// Every work-item reads `reads` elements: neighbours read neighbours, or elements anywhere.
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1))) void limiters_mixed(
    __global const uint *restrict from,         // [mask + 1]
    __global uint *restrict to,                 // [work-items] out
    __global uint *restrict counts,             // [mask + 1] in/out
    const uint mask,                            // a power of two less 1
    const uint reads,
    const uint scattered,                       // 1, or 0: neighbours
    const uint additions,
    const uint passes,                          // over local memory
    const uint stride,                          // of neighbours there
    const uint atomics)
{
    __local uint slots[SLOTS];
    const uint i = (uint)get_global_id(0), items = (uint)get_global_size(0);
    const uint lid = (uint)get_local_id(0);
    for (uint slot = lid; slot < SLOTS; slot += ${group_size}u) slots[slot] = slot;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = i;
    for (uint turn = 0u; turn < reads; ++turn) {
        const uint next = i + turn * items;
        const uint hash = (next ^ next >> 15) * 2654435761u;
        sum += from[(scattered != 0u ? hash ^ hash >> 13 : next) & mask];
    }
    for (uint turn = 0u; turn < additions; ++turn) sum = sum * 1664525u + (sum >> 7 ^ turn);
    for (uint turn = 0u; turn < passes; ++turn) sum += slots[lid * stride + turn & SLOTS - 1u];
    for (uint turn = 0u; turn < atomics; ++turn) {
        const uint hash = (i + turn * items ^ i >> 13) * 2246822519u;
        atomic_add(&counts[(hash ^ hash >> 15) & mask], 1u);
    }
    to[i] = sum;
}
