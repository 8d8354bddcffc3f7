## group_frontier: levels whose frontier stays with the work-groups that found it.
##
## Every group takes its share of a queue into local memory and from then on expands what it finds
## itself: no queue is written, nothing is handed over, and so nothing needs a fence. All that the
## groups send each other between two levels is how much they found, by adding it to one word that
## they then watch; everyone sees the same sum and decides the same. It ends when a group has found
## too much for itself, or when the caller says so; then what they keep goes to the queue.
##
## Body defs     visit(count): as in /balance/advance.mako; it queues through `keep`
##               resident_level(): bookkeeping after each level, by all work-items, with `total`, what
##               all groups have found, and `overfull`, how many found too much; sets `going`, the
##               same for all, and false where any is overfull
## Word          MEET + parity * SLOT_STRIDE: arrived 16 | overfull 16 | found 32, sums since the stage began; levels
##               take the two words in turn, because the quick may arrive at the next before the slow
##               have read the last. The stage's decider clears both.
## Claims        are atomics whose results the groups have used before they arrive, so they are done
##               at device scope without a fence; plain looks may be stale, as they may be anyway
## In scope      now, member, state, slot, queue_to, group_entries, spin_limit, balance templates
## Called by     all work-items of all groups of a fixed membership, in uniform control flow
## Local memory  2 * single_group_capacity entries (shared with the queue buffers, never used together)
## Waiting       polls are bounded; on expiry ABORTED is raised and every group leaves

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="single" file="/grid/single_group.mako"/>

<%def name="setup()">
__local uint resident_lengths[3];
__local ulong resident_met[2], resident_since;
__local edges_t resident_sums[2];
</%def>

<%def name="keep(claimed, entry, edges)">
<%single:keep_in lengths="resident_lengths" claimed="${claimed}" entry="${entry}" edges="${edges}">
            else {
                const uint place = (uint)atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), 1ul);
                if (place < n) queue_to[place] = ${entry};
                else state[OVERFLOWED] = 1;
            }
</%single:keep_in>
</%def>

<%def name="levels(queue)">
{
    const uint part = 0, parts = 1;
    uint length = now.length > member ? (now.length - member - 1) / now.members + 1 : 0;
    for (uint i = lid; i < length; i += GROUP_SIZE) group_entries[i] = ${queue}[member + i * now.members];
    if (lid == 0) {
        resident_lengths[0] = resident_lengths[1] = resident_lengths[2] = 0;
        resident_met[0] = resident_met[1] = 0;
        resident_sums[0] = resident_sums[1] = 0;
    }
    uint side = 0, turn = 0, round = 0, expected = now.length;
    int going = 1;
    group_barrier();
    while (going) {
        const uint next = (turn + 1) % 3u, other = side ? 0u : ${config.limits.single_group_capacity}u;
        const uint mine = side ? ${config.limits.single_group_capacity}u : 0u;
        const uint share = min((uint)LANES, (length + GROUP_LANES - 1) / GROUP_LANES);
        if (lid == 0) resident_lengths[(turn + 2) % 3u] = 0;
        for (uint tile = LANE_GROUP * share; tile < length; tile += GROUP_LANES * share) {
            const uint tile_end = min(tile + share, length);
            __local entry_t *const resident_from = group_entries + mine;
            ${advance.tile_edges("resident_from", "tile", "tile_end", caller.visit)}
        }
        group_barrier();
        length = resident_lengths[next];
        side ^= 1;
        turn = next;
        // As uneven as groups may become before they share anew; never more than there is room for.
        const uint bearable = min(max(${config.resident_overfull}u, ${config.resident_uneven}u * (expected / now.members)), ${config.limits.single_group_capacity}u);
        ${meet()}
        expected = (uint)resident_since;
        const uint total = (uint)resident_since, overfull = (uint)(resident_since >> 32) & 0xffffu;
        round ^= 1;
        ${caller.resident_level()}
    }
    // Hand over: what did not fit is in the queue already.
    length = min(length, ${config.limits.single_group_capacity}u);
    if (lid == 0) {
        uint base = (uint)atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), (ulong)length);
        if (base + length > n) {
            state[OVERFLOWED] = 1;
            base = NO_SPACE;
        }
        group_base = base;
    }
    group_barrier();
    if (group_base != NO_SPACE)
        for (uint i = lid; i < length; i += GROUP_SIZE)
            queue_to[group_base + i] = group_entries[(side ? ${config.limits.single_group_capacity}u : 0u) + i];
}
</%def>

## Give the others how much this group found, and learn how much all have.
<%def name="meet()">
if (lid == 0) {
    volatile __global ulong *const word = (volatile __global ulong *)(state + MEET + round * SLOT_STRIDE);
    atom_add(word, 1ul << 48 | (ulong)(length > bearable) << 32 | length);
    const ulong met = resident_met[round];
    ulong since = load_relaxed_ulong(word) - met;
    for (uint spins = 1; since >> 48 != now.members; ++spins) {
        if ((spins & 63u) == 0) {
            spin_hint();
            if (spins >= spin_limit) store_relaxed(state + ABORTED, 1u);
            if (load_relaxed(state + ABORTED)) {
                since |= 0xffff00000000ul;   // overfull: everybody leaves
                break;
            }
        }
        since = load_relaxed_ulong(word) - met;
    }
    resident_met[round] = met + since;
    resident_since = since;
}
group_barrier();
</%def>

## Sums over the work-items of a group, added to a counter of the stage; with a barrier inside.
<%def name="add_edges(here, before)">
{
    const edges_t lanes_here = EDGES_REDUCE(${here}), lanes_before = EDGES_REDUCE(${before});
    if (lane_id() == 0) {
        EDGES_ADD(&resident_sums[0], lanes_here);
        EDGES_ADD(&resident_sums[1], lanes_before);
    }
    group_barrier();
    if (lid == 0) {
        EDGES_ADD((volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE), resident_sums[0]);
        EDGES_ADD((volatile __global edges_t *)(state + RESIDENT_EDGES + slot * SLOT_STRIDE), resident_sums[1]);
    }
}
</%def>

## By the decider of a stage of such levels, before it publishes the next.
<%def name="clear()">
store_relaxed_ulong((volatile __global ulong *)(state + MEET), 0ul);
store_relaxed_ulong((volatile __global ulong *)(state + MEET + SLOT_STRIDE), 0ul);
fence_device();
</%def>
