// Accesses of known patterns, by which the counters of a profile are checked.
//
// No races: every work-item writes elements of its own, or the same value as others.

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
