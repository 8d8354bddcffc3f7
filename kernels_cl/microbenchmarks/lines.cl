<%namespace name="stress" file="/stress/stress.mako"/>\
// Reads or writes device memory so that `together` neighbouring lanes share a line of ${line_bytes} bytes and
// every other lane group has a line of its own; no line is touched twice before all others were.
//
// Races: lanes of a store write disjoint words. Values do not matter.
${stress.vocabulary()}
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void lines(
    const uint rounds,
    const uint value_of_stores,
    const uint never,                           // no local id; keeps the loads alive
    __global ulong *restrict cycles,            // [SIMD groups] out: cycles between start and end
    __global uint *restrict words)              // [sweep, lines of a step, words of a line]
{
    uint value = value_of_stores;
    const uint item = (uint)get_global_id(0);
    __global uint *const base = words + (size_t)(item / ${together}u) * ${line_bytes // 4}u + item % ${together}u;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = cycle_counter();
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
        ${stress.touches("global", way, "base", [step % sweep * step_bytes for step in range(unroll)])}\
    }
    const ulong end = cycle_counter();
    if ((uint)get_local_id(0) % ${lanes}u == 0u) {
        cycles[item / ${lanes}u] = end - start;
    }
    if ((uint)get_local_id(0) == never) {
        words[0] = value;
    }
}
