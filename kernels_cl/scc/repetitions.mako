## repetitions: which stage of scc/signatures.cl follows another, and how many rounds a repetition may take.
##
## constants()    at file scope
## next_stage()   the body `decide` of /grid/stage.mako
## In scope       the kernel's arguments, and what its stage declares

<%namespace name="record" file="/scc/record.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>

<%def name="constants()">\
// Rounds that a repetition may take, by the stage word's `stretch`, which rises where they were too few: near ones
// are doubled, others doubled twice.
#define NEAR(stretch) ((stretch) - ${near_from}u < ${len(near_rounds)}u)
#define NEAR_ROUNDS(stretch) (${"".join(f"(stretch) == {near_from + k}u ? {r}u : " for k, r in enumerate(near_rounds[:-1]))}${near_rounds[-1]}u)
#define FAR_ROUNDS(stretch) (${rounds}u << min(2u * ((stretch) - ((stretch) < ${near_from}u ? 0u : ${len(near_rounds)}u)), 26u))
#define ROUNDS(stretch) (NEAR(stretch) ? NEAR_ROUNDS(stretch) : FAR_ROUNDS(stretch))
// The round that follows one of relays, which counts as several: a multiple of those that look at all edges.
#define RELAYED(level) (((level) / ${full_every}u + 1u) * ${full_every}u)
// Of a SIMD group in a relay, by how many were in vain of late.
#define RELAY_TURNS(vain) max(${relay_turns}u >> (vain), 1u)
</%def>

## By one work-item. Of the stage word, `level` counts the rounds of this repetition, and `at_rest`
## reports that its signatures are.
<%def name="next_stage()">
    fence_device();
    const int over_edges = now.mode == PROPAGATE || now.mode == REMOVE || now.mode == TRIM;
    const ulong cost = ${round_work}u + (over_edges ? now.length : n) + (now.mode == LIST ? m : 0u);
    ${record.account("cost", "now.mode == PREPARE")}
    if (now.mode == PREPARE) {
        next.mode = LIST;
        next.repetition = 1;
    } else if (now.mode == LIST || now.mode == TRIM) {
        // Round 0 of trimming has only looked at the edges.
        const int marked = now.mode == TRIM && now.level == 0;
        const uint least = now.mode == LIST ? m / ${trim_entry}u : now.length / ${trim_worth}u;
        const uint gone = (now.mode == LIST ? m : now.length) - queued;
        next.mode = queued == 0 ? MODE_DONE : marked || gone > least ? TRIM : now.stretch ? INIT : PROPAGATE;
        next.level = now.mode == TRIM && next.mode == TRIM ? now.level + 1u : 0u;
        next.queue ^= 1;
        next.length = queued;
    } else if (now.mode == REMOVE) {
        // A repetition that kept most edges though it was cut short goes on, or is followed by a
        // longer one; near ones are repeated as long as they pay.
        const int near = NEAR(now.stretch);
        const uint gone = now.length - queued;
        const uint impatient = !now.at_rest && (near ? gone <= now.length / ${near_worth}u : queued / 3u > now.length / 4u);
        next.stretch = min(next.stretch + impatient, 31u);
        // Where few priorities are left, chains of signatures get past whatever there is.
        const edges_t best_known = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        if (!near && NEAR(next.stretch) && best_known <= queued / ${near_roots}u) next.stretch = ${near_from + len(near_rounds)}u;
        const int over = now.at_rest || near || NEAR(next.stretch) || queued / 7u <= now.length / 8u;
        next.repetition = (next.repetition + (uint)over) & 0xffffu;
        next.queue ^= 1;
        next.length = queued;
        next.at_rest = 0;
        next.linked = 0;
        next.vain -= now.vain > 0u;
        next.level = near ? 0u : now.level;
        // What near repetitions contracted may hang on nothing now. At rest, `region` holds no stamps.
        next.mode = queued == 0 ? MODE_DONE : near && !now.at_rest ? TRIM : over ? INIT : PROPAGATE;
    } else if (now.mode == INIT) {
        next.level = 0;
        next.mode = PROPAGATE;
    } else if (now.mode == PROPAGATE && now.relay && !now.linked) {
        next.linked = 1;
    } else if (now.mode == PROPAGATE) {
        const int vain = now.relay && *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        next.vain = min(now.vain + (uint)vain, ${relay_vain}u);
        next.level = now.relay ? RELAYED(now.level) : now.level + 1u;
        next.at_rest = queued == 0;
        const uint most = ROUNDS(now.stretch);
        next.mode = queued == 0 || next.level >= most ? DETECT : PROPAGATE;
        // Edges are linked where that saves more rounds than it takes; a round of all is due now and then, and
        // where turns ran out.
        next.relay = next.mode == PROPAGATE && !NEAR(now.stretch) && queued <= now.length / ${relay_share}u &&
                     (now.relay ? !vain && next.level % ${relay_every}u != 0u : now.linked || (next.level >= ${relay_from}u && most - next.level >= ${relay_least}u));
    } else {
        next.mode = REMOVE;
    }
    if (now.mode == PREPARE || now.mode == INIT) {
        // The pivot stands out among the priorities that the stage has drawn.
        const uint pivot = root_of(component, (uint)*pivot_key);
        *pivot_key = pivot;
        forward[pivot] = backward[pivot] = 1u << bits;
    }
    // What is left is left to another search where this one does not pay.
    const int given_up = spent > work_limit && next.mode != MODE_DONE;
    if (given_up) next.mode = MODE_DONE;
    if (next.mode == MODE_DONE) *pivot_key = 0;
    ${stage.finish("next", "work > budget")}
    stage_by_one_group = 0;
</%def>
