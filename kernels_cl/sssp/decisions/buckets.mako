## buckets: what follows a stage of a search by buckets, by one work-item while all others wait.
##
## Order         relax until no bucket that is wanted has a count; after trouble with the bucket_queues clear, split
##               and relax again. Then as common.mako
## In scope      the kernel's arguments, now, next, slot, queued; control_block: the words of the search

<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="common" file="/sssp/decisions/common.mako"/>
<%namespace name="bucket_queues" file="/frontier/bucket_queues.mako"/>

<%def name="declarations()">
${bucket_queues.declarations()}

// Which bucket a length belongs to: that of the pivot, or one above for every `delta` beyond it. What lies
// below the pivot lies below all buckets that are in use.
#define PER_LENGTH (bucket_state + 3)        // 1 / delta, a pattern
#define PIVOT_BUCKET (bucket_state + 4)
#define NEXT_CHANGE (bucket_state + 5)       // which bucket delta may change with
#define PIVOT ((volatile __global ulong *)(bucket_state + 6))
#define IDLE_SUM (bucket_state + 8)          // of IDLE, since delta may have changed
#define CHANGES (bucket_state + 9)           // how often it did
typedef struct {
    key_t pivot;
    uint bucket;
    float per_length;
} widths_t;

static inline uint bucket_of(const key_t key, const widths_t widths) {
    if (key < widths.pivot) return widths.bucket - (widths.bucket > 0);
    return widths.bucket + (uint)min((float)(length_of(key) - length_of(widths.pivot)) * widths.per_length, 1073741824.0f);
}

static inline widths_t widths_now(volatile __global uint *bucket_state) {
    widths_t widths;
    widths.pivot = (key_t)load_relaxed_ulong(PIVOT);
    widths.bucket = load_relaxed(PIVOT_BUCKET);
    widths.per_length = as_float(load_relaxed(PER_LENGTH));
    return widths;
}

static inline void set_widths(volatile __global uint *bucket_state, const widths_t widths) {
    store_relaxed_ulong(PIVOT, (ulong)widths.pivot);
    store_relaxed(PIVOT_BUCKET, widths.bucket);
    store_relaxed(PER_LENGTH, as_uint(widths.per_length));
}

// Entries of buckets up to the last that is wanted which are not expanded.
static inline ulong outstanding(volatile __global uint *bucket_state, const uint last_bucket) {
    const uint base = load_relaxed(BASE);
    ulong sum = 0;
    for (uint b = 0; b < BUCKETS; ++b)
        if (base + b <= last_bucket) sum += load_relaxed(COUNT(base + b));
    return sum;
}

// Entries in bucket_queues.
static inline ulong in_buckets(volatile __global uint *bucket_state) {
    ulong sum = 0;
    for (uint ring = 0; ring < BUCKETS * BUCKET_QUEUES; ++ring) {
        const ulong word = load_relaxed_ulong((volatile __global ulong *)(bucket_state + BUCKET_WORDS) + ring);
        sum += (uint)(word >> 32) - (uint)word;
    }
    return sum;
}
</%def>

<%def name="decide()">
    const uint hubs = 0;
    ulong explored, work;
    ${common.load_totals()}
    const ulong edges = now.mode == RELAX ? *(volatile __global ulong *)(state + NEXT_EDGES + slot * SLOT_STRIDE)
                                          : (ulong)*(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
    const uint expanded = now.mode == RELAX ? load_relaxed(state + NEXT_HUBS + slot * SLOT_STRIDE) : 0u;
    next.length = queued;
    next.hubs = 0;
    if (now.mode == FILL) {
        control_block[ROOTS] = 0;
        CONTROL_ULONG(CUT) = last_key;
        state[STATUS_FLAGS] = 0;
        next.mode = control_block[BUCKETS_CLEAN] ? START : CLEAR;
        next.rebuilds = 0;
        next.length = source_count;
        next.level = 1;
        control_block[BUCKETS_CLEAN] = 0;
        store_relaxed(BASE, 0u);
        store_relaxed(STOP, 0u);
        store_relaxed(IDLE, 0u);
        explored = 0;
        work = n;
    } else if (now.mode == CLEAR) {
        next.mode = now.rebuilds ? SPLIT : START;
        next.length = now.rebuilds ? n : source_count;
        work += n;
    } else if (now.mode == START || now.mode == SPLIT) {
        next.mode = RELAX;
        next.level += 1;
        next.queue ^= 1;
        const widths_t widths = {KEY_ZERO, 0, per_length};
        set_widths(bucket_state, widths);
        // With a target, order decides when it is known, so bounds are not touched.
        store_relaxed(NEXT_CHANGE, ${f"target < n ? 0xffffffffu : {config.period}u" if config.period else "0xffffffffu"});
        store_relaxed(IDLE_SUM, 0u);
        store_relaxed(CHANGES, 0u);
        store_relaxed(COUNT(0), queued);
    } else if (now.mode == RELAX) {
        explored += edges;
        next.level += 1;
        const uint stop = load_relaxed(STOP);
        // Beyond the target's bucket is nothing that is wanted.
        const uint last_bucket = target < n ? bucket_of(FRESH_KEY_AT(target), widths_now(bucket_state)) : 0xffffffffu;
        const ulong waiting = stop & STOP_FULL ? 1 : outstanding(bucket_state, last_bucket);
        next.length = 0;
        if (waiting && ((stop & STOP_FULL) || !in_buckets(bucket_state))) {
            next.mode = CLEAR;
            next.rebuilds = 1;
        } else if (waiting) {
            next.mode = RELAX;
            store_relaxed(STOP, 0u);
        } else {
            if (!outstanding(bucket_state, 0xffffffffu)) control_block[BUCKETS_CLEAN] = 1;
            if (target < n) CONTROL_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
            next.mode = finish ? FINISH : MODE_DONE;
            next.rebuilds = 0;
        }
    } else {
        ${common.after_the_last("next")}
    }
    work += edges + (ulong)now.length + ${config.stage_work}u;
    fence_device();   // control_block and bucket_queues may have changed
    ${stage.finish("next")}
    stage_by_one_group = 0;
</%def>

<%def name="settle()">
    ${stage.store_totals()}
    if (now.mode == RELAX && now.level >= 2 && now.level - 2 < level_capacity) {
        // What a stage expanded is known after it.
        __global uint *const row = (__global uint *)levels + 4 * (size_t)(now.level - 2);
        row[0] = expanded;
        row[1] = (uint)min(edges, 0xfffffffful);
    }
    if (next.mode != CLEAR && next.level >= 2) {
        ${common.record("next", "0u")}
    }
</%def>
