## bucket_queues: entries that any SIMD group may push and any other may take, in buckets, without barriers.
##
## Every bucket has BUCKET_QUEUES bucket_queues, so that SIMD groups seldom push to and take from the same one: each
## goes from ring to ring, as `home` says. Where they all looked at the same words, an H200 took 16 ms with
## 528 of them and 290 with 4,224. Bucket b uses the bucket_queues of b % BUCKETS; those of the same number side by side.
## A ring has two counters that only grow, in one word: entries that room was reserved for, and entries that
## were taken.
##
## A slot is zero until it is written and after it was read, so a reader knows when what it has taken is
## there; the writer, which has reserved the slot and waits for nobody, is about to write it. A ring
## may be filled anew while a reader that took a slot is put aside for a whole round of it: then one
## entry is written over another and some reader waits in vain. That, and a reservation beyond the ring's size, set
## STOP_FULL: what is in the bucket_queues is not to be trusted then.
##
## clear, look, look_at_counts, push, take   as said below; `take` is for buckets that the caller may work on
## Gives         COUNT(b), BASE, STOP, IDLE: words of bucket_state; BUCKETS
## In scope      bucket_queues [BUCKETS * BUCKET_QUEUES * (bucket_mask + 1)], bucket_state, bucket_mask, home, spin_limit
## Called by     lane-uniform control flow
## Barriers      none

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="declarations()">
#define BUCKETS ${config.method.buckets}u
#define BUCKET_QUEUES ${config.bucket_queues}u
#define STOP_FULL 2u
// Lines of 32 words: what is often read, who idles, what everybody counts with.
#define BASE (bucket_state + 0)      // no bucket below this will have entries any more
#define STOP (bucket_state + 1)      // words 2 to 31 are the caller's
#define IDLE (bucket_state + 32)     // SIMD groups that look for work
#define FIRST_COUNT 64u
#define COUNT(bucket_) (bucket_state + FIRST_COUNT + (bucket_) % BUCKETS)
#define BUCKET_WORDS ${64 + max(config.method.buckets, 32)}u
#define RING_OF(bucket_, ring_) ((ring_) * BUCKETS + (bucket_) % BUCKETS)
// Low half: entries taken; high half: entries reserved.
#define RING(bucket_, ring_) ((volatile __global ulong *)(bucket_state + BUCKET_WORDS) + RING_OF(bucket_, ring_))
#define RING_SLOT(bucket_, ring_, place_) (bucket_queues + (size_t)RING_OF(bucket_, ring_) * ((size_t)bucket_mask + 1) + ((place_) & bucket_mask))
</%def>

## By all who take part in a stage: empties bucket_queues and forgets what was counted.
<%def name="clear()">
<%tiles:each_tile count="BUCKETS * BUCKET_QUEUES" size="1">
    for (size_t at = lane_id(); at <= bucket_mask; at += LANES) bucket_queues[(size_t)tile_begin * ((size_t)bucket_mask + 1) + at] = 0;
    if (lane_id() == 0) ((volatile __global ulong *)(bucket_state + BUCKET_WORDS))[tile_begin] = 0;
    for (uint at = lane_id(); tile_begin == 0 && at < BUCKET_WORDS; at += LANES) bucket_state[at] = 0;
</%tiles:each_tile>
</%def>

## Sets base and stop to what they are now; `read` may read more of the first `words` words.
<%def name="look(words, read)">
{
    <% lines = max(words // config.lanes, 1) %>
    % for line in range(lines):
    const uint line${line} = load_relaxed(bucket_state + ${line * config.lanes}u + lane_id() % ${words}u);
    % endfor
    base = lane_broadcast(line0, 0);
    stop = lane_broadcast(line${1 // config.lanes}, ${1 % config.lanes}u);
    ${read("line", config.lanes)}
}
</%def>

## Sets lowest to how far above base the lowest bucket is that has a count (BUCKETS: none has) and counted to
## how many have; advances BASE where the lowest has none, and one lane of whoever was first does what
## `advanced` says. Not to be called too often: everybody counts there.
<%def name="look_at_counts(advanced)">
{
    lowest = BUCKETS;
    counted = 0;
    for (uint b = lane_id(); b < BUCKETS; b += LANES)
        if (load_relaxed(COUNT(b))) {
            lowest = min(lowest, (b - base) % BUCKETS);
            counted += 1;
        }
    lowest = lane_reduce_min(lowest);
    counted = lane_reduce_add(counted);
    // One at a time: that the next one has no count either may have been seen too early.
    if (lowest && lowest < BUCKETS) {
        base += 1;
        lowest -= 1;
        if (lane_id() == 0 && atomic_max(BASE, base) < base) {
            ${advanced()}
        }
    }
}
</%def>

## Pushes the vertices of those lanes, one at least, whose flag is set, with half of their keys. The caller has a
## count of this bucket or of one below; with `counted` it has given up as many of this bucket as are pushed.
<%def name="push(bucket, flag, vertex, key, counted)">
{
    const lanemask_t pushing_here = lane_ballot(${flag});
    uint place = 0, fits = 0;
    if (lane_id() == 0) {
        const uint many = lanemask_count(pushing_here);
        const uint before = ${counted} ? 0u : atomic_add(COUNT(${bucket}), many);
        const ulong word = atom_add(RING(${bucket}, home), (ulong)many << 32);
        place = (uint)(word >> 32);
        // Both have been done when this is known: what is written below has been counted before.
        fits = before < 0x80000000u && place - (uint)word + many <= bucket_mask + 1;
        if (!fits) atomic_or(STOP, STOP_FULL);
    }
    const uint ring = home;
    home = (home + 1) % BUCKET_QUEUES;   // so that all of a bucket's bucket_queues fill, however few push
    place = lane_broadcast(place, 0) + lanemask_count(pushing_here & lane_mask_lt());
    fits = lane_broadcast(fits, 0);
    if (fits && (${flag})) store_relaxed_ulong(RING_SLOT(${bucket}, ring, place), (ulong)(uint)(${key}) << 32 | ((${vertex}) + 1u));
}
</%def>

## Declares found, share and value: takes `share` entries (none: there are none, or others were faster) from ring
## `ring` of the lowest of the buckets from `base` to `reach` beyond that has any; to `last_bucket` at most.
## `idle_groups` groups share what there is.
<%def name="take(base, reach, ring)">
uint found = 0, share = 0;
ulong value = 0;
{
    uint nearest = BUCKETS;
    ulong word = 0;
    for (uint b = lane_id(); b < BUCKETS; b += LANES) {
        const ulong word_here = load_relaxed_ulong(RING(b, ${ring}));
        const uint beyond = (b - ${base}) % BUCKETS;
        if ((uint)(word_here >> 32) != (uint)word_here && beyond < nearest) {
            nearest = beyond;
            word = word_here;
        }
    }
    const uint beyond = lane_reduce_min(nearest);
    found = ${base} + beyond;
    if (beyond <= ${reach}u && found <= last_bucket) {
        word = lane_shuffle_ulong(word, lanemask_first(lane_ballot(nearest == beyond)));
        const uint first = (uint)word, there = (uint)(word >> 32) - first;
        // About as many groups look at each ring.
        share = clamp((uint)min((ulong)there * BUCKET_QUEUES / max(idle_groups, 1u), (ulong)LANES), 1u, there);
        uint taken = 0;
        if (lane_id() == 0) taken = atomic_cmpxchg((volatile __global uint *)RING(found, ${ring}), first, first + share) == first;
        if (!lane_broadcast(taken, 0)) share = 0;
        volatile __global ulong *const mine_here = RING_SLOT(found, ${ring}, first + lane_id());
        const int wanting = lane_id() < share;
        for (uint polls = 1; share; ++polls) {
            if (wanting && !value) value = load_relaxed_ulong(mine_here);
            if (lane_all(!wanting || value)) break;
            if ((polls & 63u) == 0) {
                uint over = 0;
                if (lane_id() == 0) {
                    if (polls >= spin_limit) atomic_or(STOP, STOP_FULL);
                    over = load_relaxed(STOP) & STOP_FULL;
                }
                if (lane_broadcast(over, 0)) break;
            }
        }
        if (value) store_relaxed_ulong(mine_here, 0);
    }
}
</%def>
