<%namespace name="stress" file="/lanes/stress/stress.mako"/>\
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
    const uint keeper,                          // local id that keeps its place; none if groups are many
    __global ulong *restrict spans,             // [SIMD groups, 3] out: start, end, 1 + unit
    __global ulong *restrict place_reached,     // [1] where to begin, out: where the keeper ended
    ${qualifier} ulong *table)                  // [count] addresses; for local memory, places to chain
{
% if space == "local":
    __local ulong chained[${local_words}];
    // Without a loop, so that purity is that of the loop below.
% for first in range(0, local_words, group_size):
    chained[${first}u + (uint)get_local_id(0)] = (ulong)(size_t)(chained + table[${first}u + (uint)get_local_id(0)]);
% endfor
    ulong at = (ulong)(size_t)chained;
% else:
    // Launches go on where the last one ended: the same few lines would soon lie in a cache.
    ulong at = place_reached[0];
% endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = cycle_counter();
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
        ${stress.chase(space, "at", unroll)}\
    }
    keep_span(spans, start);
    if ((uint)get_local_id(0) == keeper) {
        place_reached[0] = at;
    }
}
