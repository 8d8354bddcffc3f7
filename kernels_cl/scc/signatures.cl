<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="record" file="/scc/record.mako"/>
<%namespace name="signatures" file="/scc/signatures.mako"/>
// Strongly connected components by two-sided signatures and contraction, for vertices that have none.
//
// Every live vertex holds the greatest priority that is known to reach it (`forward`) and that it is
// known to reach (`backward`). Where both are the same, the vertex shares a component with the one of
// that priority, whether or not the signatures have come to rest: it is contracted into it. Once they
// are at rest, all vertices of a component have equal ones, so an edge between different signatures
// joins different components and is dropped. Edges within a contracted vertex are dropped too; the
// rest goes on with priorities drawn anew, until no edge is left.
//
// Stages: PREPARE the vertices, which takes out those without edges in or without edges out, and choose a
// pivot; LIST the edges between live ones; TRIM the edges while that pays, which it is known to by how many
// were not listed; then PROPAGATE priorities along the edges for some rounds, DETECT the vertices, REMOVE the
// edges and INIT the priorities, again and again. Few rounds contract what is cyclic in a small
// neighbourhood, which shrinks a mesh geometrically; where that gets nowhere, priorities stay and rounds go
// on until signatures rest. A launch of its own resolves contracted vertices at last, so that the stages can
// be run again from the beginning whenever they were given up.
// Then the vertex of greatest priority completes its component in every region, and as priorities
// are random the number of such repetitions is logarithmic in whatever was seen so far.
//
// A signature names a vertex, whose own signature is as good: PROPAGATE follows such chains, which takes
// it along paths in steps that double. Most rounds look only at edges one end of which has changed
// since the round before; every ${full_every}th looks at all, for chains that have grown elsewhere. The
// pivot, a vertex of many edges in and out, has the greatest priority of all, so that a giant component
// does not wait until those above and below it are known.
//
// Regions are kept as hashes of their signatures. That two of them collide keeps an edge that could
// go, which costs time only.
//
// Races: signatures only rise, by atomic maxima; whoever reads an older one passes on less, and since
// the one it missed was a change, there is another round. In all other stages a word is written by
// one lane, and read by others only to follow a chain of contractions, which both its old and its new
// value belong to. TRIM stores halves of words of `region`, all of them the same value in a stage.

${lanes.vocabulary()}
${memory.vocabulary()}
${clock.vocabulary()}
${group.declarations()}
${queue.declarations()}
${stage.declarations()}

${stage.constants(stages, "u")}\
#define COMPONENT_KNOWN ${COMPONENT_KNOWN}u
// Rounds that a repetition may take: the stage word's `stretch` is how often patience was doubled twice.
#define ROUNDS(stretch) (${rounds}u << min(2u * (stretch), 26u))
#define FIRST_FACTOR ${factors[0]}u
#define LAST_FACTOR ${factors[1]}u
#define FIRST_INVERSE ${pow(factors[0], -1, 2**32)}u
#define LAST_INVERSE ${pow(factors[1], -1, 2**32)}u

${signatures.functions()}
__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void scc_resolve(
    const uint n,
    __global uint *component)                       // [n] in/out
{
    <%share:each_item count="n">
        if (!(component[item] & COMPONENT_KNOWN)) component[item] = COMPONENT_KNOWN | root_of(component, item);
    </%share:each_item>
}

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void scc_signatures(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    ${record.begin()}
    ${stage.setup()}
    ${queue.setup()}
    const uint queue_capacity = m;
    const uint my_modes = ${' | '.join(f'1u << {name}' for name in rendered)};
    const stage_t first_stage = stage_first(PREPARE);
    <%stage:run initial="first_stage">
    <%def name="work()">
        ${run_stage()}
    </%def>
    <%def name="decide()">
        ${next_stage()}
    </%def>
    <%def name="settle()">
        ${record.settle("now.length", "now.mode", "given_up")}
    </%def>
    <%def name="by_one_group()">
    </%def>
    </%stage:run>
}

<%def name="run_stage()">
    __global uint2 *const edges_from = now.queue ? edges_odd : edges_even;
    __global uint2 *const queue_to = now.queue ? edges_even : edges_odd;
    const order_t order = order_of(bits, now.repetition, (uint)*pivot_key);
    ${queue.begin_stage()}
    % if "PREPARE" in rendered:
    if (now.mode == PREPARE) {
        ulong best = 0;
        const order_t plain = order_of(bits, 1u, n);
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
                forward[v] = backward[v] = priority_of(plain, v);
                changed[v] = region[v] = 0;
                const ulong product = (ulong)(indptr[v + 1] - indptr[v]) * (ulong)(in_indptr[v + 1] - in_indptr[v]);
                const ulong key = (product < 0xffffffffu ? product : 0xfffffffful) << 32 | v;
                if (component[v] & COMPONENT_KNOWN) continue;
                component[v] = product ? v : COMPONENT_KNOWN | v;
                if (key > best) best = key;
            }
        </%tiles:each_tile>
        // One atomic a SIMD group, and none where others have found better.
        const ulong best_here = ~lane_reduce_min_ulong(~best);
        if (lane_id() == 0 && best_here > *pivot_key) atom_max(pivot_key, best_here);
    }
    % endif
    % if "LIST" in rendered:
    if (now.mode == LIST) {
        <%tiles:each_tile count="m" size="${config.lanes * list_span}">
            ${signatures.list_edges()}
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "TRIM" in rendered:
    if (now.mode == TRIM) {
        ${signatures.trim(edge_tile)}
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "PROPAGATE" in rendered:
    if (now.mode == PROPAGATE) {
        uint found_count = 0;
        const uint least = now.level % ${full_every}u == 0 ? 0u : now.level;   // of a change that matters
        ${signatures.spread(edge_tile)}
        ${queue.end_count("found_count")}
    }
    % endif
    % if "DETECT" in rendered:
    if (now.mode == DETECT) {
        const int at_rest = (int)now.at_rest;
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
                if (component[v] == v) {
                    const uint f = forward[v], b = backward[v];
                    if (f == b) component[v] = vertex_of(order, f);
                    region[v] = at_rest ? region_hash(f, b) : 0u;
                }
            }
        </%tiles:each_tile>
    }
    % endif
    % if "INIT" in rendered:
    if (now.mode == INIT) {
        const order_t fresh = order_of(bits, now.repetition, n);
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
                if (component[v] == v) {
                    forward[v] = backward[v] = priority_of(fresh, v);
                    changed[v] = 0;
                }
            }
        </%tiles:each_tile>
    }
    % endif
    % if "REMOVE" in rendered:
    if (now.mode == REMOVE) {
        <%tiles:each_tile count="now.length" size="${edge_tile}">
            for (uint first = tile_begin; first < tile_end; first += LANES) {
                const int active = first + lane_id() < tile_end;
                const uint2 edge = edges_from[active ? first + lane_id() : tile_begin];
                const uint u = root_of(component, edge.x), v = root_of(component, edge.y);
                const int kept = active && u != v && region[edge.x] == region[edge.y];
                ${queue.push("kept", "(uint2)(u, v)", "queue_to")}
            }
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
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
        next.mode = queued == 0 ? MODE_DONE : marked || gone > least ? TRIM : PROPAGATE;
        next.level = now.mode == TRIM && next.mode == TRIM ? now.level + 1u : 0u;
        next.queue ^= 1;
        next.length = queued;
    } else if (now.mode == REMOVE) {
        // A repetition that kept most edges though it was cut short goes on, or is followed by a
        // longer one.
        const int over = now.at_rest || queued / 7u <= now.length / 8u;
        const uint impatient = !now.at_rest && queued / 3u > now.length / 4u;
        next.repetition = (next.repetition + (uint)over) & 0xffffu;
        next.stretch = min(next.stretch + impatient, 255u);
        next.queue ^= 1;
        next.length = queued;
        next.at_rest = 0;
        next.mode = queued == 0 ? MODE_DONE : over ? INIT : PROPAGATE;
    } else if (now.mode == INIT) {
        next.level = 0;
        next.mode = PROPAGATE;
    } else if (now.mode == PROPAGATE) {
        next.level += 1;
        next.at_rest = queued == 0;
        next.mode = queued == 0 || next.level >= ROUNDS(now.stretch) ? DETECT : PROPAGATE;
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
    const int done = next.mode == MODE_DONE, pause = !done && work > budget;
    next.leave = done || pause;
    stage_by_one_group = 0;
</%def>
