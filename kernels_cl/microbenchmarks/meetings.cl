<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="barrier" file="/grid/barrier.mako"/>\
// What it takes to start a kernel, and to have all work-groups of one wait for one another.
//
// Races: none beside those of the barrier.
${memory.vocabulary()}
${barrier.vocabulary()}
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void nothing(__global uint *restrict sink, const uint never)
{
    if ((uint)get_local_id(0) == never) {
        sink[0] = 1u;
    }
}

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void meetings(
    const uint rounds,
    const uint spin_limit,                      // polls before the barrier gives up
    volatile __global uint *state,              // [96] of the barrier
    __global uint *restrict met)                // [groups] out: how often each met all others
{
    ${barrier.setup()}\
    uint round = 0u;
    while (round < rounds && grid_barrier(state, spin_limit)) {
        ++round;
    }
    if (get_local_id(0) == 0) {
        met[get_group_id(0)] = round;
    }
}
