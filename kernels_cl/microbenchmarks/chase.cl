<%namespace name="stress" file="/stress/stress.mako"/>\
// Follows addresses through memory: each word holds the address of the next, so a load cannot begin
// before the one before it has ended.
//
// No races: nothing is written but results.
<%
    qualifier = {"global": "__global", "cached": "__global", "local": "__global", "constant": "__constant"}[space]
%>\
${stress.vocabulary()}
// Says where the words lie, for the host to chain them.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void place(${qualifier} ulong *table, __global ulong *restrict address)
{
    address[0] = (ulong)(size_t)table;
}

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void chase(
    const uint rounds,
    const uint never,                           // no local id; keeps the loads alive
    __global ulong *restrict cycles,            // [SIMD groups] out: cycles between start and end
    __global ulong *restrict sink,              // [1]
    ${qualifier} ulong *table)                  // [count] addresses; for local memory, places to chain
{
% if space == "local":
    __local ulong chained[${local_words}];
    for (uint k = (uint)get_local_id(0); k < ${local_words}u; k += ${group_size}u) {
        chained[k] = (ulong)(size_t)(chained + table[k]);
    }
    ulong at = (ulong)(size_t)chained;
% else:
    ulong at = (ulong)(size_t)table;
% endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = cycle_counter();
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
        ${stress.chase(space, "at", unroll)}\
    }
    const ulong end = cycle_counter();
    if ((uint)get_local_id(0) % ${lanes}u == 0u) {
        cycles[(uint)get_global_id(0) / ${lanes}u] = end - start;
    }
    if ((uint)get_local_id(0) == never) {
        sink[0] = at;
    }
}
