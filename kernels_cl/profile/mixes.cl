<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="barrier" file="/grid/barrier.mako"/>\
// Work of every kind in known amounts, by which prices of predicted times are fitted: at once or, where
// `staged`, with a barrier of all work-groups after each stage.
//
// Races: only additions by atomics and those of the barrier; what else is written belongs to the work-item.
% if staged:
${memory.vocabulary()}
${barrier.vocabulary()}
% endif
#define SLOTS ${slots}u
#define WINDOW ${window}u

static inline uint mixes_hash(const uint x) {
    const uint h = (x ^ x >> 15) * 2654435761u;
    return h ^ h >> 13;
}

// The first `active` of every 32 work-items work. Reads do not wait for one another, links
// of a chain do; near ones stay in a window of the work-group's own.
static inline uint mixes_work(
    __global const uint *restrict from,
    __global uint *restrict counts,
    __local uint *slots,
    uint sum,
    const uint mask,
    const uint words,
    const uint reads,
    const uint scattered,
    const uint links,
    const uint near,
    const uint additions,
    const uint passes,
    const uint stride,
    const uint atomics,
    const uint active)
{
    const uint i = (uint)get_global_id(0), items = (uint)get_global_size(0), lid = (uint)get_local_id(0);
    if (lid % 32u < active) {
        for (uint turn = 0u; turn < reads; ++turn) {
            const uint next = i + turn * items;
            sum += from[(scattered != 0u ? mixes_hash(next) : next) & mask];
        }
        for (uint turn = 0u; turn < links; ++turn) sum = from[mixes_hash(sum + turn) & mask] + i;
        const uint first = (uint)get_group_id(0) * WINDOW;
        for (uint turn = 0u; turn < near; ++turn) sum = from[(first + (sum + turn) % WINDOW) & mask] + lid;
        for (uint turn = 0u; turn < additions; ++turn) sum = sum * 1664525u + (sum >> 7 ^ turn);
        for (uint turn = 0u; turn < passes; ++turn) sum += slots[lid * stride + turn & SLOTS - 1u];
        for (uint turn = 0u; turn < atomics; ++turn)
            sum += atomic_add(&counts[mixes_hash(i + turn * items) & words], 1u);
    }
    return sum;
}

<%def name="parameters()">\
    __global const uint *restrict from,         // [mask + 1]
    __global uint *restrict counts,             // [words + 1] in/out
    __global uint *restrict to,                 // [work-items] out
    const uint mask,                            // powers of two less 1
    const uint words,
    const uint reads,
    const uint scattered,                       // 1, or 0: neighbours read neighbours
    const uint links,
    const uint near,
    const uint additions,
    const uint passes,                          // over local memory
    const uint stride,                          // of neighbours there
    const uint atomics,
    const uint active\
</%def>\
<%def name="begin()">\
    __local uint slots[SLOTS];
    const uint lid = (uint)get_local_id(0);
% for first in range(0, slots, group_size):
    slots[${first}u + lid] = lid;
% endfor
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = (uint)get_global_id(0);\
</%def>\
<%def name="work()">\
sum = mixes_work(from, counts, slots, sum, mask, words, reads, scattered, links, near, additions, passes, stride, atomics, active);\
</%def>\
% if not staged:
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1))) void mixes_at_once(
${parameters()})
{
${begin()}
    ${work()}
    to[get_global_id(0)] = sum;
}

// Neighbours hand each other words in local memory, again and again.
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1))) void mixes_barriers(
    __global uint *restrict to,                 // [work-items] out
    const uint barriers)
{
    __local uint slots[${group_size}];
    const uint lid = (uint)get_local_id(0);
    uint sum = lid;
    for (uint turn = 0u; turn < barriers; ++turn) {
        slots[lid] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += slots[(lid + 1u) % ${group_size}u];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    to[get_global_id(0)] = sum;
}
% else:
// The first `busy` work-groups work in each stage, and the others wait for them.
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1))) void mixes_in_stages(
${parameters()},
    volatile __global uint *state,              // [96] of the barrier
    const uint spin_limit,                      // polls before the barrier gives up
    const uint stages,
    const uint busy)
{
    ${barrier.setup()}\
${begin()}
    for (uint stage = 0u; stage < stages; ++stage) {
        if ((uint)get_group_id(0) < busy) { ${work()} }
        if (!grid_barrier(state, spin_limit)) return;
    }
    to[get_global_id(0)] = sum;
}
% endif
