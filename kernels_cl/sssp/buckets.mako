## buckets: relaxing without stages: SIMD groups take work from the lowest bucket that has any.
##
## Offers        setup, work, by_one_group: bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot; in work the queues of the stage
##
## A vertex that improves is handed on with its key, in the bucket of its key: bucket b holds lengths from
## b * delta on. A SIMD group expands what it has in local memory, hop after hop, as long as it improves into the
## bucket that the group works on; what lies ahead it pushes onto that bucket's bucket_queues (/frontier/bucket_queues.mako), and
## so what is more than it can expand at once while others have nothing to do. Out of work, it takes from
## the bucket_queues of the lowest bucket that has any, at most `reach` buckets above the lowest that anybody works on.
##
## Invariant     COUNT of a bucket is at least the entries in its bucket_queues plus those taken from them that are
##               not expanded yet. Whoever pushes holds a count of the bucket it works on, which is none
##               above; so a bucket without count, and none below it with any, stays empty: BASE may pass it,
##               by whoever sees that, and nobody waits for anyone
## Stages        one RELAX stage goes on until no bucket has a count. Groups that find nothing leave it,
##               and so do all when one has worked long enough (STOP); what is left is in the bucket_queues then, and
##               the decider, with whom nobody else is at work, begins another stage. Whether a search is
##               over is known there and nowhere else
## Trouble       a ring that is full, or a slot that is not written in time, sets STOP_FULL: bucket_queues are
##               then emptied, and a SPLIT stage makes everyone who was reached the next frontier. Such
##               a frontier is expanded as a whole whatever happens, so there are n of them at most
## Races         keys only decrease, by atomic minimum. An entry whose key is not its vertex's any more is
##               dropped: whoever decreased it has pushed another. Two that see the same COUNT of zero
##               advance BASE to the same place, by atomic maximum

## Vertices that a SIMD group hands on when one in so many of them has nothing to do.
<%! IDLE_GROUPS = 16 %>

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="bucket_queues" file="/frontier/bucket_queues.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="handing" file="/sssp/buckets_hand.mako"/>
<%namespace name="balancer" file="${'/balance/' + context['config'].balance.name + '.mako'}"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>

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

<%def name="by_one_group()"></%def>

<%def name="work()">
    % if "clear" in stages:
    if (now.mode == CLEAR) {
        ${bucket_queues.clear()}
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
                ${row_at.load("row0", "degree0", "v0")}
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
    uint home = (member * GROUP_LANES + LANE_GROUP) % BUCKET_QUEUES;
    // All of these are the same on all lanes, but for what is counted.
    uint near_first = 0, near_count = 0, later_count = 0, mine = 0, reservation = 0;
    uint turns = 0, waits = 0, idling = 0, expanded_here = 0;
    uint base = 0, stop = 0, idle_groups = now.members * GROUP_LANES, lowest = 0, counted = 0;   // when last looked
    ulong edges_here = 0;
    uint first_bucket = 0;
    if (lane_id() == 0) first_bucket = load_relaxed(BASE);
    first_bucket = lane_broadcast(first_bucket, 0);
    base = first_bucket;
    widths_t widths = widths_now(bucket_state);
    const uint keep = ${f"{config.method.keep}u" if config.method.keep else f"clamp(LANES / mean_degree, 2u, {config.buffer // 2}u)"};
    % if config.distribution == "static":
    uint frontier_next = (LANE_GROUP * now.members + member) * LANES;
    % endif
    for (;;) {
        if (!near_count && later_count && !stop) {
            ${handing.go_ahead()}
        }
        if (!near_count) {
            ${handing.flush_later()}
            // Everything that came of these has been counted, in this bucket or above.
            if (reservation && lane_id() == 0) atomic_sub(COUNT(mine), reservation);
            reservation = 0;
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
                near_count = reservation = min((uint)LANES, now.length - frontier_at);
                mine = first_bucket;
                if (lane_id() < near_count) {
                    const entry_t entry = queue_from[frontier_at + lane_id()];
                    NEAR(lane_id()) = entry;
                    NEAR_KEY(lane_id()) = FRESH_KEY_AT(ENTRY_VERTEX(entry));
                }
            } else {
                int leaving = 0;
                ${handing.find()}
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
    if (((++turns) & 3u) == 0) {
        if (lane_id() == 0) {
            if ((turns & 31u) == 0) {
                atomic_inc(state + HEARTBEAT);
                if (turns >= ${config.iteration_limit}u) atomic_or(STOP, 1u);
            }
            stop = load_relaxed(STOP);
            idle_groups = load_relaxed(IDLE);
        }
        stop = lane_broadcast(stop, 0);
        idle_groups = lane_broadcast(idle_groups, 0);
    }
    if (stop) {
        while (near_count) {
            ${handing.push_near("0u")}
        }
    } else if (near_count > keep && idle_groups * ${IDLE_GROUPS}u >= now.members * GROUP_LANES) {
        ${handing.push_near("keep")}
    }
}
</%def>

<%def name="visit(count)">
    % for k in range(count):
    offset_t row${k} = 0;
    uint degree${k} = 0;
    ${relaxing.relax_edge(k, f"active{k}", f"turn_keys[u{k}]", None, "(key_t)limit")}
    % endfor
    % for k in range(count):
    // The row is fetched while the atomic is under way.
    if (improves${k}) {
        ${row_at.load(f"row{k}", f"degree{k}", f"v{k}")}
    }
    ${keys_at.decrease(f"decreased{k}", f"was{k}", f"v{k}", f"improves{k}", f"to{k}", "0u")}
    % endfor
    % for k in range(count):
    {
        if (decreased${k}) {
            prefetch_global(indices + row${k});
            prefetch_global(edges + row${k});
        }
        const int ahead = decreased${k} && bucket_of(to${k}, widths) > mine;
        ${handing.keep_near(f"(decreased{k} && !ahead && degree{k})", f"v{k}", f"row{k}", f"degree{k}", f"to{k}")}
        ${handing.keep_later(f"(ahead && degree{k})", f"v{k}", f"to{k}")}
    }
    % endfor
    if (near_count > ${config.buffer - count * config.lanes}u) {
        ${handing.push_near(f"{config.buffer - (count + 1) * config.lanes}u")}
    }
    if (later_count > ${config.ahead - count * config.lanes}u) {
        ${handing.flush_later()}
    }
</%def>
