<%namespace name="stress" file="/lanes/stress/stress.mako"/>\
// Reads or writes the same words again and again: of local memory, where ${conflicts} lanes of a SIMD group
// meet in a bank, or of the cache that all compute units share.
//
// Races: work-groups of a store write the same value to words of their own.
${stress.vocabulary()}
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void words(
    const uint rounds,
    const uint value_of_stores,
    const uint never,                           // no local id; keeps the loads alive
    __global ulong *restrict spans,             // [SIMD groups, 3] out: start, end, 1 + unit
    __global uint *restrict shared_words)       // [global size] where the cache is meant
{
    __local uint banked[${local_words}];
    uint value = value_of_stores;
    const uint item = (uint)get_global_id(0);
    const uint lane = (uint)get_local_id(0) % ${banks}u;
    for (uint k = (uint)get_local_id(0); k < ${local_words}u; k += ${group_size}u) {
        banked[k] = k;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
% if space == "local":
    // Lanes that agree modulo the conflicts lie in one bank, in rows of their own.
    __local uint *const base = banked + lane % ${conflicts}u * ${banks}u + lane / ${conflicts}u;
% else:
    __global uint *const base = shared_words + item;
% endif
    const ulong start = cycle_counter();
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
        ${stress.touches(space, way, "base", [0] * unroll)}\
    }
    keep_span(spans, start);
    if ((uint)get_local_id(0) == never) {
        shared_words[item] = value + banked[lane];
    }
}
