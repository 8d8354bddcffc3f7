<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="barrier" file="/grid/barrier.mako"/>\
// Accesses of known patterns, by which the counters of a profile are checked.
//
// No races but those of the barrier: every work-item writes elements of its own, or the same value as
// others, or adds atomically.
${memory.vocabulary()}
${barrier.vocabulary()}
__kernel void patterns_strided(
    __global const ${type} *restrict from,      // [work-items * stride]
    __global ${type} *restrict to,              // [work-items * stride] out
    const uint stride)
{
    const uint i = (uint)get_global_id(0) * stride;
    to[i] = from[i];
}

// Everybody reads the first element.
__kernel void patterns_broadcast(
    __global const ${type} *restrict from,      // [1]
    __global ${type} *restrict to)              // [work-items] out
{
    to[get_global_id(0)] = from[0];
}

// The first `active` of `together` work-items in a row go one way; the other way is empty.
__kernel void patterns_divergent(
    __global uint *restrict to,                 // [work-items] in/out
    const uint together,
    const uint active)
{
    const uint i = (uint)get_global_id(0);
    if (i % together < active) {
        uint x = i;
        x = x * 1664525u + 1013904223u;
        x = x * 1664525u + 1013904223u;
        x = (x ^ x >> 13) * 2654435761u;
        x = (x ^ x >> 16) * 2246822519u + (x ^ x >> 11) * 3266489917u;
        x = (x ^ x >> 15) * 668265263u + (x ^ x >> 12) * 374761393u;
        to[i] = x;
    }
}

// Words of local memory that are `stride` apart; 0 is a broadcast.
__kernel void patterns_local(
    __global ${type} *restrict to,              // [work-items] out
    const uint stride,
    __local ${type} *words)                     // [work-items of a group * max(stride, 1)]
{
    const uint lid = (uint)get_local_id(0);
    words[lid * stride] = (${type})(lid);
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = words[lid * stride];
}

// One SIMD group of each work-group works `rounds` rounds, the others leave at once.
__kernel void patterns_unbalanced(
    __global uint *restrict to,                 // [work-items] out
    const uint together,
    const uint rounds)
{
    const uint i = (uint)get_global_id(0);
    if (get_local_id(0) >= together) return;
    uint x = i | 1u;
    for (uint round = 0u; round < rounds; ++round) x = x * 1664525u + 1013904223u;
    to[i] = x;
}

// Everybody adds to one of the first `words` elements.
__kernel void patterns_contended(
    __global uint *restrict to,                 // [words] in/out
    const uint words)
{
    atomic_add(&to[(uint)get_global_id(0) % words], 1u);
}

// Each reads its own element again and again.
__kernel void patterns_again(
    __global const ${type} *restrict from,      // [work-items]
    __global ${type} *restrict to,              // [work-items] out
    const uint rounds)
{
    const uint i = (uint)get_global_id(0);
    ${type} x = from[i];
    for (uint round = 1u; round < rounds; ++round) x ^= from[i];
    to[i] = x;
}

// Every lane goes round once more than the one before it and reads; then all meet.
__kernel void patterns_parted(
    __global uint *restrict to,                 // [work-items] in/out
    const uint together)
{
    const uint i = (uint)get_global_id(0);
    uint x = 0u;
    for (uint round = 0u; round <= i % together; ++round) x += to[i] ^ round;
    to[i] = x;
    barrier(CLK_GLOBAL_MEM_FENCE);
}

// One work-group after the other reads `loads` times while the others wait for it.
__kernel void patterns_in_turn(
    volatile __global uint *from,               // [work-items]
    volatile __global uint *state,              // [96] of the barrier
    const uint rounds,
    const uint loads)
{
    ${barrier.setup()}\
    for (uint round = 0u; round < rounds; ++round) {
        if (round % (uint)get_num_groups(0) == (uint)get_group_id(0))
            for (uint k = 0u; k < loads; ++k) (void)from[get_global_id(0)];
        if (!grid_barrier(state, 1u << 22)) return;
    }
}
