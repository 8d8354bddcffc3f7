## buckets_decide: what follows a stage of a search by buckets, by one work-item while all others wait.
##
## Order         relax until no bucket that is wanted has a count; after trouble with the rings clear, split
##               and relax again. Then as /sssp/decide.mako
## In scope      the kernel's arguments, now, next, slot, queued; board: the words of the search

<%namespace name="deciding" file="/sssp/decide.mako"/>
<%namespace name="rings" file="/frontier/rings.mako"/>

<%def name="declarations()">
${rings.declarations()}

// Which bucket a length belongs to: no smaller for a longer one. Beyond 2^30 all belong to the last.
static inline uint bucket_of(const key_t key, const float per_length) {
    return (uint)min((float)length_of(key) * per_length, 1073741824.0f);
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
        next.visited = 0;
        next.length = source_count;
        next.level = 1;
        board[RINGS_CLEAN] = 0;
        store_relaxed(BASE, 0u);
        store_relaxed(STOP, 0u);
        store_relaxed(IDLE, 0u);
        explored = 0;
        work = n;
    } else if (now.mode == CLEAR) {
        next.mode = now.visited ? SPLIT : START;
        next.length = now.visited ? n : source_count;
        work += n;
    } else if (now.mode == START || now.mode == SPLIT) {
        next.mode = RELAX;
        next.level += 1;
        next.queue ^= 1;
        store_relaxed(COUNT(0), queued);
    } else if (now.mode == RELAX) {
        explored += edges;
        next.level += 1;
        const uint stop = load_relaxed(STOP);
        const key_t wanted = target < n ? min(FRESH_KEY_AT(target), (key_t)limit) : (key_t)limit;
        const uint last_bucket = bucket_of(wanted, per_length);
        const ulong waiting = stop & STOP_FULL ? 1 : outstanding(ring_state, last_bucket);
        next.length = 0;
        if (waiting && ((stop & STOP_FULL) || !in_rings(ring_state))) {
            next.mode = CLEAR;
            next.visited = 1;
        } else if (waiting) {
            next.mode = RELAX;
            store_relaxed(STOP, 0u);
        } else {
            if (!outstanding(ring_state, 0xffffffffu)) board[RINGS_CLEAN] = 1;
            if (target < n) BOARD_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
            next.mode = finish ? FINISH : MODE_DONE;
            next.visited = 0;
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
