<%namespace name="lanes" file="/lanes/lanes.mako"/>
// Sum of an array modulo 2^32, in versions that a profile, or a device's curves, lead from one to the next.
//
// No races: a work-group adds its sum to the total by an atomic.

${lanes.vocabulary()}
#define GROUP_SIZE ${group_size}u
#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${group_size}, 1, 1)))

// A tree in local memory: a barrier for each of its levels, and at each fewer lanes of every SIMD
// group that have something to do.
__kernel KERNEL void reduction_tree(
    __global const uint *restrict values,       // [n]
    const uint n,
    __global uint *restrict total)              // [1] in/out, 0 on entry
{
    __local uint sums[GROUP_SIZE];
    const uint lid = (uint)get_local_id(0), i = (uint)get_global_id(0);
    sums[lid] = i < n ? values[i] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < GROUP_SIZE; step *= 2u) {
        if (lid % (2u * step) == 0u) sums[lid] += sums[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0u) atomic_add(total, sums[0]);
}

// The same tree with neighbouring work-items at work, found without a remainder.
__kernel KERNEL void reduction_neighbours(
    __global const uint *restrict values,
    const uint n,
    __global uint *restrict total)
{
    __local uint sums[GROUP_SIZE];
    const uint lid = (uint)get_local_id(0), i = (uint)get_global_id(0);
    sums[lid] = i < n ? values[i] : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < GROUP_SIZE; step *= 2u) {
        const uint at = 2u * step * lid;
        if (at < GROUP_SIZE) sums[at] += sums[at + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0u) atomic_add(total, sums[0]);
}

// Lanes exchange values, and one barrier brings the sums of SIMD groups together.
__kernel KERNEL void reduction_lanes(
    __global const uint *restrict values,
    const uint n,
    __global uint *restrict total)
{
    ${lanes.setup()}
    __local uint sums[GROUP_SIZE / LANES];
    const uint lid = (uint)get_local_id(0), i = (uint)get_global_id(0);
    const uint sum = lane_reduce_add(i < n ? values[i] : 0u);
    if (lane_id() == 0u) sums[lid / LANES] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0u) {
        uint all = 0u;
        for (uint group = 0u; group < GROUP_SIZE / LANES; ++group) all += sums[group];
        atomic_add(total, all);
    }
}

// The same after each work-item has added up many elements, several loads of which are under way; four
// at a time where accesses are wide.
% for name, wide in (("reduction_many", False), ("reduction_wide", True)):
__kernel KERNEL void ${name}(
    __global const ${"uint4 *restrict values,      // [n / 4]" if wide else "uint *restrict values,"}
    const uint n,${"                               // a multiple of 4" if wide else ""}
    __global uint *restrict total)
{
    ${lanes.setup()}
    __local uint sums[GROUP_SIZE / LANES];
    const uint lid = (uint)get_local_id(0), step = (uint)get_global_size(0);
    uint mine = 0u;
    uint i = (uint)get_global_id(0);
% if wide:
    for (; i < n / 4u; i += step) {
        const uint4 four = values[i];
        mine += (four.x + four.y) + (four.z + four.w);
    }
% else:
    for (; i + 3u * step < n && i + 3u * step >= i; i += 4u * step) {
        const uint a = values[i], b = values[i + step], c = values[i + 2u * step], d = values[i + 3u * step];
        mine += (a + b) + (c + d);
    }
    for (; i < n; i += step) mine += values[i];
% endif
    const uint sum = lane_reduce_add(mine);
    if (lane_id() == 0u) sums[lid / LANES] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0u) {
        uint all = 0u;
        for (uint group = 0u; group < GROUP_SIZE / LANES; ++group) all += sums[group];
        atomic_add(total, all);
    }
}

% endfor
