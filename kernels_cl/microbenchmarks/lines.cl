<%namespace name="stress" file="/lanes/stress/stress.mako"/>\
// Reads or writes device memory, ${4 * width} bytes a lane, so that `together` neighbouring lanes share a
// line of ${line_bytes} bytes; a work-group touches none of its lines twice before all others of its own.
//
// Each work-group has a part of the array to itself, so offsets are small enough for instructions to
// hold them: sums of addresses would take registers, and leave room for few groups at a time.
//
// Races: lanes of a store write disjoint words. Values do not matter.
${stress.vocabulary()}
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void lines(
    const uint rounds,
    const uint value_of_stores,
    const uint never,                           // no local id; keeps the loads alive
    __global ulong *restrict spans,             // [SIMD groups, 3] out: start, end, 1 + unit
    __global uint *restrict words)              // [groups, sweep, lines of a step, words of a line]
{
    uint value = value_of_stores;
    const uint item = (uint)get_local_id(0);
    __global uint *const base = words + (size_t)get_group_id(0) * ${sweep * step_bytes // 4}u
        + item / ${together}u * ${line_bytes // 4}u + item % ${together}u * ${width}u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = cycle_counter();
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
        ${stress.touches("global", way, "base", [step % sweep * step_bytes for step in range(unroll)], width)}\
    }
    keep_span(spans, start);
    if ((uint)get_local_id(0) == never) {
        words[0] = value;
    }
}
