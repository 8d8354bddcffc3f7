## self_tuning: near and far by a threshold that a controller moves in every step.
##
## Offers        setup, work, by_one_group: bodies of /grid/stage.mako
## Relaxation    bodies.relaxation: by SIMD groups or by one work-item per processor core
## In scope      the kernel's arguments, now, slot; in work the queues and piles of the stage
##
## RELAX         edges out of the frontier, from distances as they were when it was formed, so that
##               the counts of a step are the same in every run; who improves is queued once
## SPLIT         first half (not now.second): who was decreased is near, or waits in a partition; then the
##               controller moves the threshold; second half: who is below it makes the frontier
##
## Partitions    one pile for those of even number and one for odd: two are in use at a time.
##               far[v] says for each pile in which partition of it v has an entry, plus one, and in
##               the lowest bit whether v waits there; so a pile has a vertex once and holds n, and
##               an entry whose bit is gone is passed over
## Races         every vertex is handled by one lane: in the first half because it was decreased once, in the
##               second because it is either near or waits in one partition. An entry without its bit
##               may be looked at while its vertex is put aside anew: it lies beyond the threshold
##               and counts as waiting whoever is first

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="relaxation" file="${context['bodies'].relaxation}"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>

<%def name="setup()"></%def>
<%def name="by_one_group()"></%def>

<%def name="work()">
    % if "relax" in stages:
    if (now.mode == RELAX) {
        ${relaxation.relax()}
    }
    % endif
    % if "split" in stages:
    if (now.mode == SPLIT) {
        const key_t high = (key_t)CONTROL_ULONG(HIGH);
        const uint current = control_block[CURRENT] + 1u;   // partitions by their number plus one
        key_t least_even = KEY_NONE, least_odd = KEY_NONE;
        uint live_even = 0, live_odd = 0;   // changes, modulo 2^32
        if (!now.second) {
            ${bisect()}
        } else {
            ${rebalance()}
        }
        % for side in ("even", "odd"):
        {
            const uint live_here = lane_reduce_add(live_${side});
            const key_t least_here = REDUCE_MIN_KEY(least_${side});
            if (lane_id() == 0) {
                if (live_here) atomic_add(control_block + LIVE_${side.upper()}, live_here);
                if (least_here < CONTROL_ULONG(LEAST_${side.upper()}))
                    atom_min((volatile __global ulong *)(control_block + LEAST_${side.upper()}), (ulong)least_here);
            }
        }
        % endfor
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
</%def>

<%def name="bisect()">
    const key_t bound = (key_t)CONTROL_ULONG(FAR_BOUND);
    key_t nearest = KEY_NONE, shallowest = ~(key_t)0;   // the latter of complements: the largest of all
    <%local:each_place count="now.length">
        const uint v = active ? ENTRY_VERTEX(queue_from[place]) : 0u;
        const key_t key = active ? KEY_AT(v) : KEY_ZERO;
        const int near = active && key <= high, aside = active && key > high;
        uint2 held = (uint2)(0u, 0u);
        if (active) {
            held = far[v];
            shallowest = min(shallowest, (key_t)~key);
        }
        if (near) nearest = min(nearest, key);
        const uint waits = held.x & 1u ? held.x >> 1 : held.y & 1u ? held.y >> 1 : 0u;
        const uint belongs = current + (key > bound);
        const int stays = aside && waits && waits <= belongs, leaves = waits && !stays;
        const uint partition = stays ? waits : belongs;
        if (leaves) {
            live_even -= waits & 1u;
            live_odd -= ~waits & 1u;
            held &= ~1u;
        }
        int into_even = 0, into_odd = 0;
        if (aside && (partition & 1u)) {
            least_even = min(least_even, key);
            live_even += !stays;
            into_even = held.x >> 1 != partition;
            held.x = partition << 1 | 1u;
        } else if (aside) {
            least_odd = min(least_odd, key);
            live_odd += !stays;
            into_odd = held.y >> 1 != partition;
            held.y = partition << 1 | 1u;
        }
        if (leaves || (aside && !stays)) far[v] = held;
        ${append("into_even", "v", "pile_even", "control_block + PILE_EVEN")}
        ${append("into_odd", "v", "pile_odd", "control_block + PILE_ODD")}
        ${queue.push("near", "MAKE_ENTRY(v, 0, 0)", "queue_to")}
    </%local:each_place>
    % for name, word in (("nearest", "NEAREST"), ("shallowest", "SHALLOWEST")):
    {
        const key_t least_here = REDUCE_MIN_KEY(${name});
        if (lane_id() == 0 && least_here < CONTROL_ULONG(${word})) atom_min((volatile __global ulong *)(control_block + ${word}), (ulong)least_here);
    }
    % endfor
</%def>

<%def name="rebalance()">
    const uint near = control_block[NEAR_SIZE], even = near + control_block[SCAN_EVEN], all = even + control_block[SCAN_ODD];
    <%local:each_place count="all">
        uint v0 = 0;
        const int side = place >= even;   // of the pile, if it is one
        if (active) v0 = place < near ? ENTRY_VERTEX(queue_from[place]) : side ? pile_odd[place - even] : pile_even[place - near];
        const key_t key = active ? KEY_AT(v0) : KEY_ZERO;
        volatile __global uint *const held = (volatile __global uint *)far + 2 * (size_t)v0;
        int taken = 0, into_even = 0, into_odd = 0;
        if (active && place < near) {
            taken = key <= high;
            if (!taken) {
                const int absent = held[~current & 1u] >> 1 != current;
                held[~current & 1u] = current << 1 | 1u;
                if (current & 1u) {
                    least_even = min(least_even, key);
                    live_even += 1;
                    into_even = absent;
                } else {
                    least_odd = min(least_odd, key);
                    live_odd += 1;
                    into_odd = absent;
                }
            }
        } else if (active) {
            const uint partition = (~current & 1u) == (uint)side ? current : current + 1u;
            const int waits = held[side] == (partition << 1 | 1u);
            taken = waits && key <= high;
            if (taken) held[side] = partition << 1;
            live_even -= taken && !side;
            live_odd -= taken && side;
            if (waits && !taken) {
                if (side) least_odd = min(least_odd, key);
                else least_even = min(least_even, key);
            }
        }
        ${append("into_even", "v0", "pile_even", "control_block + PILE_EVEN")}
        ${append("into_odd", "v0", "pile_odd", "control_block + PILE_ODD")}
        offset_t row0 = 0;
        uint degree0 = 0;
        if (taken) {
            expanded[v0] = key;
            ${row_at.load("row0", "degree0", "v0")}
        }
        ${relaxing.enqueue(0, "v0", "taken", relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
    </%local:each_place>
</%def>

## Body sees `place` and `active`, in lane-uniform control flow.
<%def name="each_place(count)">
${places(count, caller.body)}
</%def>

<%def name="places(count, visit)">
<%tiles:each_tile count="${count}" size="${str(pile.module.TILE) + 'u' if config.distribution == 'claimed' else 'LANES'}">
    for (uint place_first = tile_begin; place_first < tile_end; place_first += LANES) {
        const uint place = place_first + lane_id();
        const int active = place < tile_end;
        ${visit()}
    }
</%tiles:each_tile>
</%def>

<%def name="append(kept, vertex, pile_, counter)">
${collected.append(kept, vertex, pile_, lambda count, base: pile.reserve(count, base, counter))}
</%def>
