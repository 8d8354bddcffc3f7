<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="barrier" file="/grid/barrier.mako"/>\
// Crosses the grid barrier again and again. In every round each group writes its slot, crosses, and
// counts the slots that do not show the round; a second crossing keeps the next round's writes away.
//
// No races: slots are written and read on different sides of a barrier. A race checker that knows no
// such barrier can be given ordered_slots, which makes them words for the memory vocabulary.
<%def name="write(slot, x)">${f"store_relaxed(&{slot}, {x})" if ordered_slots else f"{slot} = {x}"}</%def>\
<%def name="read(slot)">${f"load_relaxed(&{slot})" if ordered_slots else slot}</%def>\
${memory.vocabulary()}
${barrier.vocabulary()}
% if counted:
${barrier.counted()}
#define CROSS() grid_barrier_after(state, spin_limit, before + crossings++)
% else:
#define CROSS() grid_barrier(state, spin_limit)
% endif

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void grid_check(
    const uint rounds,
    const uint spin_limit,                      // polls before the barrier gives up
    __global uint *slots,                       // [groups, group_size] scratch
    volatile __global uint *state,              // [96] of the barrier
    __global uint *restrict crossed,            // [groups] out: rounds completed
    __global uint *restrict stale)              // [groups] in/out: slots seen without the round's value
{
    ${barrier.setup()}\
    const uint count = (uint)get_global_size(0);
% if counted:
    const uint before = load_relaxed(&state[GRID_BARRIER_ROUND]);
    uint crossings = 0u;
% endif
    for (uint round = 1; round <= rounds; ++round) {
        ${write("slots[get_global_id(0)]", "round")};
        if (!CROSS()) {
            return;
        }
        for (uint i = (uint)get_local_id(0); i < count; i += (uint)get_local_size(0)) {
            if (${read("slots[i]")} != round) {
                atomic_inc(&stale[get_group_id(0)]);
            }
        }
        if (!CROSS()) {
            return;
        }
        if (get_local_id(0) == 0) {
            crossed[get_group_id(0)] = round;
        }
    }
}
