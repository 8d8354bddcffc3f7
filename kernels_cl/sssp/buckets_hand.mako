## buckets_hand: what a SIMD group that relaxes by buckets keeps, hands on and takes.
##
## near, later   entries in local memory: of the group's own bucket, with their rows, and of those ahead
## Offers        keep_near, keep_later; push_near and flush_later, onto bucket_queues; go_ahead, to what the group kept
##               itself; find, to what others pushed
## In scope      as in /sssp/buckets.mako: near, near_first, near_count, later, later_count, mine, reservation, base, ...
## Called by     lane-uniform control flow; no barriers

## Entries that a SIMD group announces ahead; waits between two looks at who is done, and most hints
## of one wait; and by how much the width of buckets changes at most.
<%! RESERVATION, COUNTS_EVERY, BACK_OFFS, STRETCH = 64, 4, 8, 2 %>

<%namespace name="bucket_queues" file="/frontier/bucket_queues.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>

## Push the last entries beyond `least`, LANES of them at most, onto the group's own bucket.
<%def name="push_near(least)">
{
    const uint pushed = min((uint)LANES, near_count - ${least});
    lane_converge();
    near_count -= pushed;
    const int pushing = lane_id() < pushed;
    const uint vertex = pushing ? ENTRY_VERTEX(NEAR(near_count + lane_id())) : 0u;
    const key_t key = pushing ? NEAR_KEY(near_count + lane_id()) : KEY_ZERO;
    // Counts that the group has to spare go with them.
    const uint counted_before = reservation > pushed ? pushed : 0u;
    reservation -= counted_before;
    ${bucket_queues.push("mine", "pushing", "vertex", "key", "counted_before")}
}
</%def>

<%def name="flush_later()">
if (later_count) {
    lane_converge();
    // BASE was this or more since; the last bucket holds what lies beyond it.
    const uint window = base + BUCKETS - 1;
    for (uint first_later = 0; first_later < later_count; first_later += LANES) {
        int pending = first_later + lane_id() < later_count;
        const uint vertex = pending ? later[first_later + lane_id()] : 0u;
        const key_t key = pending ? later_keys[first_later + lane_id()] : KEY_ZERO;
        const uint bucket = clamp(bucket_of(key, widths), mine, window);
        for (;;) {
            const uint next_bucket = lane_reduce_min(pending ? bucket : 0xffffffffu);
            if (next_bucket == 0xffffffffu) break;
            const int pushing = pending && bucket == next_bucket;
            ${bucket_queues.push("next_bucket", "pushing", "vertex", "key", "0u")}
            pending = pending && !pushing;
        }
    }
    later_count = 0;
    lane_converge();
}
</%def>

## On to the lowest bucket that this group found anything for, if it may work on that.
<%def name="go_ahead()">
{
    lane_converge();
    uint nearest = 0xffffffffu;
    for (uint at = lane_id(); at < later_count; at += LANES) nearest = min(nearest, bucket_of(later_keys[at], widths));
    ${bucket_queues.look(16, read_widths)}
    nearest = max(lane_reduce_min(nearest), mine);   // delta may have changed
    if (nearest <= base + ${config.method.reach}u) {
        uint before = 0;
        if (lane_id() == 0) before = atomic_add(COUNT(nearest), ${RESERVATION}u);
        uint left = 0;
        for (uint first_later = 0; first_later < later_count; first_later += LANES) {
            const int has = first_later + lane_id() < later_count;
            const uint vertex = has ? later[first_later + lane_id()] : 0u;
            const key_t key = has ? later_keys[first_later + lane_id()] : KEY_ZERO;
            const int comes = has && near_count <= LANES && bucket_of(key, widths) <= nearest;
            int stays = comes && FRESH_KEY_AT(vertex) == key;
            offset_t row = 0;
            uint degree = 0;
            if (comes) {
                ${row_at.load("row", "degree", "vertex")}
            }
            lane_converge();
            ${keep_near("stays", "vertex", "row", "degree", "key")}
            const lanemask_t leaving_it = lane_ballot(has && !comes);
            if (has && !comes) {
                const uint place = left + lanemask_count(leaving_it & lane_mask_lt());
                later[place] = vertex;
                later_keys[place] = key;
            }
            left += lanemask_count(leaving_it);
            lane_converge();
        }
        later_count = left;
        if (lane_id() == 0) {
            // In this order: the group has a count at every moment.
            if (before < 0x80000000u) atomic_sub(COUNT(mine), reservation);
            else atomic_or(STOP, STOP_FULL);
        }
        mine = nearest;
        reservation = ${RESERVATION}u;   // more than one: pushes onto this bucket are counted already
    }
}
</%def>

<%def name="keep_near(stays, vertex, row, degree, key)">
{
    const lanemask_t staying = lane_ballot(${stays});
    if (${stays}) {
        const uint place = near_count + lanemask_count(staying & lane_mask_lt());
        NEAR(place) = MAKE_ENTRY(${vertex}, ${row}, ${degree});
        NEAR_KEY(place) = ${key};
    }
    near_count += lanemask_count(staying);
}
</%def>

<%def name="keep_later(leads, vertex, key)">
{
    const lanemask_t leading = lane_ballot(${leads});
    if (${leads}) {
        const uint place = later_count + lanemask_count(leading & lane_mask_lt());
        later[place] = ${vertex};
        later_keys[place] = ${key};
    }
    later_count += lanemask_count(leading);
}
</%def>

<%def name="read_widths(line, lanes)">
    widths.per_length = as_float(lane_broadcast(${line}${3 // lanes}, ${3 % lanes}u));
    widths.bucket = lane_broadcast(${line}${4 // lanes}, ${4 % lanes}u);
    % if keys.bits == 64:
    widths.pivot = upsample(lane_broadcast(${line}${7 // lanes}, ${7 % lanes}u), lane_broadcast(${line}${6 // lanes}, ${6 % lanes}u));
    % else:
    widths.pivot = lane_broadcast(${line}${6 // lanes}, ${6 % lanes}u);
    % endif
</%def>

## By one work-item alone for each bucket that BASE comes to. Where most SIMD groups had nothing to do while BASE
## passed the last buckets, they should be wider, and where few had, narrower. From here on, that is: bounds
## never decrease. Others may see it late or in part and use another bucket, which costs order and nothing else.
<%def name="advanced()">
% if config.period:
{
    atomic_add(IDLE_SUM, idle_groups);
    if (base == load_relaxed(NEXT_CHANGE)) {
        const uint idle = atomic_xchg(IDLE_SUM, 0u), all = ${config.period}u * now.members * GROUP_LANES;
        widths_t wanted = widths_now(bucket_state);
        const float scale = idle > all / 100u * ${config.idle_most}u ? 0.5f : idle < all / 100u * ${config.idle_least}u ? 2.0f : 1.0f;
        const float changed = clamp(wanted.per_length * scale, per_length / ${STRETCH}.0f, per_length * ${STRETCH}.0f);
        if (changed != wanted.per_length) {
            wanted.pivot = key_add(wanted.pivot, (weight_t)((float)(base - wanted.bucket) / wanted.per_length));
            wanted.bucket = base;
            wanted.per_length = changed;
            if (wanted.pivot < KEY_NONE) {
                set_widths(bucket_state, wanted);
                atomic_inc(CHANGES);
            }
        }
        store_relaxed(NEXT_CHANGE, base + ${config.period}u);
    }
}
% endif
</%def>

## Take entries from a ring, or decide to leave.
<%def name="find()">
{
    ${bucket_queues.look(16, read_widths)}
    idle_groups = 0;
    if (lane_id() == 0) idle_groups = load_relaxed(IDLE);
    idle_groups = lane_broadcast(idle_groups, 0);
    uint last_bucket = 0xffffffffu;
    if (target < n) {
        // Beyond its bucket is nothing that is wanted.
        if (lane_id() == 0) last_bucket = bucket_of(FRESH_KEY_AT(target), widths);
        last_bucket = lane_broadcast(last_bucket, 0);
    }
    leaving = stop || waits >= ${config.spin_rounds}u;
    if (waits % ${COUNTS_EVERY}u == 0) {
        ${bucket_queues.look_at_counts(advanced)}
        // A group that leaves on a count it read too early or too late is missed by nobody.
        leaving = leaving || lowest == BUCKETS || base + lowest > last_bucket;
    }
    const uint ring = home;
    home = (home + 1) % BUCKET_QUEUES;
    if (!leaving) {
        ${bucket_queues.take("base", config.method.reach, "ring")}
        if (share) {
            // Rings serve every BUCKETS-th bucket; which one this is, BASE says, which cannot pass it now.
            if (lane_id() == 0) base = load_relaxed(BASE);
            const uint vertex = value ? (uint)value - 1 : 0u;
            const key_t key = value ? FRESH_KEY_AT(vertex) : KEY_NONE;
            offset_t row = 0;
            uint degree = 0;
            if (value) {
                ${row_at.load("row", "degree", "vertex")}
            }
            base = lane_broadcast(base, 0);
            mine = base + (found - base) % BUCKETS;
            reservation = share;
            int alive = value && (uint)key == (uint)(value >> 32);
            const uint bucket = alive ? bucket_of(key, widths) : 0u;
            % if keys.bits == 64:
            // Half of another key may happen to be the same. Where order matters, such an entry is not in it.
            alive = alive && (bucket >= mine || target >= n);
            % endif
            // What lies beyond the window waits on, unless there is nothing else.
            const int ahead = alive && bucket > mine && counted > 1;
            ${keep_near("(alive && !ahead)", "vertex", "row", "degree", "key")}
            ${keep_later("ahead", "vertex", "key")}
            waits = 0;
        } else {
            for (uint i = 0; i < min(waits, ${BACK_OFFS}u); ++i) spin_hint();
            waits += 1;
        }
        if (idling != !share) {
            if (lane_id() == 0) atomic_add(IDLE, share ? 0xffffffffu : 1u);
            idling = !share;
        }
    }
}
</%def>
