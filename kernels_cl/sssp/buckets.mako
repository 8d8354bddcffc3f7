## buckets: relaxing without stages: SIMD groups take work from the lowest bucket that has any.
##
## Offers        setup, work, alone: bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot; in work the queues of the stage
##
## A vertex that falls is handed on with its key, in the bucket of its key: bucket b holds lengths from
## b * delta on. A SIMD group expands what it has in local memory, hop after hop, as long as it falls into the
## bucket that the group works on; what lies ahead it pushes onto that bucket's rings (/frontier/rings.mako), and
## so what is more than it can expand at once while others have nothing to do. Out of work, it takes from
## the rings of the lowest bucket that has any, at most `reach` buckets above the lowest that anybody works on.
##
## Invariant     COUNT of a bucket is at least the entries in its rings plus those taken from them that are
##               not expanded yet. Whoever pushes holds a count of the bucket it works on, which is none
##               above; so a bucket without count, and none below it with any, stays empty: BASE may pass it,
##               by whoever sees that, and nobody waits for anyone
## Stages        one RELAX stage goes on until no bucket has a count. Groups that find nothing leave it,
##               and so do all when one has worked long enough (STOP); what is left is in the rings then, and
##               the decider, with whom nobody else is at work, begins another stage. Whether a search is
##               over is known there and nowhere else
## Trouble       a ring that is full, or a slot that is not written in time, sets STOP_FULL: rings are
##               then emptied, and a SPLIT stage makes everyone who was reached the next frontier. Such
##               a frontier is expanded as a whole whatever happens, so there are n of them at most
## Races         keys only fall, by atomic minimum. An entry whose key is not its vertex's any more is
##               dropped: whoever lowered it has pushed another. Two that see the same COUNT of zero
##               advance BASE to the same place, by atomic maximum

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="rings" file="/frontier/rings.mako"/>
<%namespace name="lower" file="/visited/lower.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="balancer" file="${'/balance/' + context['config'].balance + '.mako'}"/>

<%def name="setup()">
// Places of a SIMD group's entries, in the order in which they came.
#define NEAR_PLACE(at_) ((near_first + (at_)) & ${config.buffer - 1}u)
#define NEAR(at_) near[NEAR_PLACE(at_)]
#define NEAR_KEY(at_) near_keys[NEAR_PLACE(at_)]
<% groups = config.group_size // config.lanes %>\
__local key_t all_near_keys[${groups * config.buffer}];
__local uint all_later[${groups * config.ahead}];
__local key_t all_later_keys[${groups * config.ahead}];
__local entry_t all_turns[${config.group_size}];
__local key_t all_turn_keys[${config.group_size}];
</%def>

<%def name="alone()"></%def>

<%def name="work()">
    % if "clear" in stages:
    if (now.mode == CLEAR) {
        ${rings.clear()}
    }
    % endif
    % if "relax" in stages:
    if (now.mode == RELAX) {
        ${relax()}
    }
    % endif
    % if "split" in stages:
    if (now.mode == SPLIT) {
        <%tiles:each_tile count="n" size="LANES">
            const uint v0 = tile_begin + lane_id();
            const key_t key = v0 < tile_end ? KEY_AT(v0) : KEY_NONE;
            const int reached = key != KEY_NONE;
            offset_t row0 = 0;
            uint degree0 = 0;
            if (reached) {
                row0 = indptr[v0];
                degree0 = (uint)(indptr[v0 + 1] - row0);
            }
            ${relaxing.enqueue(0, "v0", "reached", relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
</%def>

<%def name="relax()">
    ${relaxing.begin()}
    const uint part = 0, parts = 1;   // every entry is expanded by one SIMD group
    __local entry_t *const near = buffer;
    __local key_t *const near_keys = all_near_keys + LANE_GROUP * ${config.buffer};
    __local uint *const later = all_later + LANE_GROUP * ${config.ahead};
    __local key_t *const later_keys = all_later_keys + LANE_GROUP * ${config.ahead};
    __local entry_t *const turn = all_turns + LANE_GROUP * LANES;
    __local key_t *const turn_keys = all_turn_keys + LANE_GROUP * LANES;
    uint home = (member * GROUP_LANES + LANE_GROUP) % RINGS;
    // All of these are the same on all lanes, but for what is counted.
    uint near_first = 0, near_count = 0, later_count = 0, mine = 0, held = 0;
    uint turns = 0, waits = 0, stop = 0, idling = 0, expanded_here = 0;
    ulong edges_here = 0;
    uint first_bucket = 0;
    if (lane_id() == 0) first_bucket = load_relaxed(BASE);
    first_bucket = lane_broadcast(first_bucket, 0);
    % if config.distribution == "static":
    uint frontier_next = (LANE_GROUP * now.members + member) * LANES;
    % endif
    for (;;) {
        if (!near_count && later_count && !stop) {
            ${go_ahead()}
        }
        if (!near_count) {
            ${flush_later()}
            // Everything that came of these has been counted, in this bucket or above.
            if (held && lane_id() == 0) atomic_sub(COUNT(mine), held);
            held = 0;
            % if config.distribution == "static":
            const uint frontier_at = frontier_next;
            frontier_next += frontier_next < now.length ? GROUP_LANES * now.members * LANES : 0u;
            % else:
            uint frontier_at = 0;
            if (lane_id() == 0) frontier_at = now.length ? atomic_add(state + CLAIM + slot * SLOT_STRIDE, LANES) : 0u;
            frontier_at = lane_broadcast(frontier_at, 0);
            % endif
            if (frontier_at < now.length) {
                // The frontier's entries have been counted in first_bucket.
                near_count = held = min((uint)LANES, now.length - frontier_at);
                mine = first_bucket;
                if (lane_id() < near_count) {
                    const entry_t entry = queue_from[frontier_at + lane_id()];
                    NEAR(lane_id()) = entry;
                    NEAR_KEY(lane_id()) = FRESH_KEY_AT(ENTRY_VERTEX(entry));
                }
            } else {
                int leaving = 0;
                ${find()}
                if (leaving) break;
                if (!near_count) continue;   // again, if only to put aside what lies ahead
            }
        }
        ${expand()}
    }
    if (idling && lane_id() == 0) atomic_dec(IDLE);
    ${relaxing.end()}
    edges_here = lane_reduce_add_ulong(edges_here);
    expanded_here = lane_reduce_add(expanded_here);
    if (lane_id() == 0 && expanded_here) {
        atom_add((volatile __global ulong *)(state + NEXT_EDGES + slot * SLOT_STRIDE), edges_here);
        atomic_add(state + NEXT_HUBS + slot * SLOT_STRIDE, expanded_here);
    }
</%def>

## One hop of up to LANES entries.
<%def name="expand()">
{
    const uint taken = min(near_count, (uint)LANES);
    lane_converge();
    if (lane_id() < taken) {
        // The balancer hands on a place in turn_keys, where the vertex would be.
        const entry_t entry = NEAR(lane_id());
        turn[lane_id()] = MAKE_ENTRY(lane_id(), ENTRY_BEGIN(entry), ENTRY_DEGREE(entry));
        turn_keys[lane_id()] = NEAR_KEY(lane_id());
        edges_here += ENTRY_DEGREE(entry);
        ++expanded_here;
    }
    near_first += taken;
    near_count -= taken;
    lane_converge();
    ${balancer.expand("turn", "0u", "taken", visit)}
    lane_converge();
    if (((++turns) & 31u) == 0) {
        if (lane_id() == 0) {
            atomic_inc(state + HEARTBEAT);
            if (turns >= ${config.turns}u) atomic_or(STOP, 1u);
            stop = load_relaxed(STOP);
        }
        stop = lane_broadcast(stop, 0);
    }
    if (stop) {
        while (near_count) {
            ${push_near("0u")}
        }
    } else if (near_count > ${config.keep}u) {
        uint others = 0;
        if (lane_id() == 0) others = load_relaxed(IDLE);
        if (lane_broadcast(others, 0)) {
            ${push_near(f"{config.keep}u")}
        }
    }
}
</%def>

<%def name="visit(count)">
    % for k in range(count):
    int falls${k} = active${k};
    key_t to${k} = KEY_NONE;
    offset_t row${k} = 0;
    uint degree${k} = 0;
    if (falls${k}) to${k} = key_add(turn_keys[u${k}], WEIGHT_AT(e${k}));
    % if keys.guarded:
    beyond |= falls${k} && to${k} >= KEY_NONE;
    % endif
    falls${k} = falls${k} && to${k} < KEY_NONE && to${k} <= (key_t)limit;
    % if config.looks:
    falls${k} = falls${k} && to${k} < KEY_AT(v${k});   // may be stale, which only ever means too large
    % endif
    % endfor
    % for k in range(count):
    // The row is fetched while the atomic is under way.
    if (falls${k}) {
        row${k} = indptr[v${k}];
        degree${k} = (uint)(indptr[v${k} + 1] - row${k});
    }
    ${lower.lower(f"lowered{k}", f"was{k}", f"v{k}", f"falls{k}", f"to{k}", "0u")}
    % endfor
    % for k in range(count):
    {
        if (lowered${k}) {
            prefetch_global(indices + row${k});
            prefetch_global(edges + row${k});
        }
        const int ahead = lowered${k} && bucket_of(to${k}, per_length) > mine;
        ${keep_near(f"(lowered{k} && !ahead && degree{k})", f"v{k}", f"row{k}", f"degree{k}", f"to{k}")}
        ${keep_later(f"(ahead && degree{k})", f"v{k}", f"to{k}")}
    }
    % endfor
    if (near_count > ${config.buffer - count * config.lanes}u) {
        ${push_near(f"{config.buffer - (count + 1) * config.lanes}u")}
    }
    if (later_count > ${config.ahead - count * config.lanes}u) {
        ${flush_later()}
    }
</%def>

## Push the last entries beyond `least`, LANES of them at most, onto the group's own bucket.
<%def name="push_near(least)">
{
    const uint pushed = min((uint)LANES, near_count - ${least});
    lane_converge();
    near_count -= pushed;
    const int pushing = lane_id() < pushed;
    const uint vertex = pushing ? ENTRY_VERTEX(NEAR(near_count + lane_id())) : 0u;
    const key_t key = pushing ? NEAR_KEY(near_count + lane_id()) : KEY_ZERO;
    ${rings.push("mine", "pushing", "vertex", "key")}
}
</%def>

<%def name="flush_later()">
if (later_count) {
    lane_converge();
    uint window = 0;
    if (lane_id() == 0) window = load_relaxed(BASE);
    window = lane_broadcast(window, 0) + BUCKETS - 1;   // the last bucket holds what lies beyond it
    for (uint first_later = 0; first_later < later_count; first_later += LANES) {
        int pending = first_later + lane_id() < later_count;
        const uint vertex = pending ? later[first_later + lane_id()] : 0u;
        const key_t key = pending ? later_keys[first_later + lane_id()] : KEY_ZERO;
        const uint bucket = clamp(bucket_of(key, per_length), mine, window);
        for (;;) {
            const uint next_bucket = lane_reduce_min(pending ? bucket : 0xffffffffu);
            if (next_bucket == 0xffffffffu) break;
            const int pushing = pending && bucket == next_bucket;
            ${rings.push("next_bucket", "pushing", "vertex", "key")}
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
    uint nearest = 0xffffffffu, base = 0;
    for (uint at = lane_id(); at < later_count; at += LANES) nearest = min(nearest, bucket_of(later_keys[at], per_length));
    nearest = lane_reduce_min(nearest);
    if (lane_id() == 0) base = load_relaxed(BASE);
    base = lane_broadcast(base, 0);
    if (nearest <= base + ${config.reach}u) {
        uint left = 0;
        for (uint first_later = 0; first_later < later_count; first_later += LANES) {
            const int has = first_later + lane_id() < later_count;
            const uint vertex = has ? later[first_later + lane_id()] : 0u;
            const key_t key = has ? later_keys[first_later + lane_id()] : KEY_ZERO;
            const int comes = has && near_count <= LANES && bucket_of(key, per_length) == nearest;
            int stays = comes && FRESH_KEY_AT(vertex) == key;
            offset_t row = 0;
            uint degree = 0;
            if (comes) {
                row = indptr[vertex];
                degree = (uint)(indptr[vertex + 1] - row);
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
            if (atomic_inc(COUNT(nearest)) >= 0x80000000u) atomic_or(STOP, STOP_FULL);
            atomic_sub(COUNT(mine), held);
        }
        mine = nearest;
        held = 1;
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

## Take entries from a ring, or decide to leave.
<%def name="find()">
{
    uint base = 0, hungry = 0, last_bucket = 0;
    if (lane_id() == 0) {
        base = load_relaxed(BASE);
        stop = load_relaxed(STOP);
        hungry = load_relaxed(IDLE);
        // Buckets beyond hold nothing that is wanted.
        const key_t wanted = target < n ? min(FRESH_KEY_AT(target), (key_t)limit) : (key_t)limit;
        last_bucket = bucket_of(wanted, per_length);
    }
    const uint ring = home;
    home = (home + 1) % RINGS;
    base = lane_broadcast(base, 0);
    stop = lane_broadcast(stop, 0);
    hungry = lane_broadcast(hungry, 0);
    last_bucket = lane_broadcast(last_bucket, 0);
    leaving = stop || waits >= ${config.waits}u;
    // Not every time: everyone counts there.
    int others = 1;   // whether there seems to be more than what will be taken
    if ((waits & 3u) == 0) {
        uint lowest = BUCKETS, counted = 0;
        for (uint b = lane_id(); b < BUCKETS; b += LANES)
            if (load_relaxed(COUNT(b))) {
                lowest = min(lowest, (b - base) % BUCKETS);
                counted += 1;
            }
        lowest = lane_reduce_min(lowest);
        others = lane_reduce_add(counted) > 1;
        // A group that leaves on a count it read too early or too late is missed by nobody.
        leaving = leaving || lowest == BUCKETS || base + lowest > last_bucket;
        if (!leaving && lowest && lane_id() == 0) atomic_max(BASE, base + 1);
    }
    if (!leaving) {
        ${rings.take("base", config.reach, "ring")}
        if (share) {
            // Rings serve every BUCKETS-th bucket; which one this is, BASE tells, which cannot pass it now.
            uint base_now = 0;
            if (lane_id() == 0) base_now = load_relaxed(BASE);
            const uint vertex = value ? (uint)value - 1 : 0u;
            const key_t key = value ? FRESH_KEY_AT(vertex) : KEY_NONE;
            offset_t row = 0;
            uint degree = 0;
            if (value) {
                row = indptr[vertex];
                degree = (uint)(indptr[vertex + 1] - row);
            }
            base_now = lane_broadcast(base_now, 0);
            mine = base_now + (found - base_now) % BUCKETS;
            held = share;
            int alive = value && (uint)key == (uint)(value >> 32);
            const uint bucket = alive ? bucket_of(key, per_length) : 0u;
            % if keys.bits == 64:
            alive = alive && bucket >= mine;   // else half of another key happens to be the same
            % endif
            // What lies beyond the window waits on, unless there is nothing else.
            const int ahead = alive && bucket > mine && others;
            ${keep_near("(alive && !ahead)", "vertex", "row", "degree", "key")}
            ${keep_later("ahead", "vertex", "key")}
            waits = 0;
        } else {
            for (uint i = 0; i < min(waits, 8u); ++i) spin_hint();
            waits += 1;
        }
        if (idling != !share) {
            if (lane_id() == 0) atomic_add(IDLE, share ? 0xffffffffu : 1u);
            idling = !share;
        }
    }
}
</%def>
