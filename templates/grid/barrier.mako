## barrier: all work-groups of a launch wait for one another, but not for ever.
##
## vocabulary()   at file scope, once, after memory.vocabulary()
## setup()        among a kernel's first statements
## int grid_barrier(state, spin_limit)   1 once all groups have arrived and see one another's writes
##                to global memory; 0 if one was missing after spin_limit polls: then the kernel must
##                leave, every later call gives 0 at once, and state[GRID_BARRIER_FAILED] is 1
## counted()      at file scope, once, after vocabulary(), where a kernel counts its calls itself:
## int grid_barrier_after(state, spin_limit, round)   the same with fewer turns to memory; round is
##                state[GRID_BARRIER_ROUND] as it was before the kernel's first call, and one more in each
##                later one. Of groups that have begun all get the same; one that begins when another has
##                given up may get 1 once, and 0 from then on. A state is for one kind of calls, and is zeroed
##                after a failure
## In scope       the memory vocabulary
## Called by      all work-items of all groups, in uniform control flow; the result is uniform in a group
## Barriers       two of the work-group
## Local memory   4 bytes
##
## state          volatile __global uint [GRID_BARRIER_WORDS], zero before the first launch; a launch
##                that ended well leaves it ready for the next
## A group may get 1 while another gets 0 in the same call, when the missing one came at the last
## moment. So the host trusts a launch only if the failed word is 0 after it.

<%def name="vocabulary()">\
// Words that are polled, counted and rarely written lie on cache lines of their own.
#define GRID_BARRIER_ARRIVED 0
#define GRID_BARRIER_ROUND 32
#define GRID_BARRIER_FAILED 64
#define GRID_BARRIER_WORDS 96
#define grid_barrier(state, spin_limit) grid_barrier_in_group(&grid_barrier_passed, (state), (spin_limit))

// For one work-item of each group, with that group's writes already visible to it.
static inline int grid_barrier_arrive(volatile __global uint *state, uint spin_limit) {
    if (load_relaxed(&state[GRID_BARRIER_FAILED])) {
        return 0;
    }
    const uint round = load_relaxed(&state[GRID_BARRIER_ROUND]);
    fence_device();
    if (atomic_inc(&state[GRID_BARRIER_ARRIVED]) + 1 == get_num_groups(0)) {
        fence_device();
        store_relaxed(&state[GRID_BARRIER_ARRIVED], 0);
        store_release(&state[GRID_BARRIER_ROUND], round + 1);
        return 1;
    }
    for (uint spins = 0; spins < spin_limit; ++spins) {
        if (load_acquire(&state[GRID_BARRIER_ROUND]) != round) {
            return 1;
        }
        if (load_relaxed(&state[GRID_BARRIER_FAILED])) {
            return 0;
        }
        spin_hint();
    }
    atomic_or(&state[GRID_BARRIER_FAILED], 1);
    return 0;
}

static inline __attribute__((always_inline)) int grid_barrier_in_group(
    __local int *passed, volatile __global uint *state, uint spin_limit) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        *passed = grid_barrier_arrive(state, spin_limit);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *passed;
}
</%def>

<%def name="counted()">\
// What arrives in a round adds up to the highest bit, whoever is first, so that nothing has to be reset.
// Either the last one ends the round or one that gave up does; who asks then knows which.
static inline int grid_barrier_arrive_in(volatile __global uint *state, uint spin_limit, uint round) {
    const uint missed = round + 0x80000000u;
    const uint own = get_group_id(0) ? 1u : 0x80000000u - ((uint)get_num_groups(0) - 1u);
    uint now = round;
    fence_device();
    if (((atomic_add(&state[GRID_BARRIER_ARRIVED], own) + own) & 0x7fffffffu) == 0u) {
        fence_device();
        now = atomic_cmpxchg(&state[GRID_BARRIER_ROUND], round, round + 1u);
        return now == round;
    }
    for (uint spins = 0; spins < spin_limit && now == round; ++spins) {
        now = load_acquire(&state[GRID_BARRIER_ROUND]);
        if (now == round) spin_hint();
    }
    if (now == round) {
        now = atomic_cmpxchg(&state[GRID_BARRIER_ROUND], round, missed);
        fence_device();
        if (now == round) store_relaxed(&state[GRID_BARRIER_FAILED], 1u);
    }
    return now == round + 1u;
}

#define grid_barrier_after(state, spin_limit, round) grid_barrier_counted(&grid_barrier_passed, (state), (spin_limit), (round))

static inline __attribute__((always_inline)) int grid_barrier_counted(
    __local int *passed, volatile __global uint *state, uint spin_limit, uint round) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) *passed = grid_barrier_arrive_in(state, spin_limit, round);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *passed;
}
</%def>

<%def name="setup()">\
__local int grid_barrier_passed;
</%def>
