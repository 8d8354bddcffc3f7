## membership: which work-groups a stage waits for, where they take its work from a counter.
##
## A group enters a stage before it claims any work and is waited for from then on; one that has not
## been given a processor yet, or has lost it while it waited, holds nobody up, and one that comes
## late helps with what is left. A stage ends when all that entered have arrived: the last of them
## closes it, and only that group decides what follows.
##
## Word          ENTERED + slot * SLOT_STRIDE: generation 32 | closed 1 | groups 31
## In scope      state words, the memory vocabulary
## Called by     one work-item of a group, in any control flow
## Recurrence    generations come round after 254 stages, so a group that was put aside for so long
##               may enter another stage than it read of. It reads the stage again once it is counted,
##               when it can no longer change.

<%def name="declarations()">
#define STAGE_CLOSED 0x80000000ul

static inline volatile __global ulong *stage_entered(volatile __global uint *state, const uint generation) {
    return (volatile __global ulong *)(state + ENTERED + (generation & 1u) * SLOT_STRIDE);
}

// By the group that is about to publish the stage, which takes part in it.
static inline void stage_open(volatile __global uint *state, const uint generation) {
    store_relaxed_ulong(stage_entered(state, generation), (ulong)generation << 32 | 1ul);
}

// Whether this group takes part; not if the stage is over.
static inline int stage_join(volatile __global uint *state, const uint generation) {
    volatile __global ulong *const entered = stage_entered(state, generation);
    ulong seen = load_relaxed_ulong(entered);
    while (seen >> 31 == (ulong)generation << 1) {
        const ulong before = atom_cmpxchg(entered, seen, seen + 1);
        if (before == seen) return 1;
        seen = before;
    }
    return 0;
}

// Whether the group that arrived as the `arrived`-th was the last of those that entered.
static inline int stage_close(volatile __global uint *state, const uint generation, const uint arrived) {
    volatile __global ulong *const entered = stage_entered(state, generation);
    const ulong seen = load_relaxed_ulong(entered);
    return (uint)(seen & (STAGE_CLOSED - 1)) == arrived && atom_cmpxchg(entered, seen, seen | STAGE_CLOSED) == seen;
}
</%def>
