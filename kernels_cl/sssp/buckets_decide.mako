## buckets_decide: what follows a stage of a search by buckets, by one work-item while all others wait.
##
## Order         relax until no bucket that is wanted has a count; after trouble with the rings clear, split
##               and relax again. Then as /sssp/decide.mako
## In scope      the kernel's arguments, now, next, slot, queued; board: the words of the search

<%namespace name="deciding" file="/sssp/decide.mako"/>
<%namespace name="rings" file="/frontier/rings.mako"/>

<%def name="declarations()">
${rings.declarations()}

// Which bucket a length belongs to: that of the pivot, or one above for every `delta` beyond it. What lies
// below the pivot lies below all buckets that are in use.
#define PER_LENGTH (ring_state + 3)        // 1 / delta, a pattern
#define PIVOT_BUCKET (ring_state + 4)
#define NEXT_CHANGE (ring_state + 5)       // which bucket delta may change with
#define PIVOT ((volatile __global ulong *)(ring_state + 6))
#define IDLE_SUM (ring_state + 8)          // of IDLE, since delta may have changed
#define CHANGES (ring_state + 9)           // how often it did
typedef struct {
    key_t pivot;
    uint bucket;
    float per_length;
} widths_t;

static inline uint bucket_of(const key_t key, const widths_t widths) {
    if (key < widths.pivot) return widths.bucket - (widths.bucket > 0);
    return widths.bucket + (uint)min((float)(length_of(key) - length_of(widths.pivot)) * widths.per_length, 1073741824.0f);
}

static inline widths_t widths_now(volatile __global uint *ring_state) {
    widths_t widths;
    widths.pivot = (key_t)load_relaxed_ulong(PIVOT);
    widths.bucket = load_relaxed(PIVOT_BUCKET);
    widths.per_length = as_float(load_relaxed(PER_LENGTH));
    return widths;
}

static inline void set_widths(volatile __global uint *ring_state, const widths_t widths) {
    store_relaxed_ulong(PIVOT, (ulong)widths.pivot);
    store_relaxed(PIVOT_BUCKET, widths.bucket);
    store_relaxed(PER_LENGTH, as_uint(widths.per_length));
}

// Entries of buckets up to the last that is wanted which are not expanded.
static inline ulong outstanding(volatile __global uint *ring_state, const uint last_bucket) {
    const uint base = load_relaxed(BASE);
    ulong sum = 0;
    for (uint b = 0; b < BUCKETS; ++b)
        if (base + b <= last_bucket) sum += load_relaxed(COUNT(base + b));
    return sum;
}

// Entries in rings.
static inline ulong in_rings(volatile __global uint *ring_state) {
    ulong sum = 0;
    for (uint ring = 0; ring < BUCKETS * RINGS; ++ring) {
        const ulong word = load_relaxed_ulong((volatile __global ulong *)(ring_state + RING_WORDS) + ring);
        sum += (uint)(word >> 32) - (uint)word;
    }
    return sum;
}
</%def>

<%def name="decide()">
    const uint hubs = 0;
    ulong explored, work;
    ${deciding.load_totals()}
    const ulong edges = now.mode == RELAX ? *(volatile __global ulong *)(state + NEXT_EDGES + slot * SLOT_STRIDE)
                                          : (ulong)*(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
    const uint expanded = now.mode == RELAX ? load_relaxed(state + NEXT_HUBS + slot * SLOT_STRIDE) : 0u;
    next.length = queued;
    next.hubs = 0;
    if (now.mode == FILL) {
        board[ROOTS] = 0;
        BOARD_ULONG(CUT) = last_key;
        state[REMARK] = 0;
        next.mode = board[RINGS_CLEAN] ? START : CLEAR;
        next.rebuilds = 0;
        next.length = source_count;
        next.level = 1;
        board[RINGS_CLEAN] = 0;
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
        set_widths(ring_state, widths);
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
        const uint last_bucket = target < n ? bucket_of(FRESH_KEY_AT(target), widths_now(ring_state)) : 0xffffffffu;
        const ulong waiting = stop & STOP_FULL ? 1 : outstanding(ring_state, last_bucket);
        next.length = 0;
        if (waiting && ((stop & STOP_FULL) || !in_rings(ring_state))) {
            next.mode = CLEAR;
            next.rebuilds = 1;
        } else if (waiting) {
            next.mode = RELAX;
            store_relaxed(STOP, 0u);
        } else {
            if (!outstanding(ring_state, 0xffffffffu)) board[RINGS_CLEAN] = 1;
            if (target < n) BOARD_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
            next.mode = finish ? FINISH : MODE_DONE;
            next.rebuilds = 0;
        }
    } else {
        ${deciding.after_the_last("next")}
    }
    work += edges + (ulong)now.length + ${config.stage_work}u;
    fence_device();   // board and rings may have changed
    ${deciding.finish("next")}
    stage_alone = 0;
</%def>

<%def name="settle()">
    ${deciding.store_totals("next")}
    if (now.mode == RELAX && now.level >= 2 && now.level - 2 < level_capacity) {
        // What a stage expanded is known after it.
        __global uint *const row = (__global uint *)levels + 4 * (size_t)(now.level - 2);
        row[0] = expanded;
        row[1] = (uint)min(edges, 0xfffffffful);
    }
    if (next.mode != CLEAR && next.level >= 2) {
        ${deciding.record("next", "0u")}
    }
</%def>
