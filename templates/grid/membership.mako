## membership: which work-groups a stage waits for, where they take its work from a counter.
##
## A group enters a stage before it claims any work and is waited for from then on; one that has not
## been given a processor yet, or has lost it while it waited, holds nobody up, and one that comes
## late helps with what is left. A stage ends when all that entered have arrived: the last of them
## closes it, and only that group decides what follows.
##
## Word          ENTERED + slot * SLOT_STRIDE: generation 16 | arrived 24 | entered 24; a stage is over
##               once as many have arrived as entered. Arriving and learning whether one was the last
##               are one atomic: a group that loses its processor in between finds nothing changed.
## In scope      state words, the memory vocabulary
## Called by     one work-item of a group, in any control flow
## Recurrence    generations come round after 254 stages, so a group that was put aside for so long
##               may enter another stage than it read of. It reads the stage again once it is counted,
##               when it can no longer change.

<%def name="declarations()">
#define STAGE_ARRIVAL (1ul << 24)
#define STAGE_COUNT(word) ((uint)(word) & 0xffffffu)

static inline volatile __global ulong *stage_entered(volatile __global uint *state, const uint generation) {
    return (volatile __global ulong *)(state + ENTERED + (generation & 1u) * SLOT_STRIDE);
}

// By the group that is about to publish the stage, which takes part in it.
static inline void stage_open(volatile __global uint *state, const uint generation) {
    store_relaxed_ulong(stage_entered(state, generation), (ulong)generation << 48 | 1ul);
}

// Whether this group takes part; not if the stage is over.
static inline int stage_join(volatile __global uint *state, const uint generation) {
    volatile __global ulong *const entered = stage_entered(state, generation);
    ulong seen = load_relaxed_ulong(entered);
    while (seen >> 48 == generation && STAGE_COUNT(seen >> 24) != STAGE_COUNT(seen)) {
        const ulong before = atom_cmpxchg(entered, seen, seen + 1);
        if (before == seen) return 1;
        seen = before;
    }
    return 0;
}

// Whether the group that arrives is the last of those that entered.
static inline int stage_arrive(volatile __global uint *state, const uint generation) {
    const ulong before = atom_add(stage_entered(state, generation), STAGE_ARRIVAL);
    return STAGE_COUNT(before >> 24) + 1 == STAGE_COUNT(before);
}
</%def>
