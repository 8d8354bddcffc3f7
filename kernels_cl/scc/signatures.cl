<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="record" file="/scc/record.mako"/>
<%namespace name="signatures" file="/scc/signatures.mako"/>
<%namespace name="repetitions" file="/scc/repetitions.mako"/>
<%namespace name="relay" file="/scc/relay.mako"/>
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
// Small cycles on a long way hide from this: priorities come past them from afar, and chains of signatures
// end in whatever hangs on the way. So where rounds get nowhere and many edges begin where no greater priority
// has come to, near repetitions follow, of very few rounds with priorities drawn anew, in which the greatest of
// a neighbourhood contracts the cycles it lies on, and each is followed by trimming. They go on while they pay,
// then with more rounds, for longer cycles. What they leave of a long way is a path.
//
// Where few signatures change in a round, every SIMD group goes on by itself from some of those: see
// /scc/relay.mako.
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

${group.words(clocked=True)}
${queue.declarations()}
${stage.declarations()}

${stage.constants(stages, "u")}\
#define COMPONENT_KNOWN ${COMPONENT_KNOWN}u
${repetitions.constants()}\
#define FIRST_FACTOR ${factors[0]}u
#define LAST_FACTOR ${factors[1]}u
#define FIRST_INVERSE ${pow(factors[0], -1, 2**32)}u
#define LAST_INVERSE ${pow(factors[1], -1, 2**32)}u

${signatures.functions()}
${relay.functions()}
${group.kernel()} scc_resolve(
    const uint n,
    __global uint *component)                       // [n] in/out
{
    <%share:each_item count="n">
        if (!(component[item] & COMPONENT_KNOWN)) component[item] = COMPONENT_KNOWN | root_of(component, item);
    </%share:each_item>
}

${group.kernel()} scc_signatures(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    ${record.begin()}
    ${stage.setup()}
    ${queue.setup()}
    ${relay.setup()}
    const uint queue_capacity = m;
    const uint my_modes = ${' | '.join(f'1u << {name}' for name in rendered)};
    const stage_t first_stage = stage_first(PREPARE);
    ${stage.run("first_stage", run_stage, repetitions.next_stage, settle)}
}

<%def name="settle()">
${record.settle("now.relay && now.linked ? RELAY_TURNS(now.vain) : now.length", "now.relay ? 1u << 8 | (now.linked ? PROPAGATE : LIST) : now.mode", "given_up")}
</%def>

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
                changed[v] = region[v] = first[2u * v] = first[2u * v + 1u] = 0;
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
    if (now.mode == PROPAGATE && now.relay && !now.linked) {
        ${relay.link(edge_tile)}
    } else if (now.mode == PROPAGATE && now.relay) {
        uint found_count = 0;
        ${relay.rounds()}
        ${queue.end_count("found_count")}
    } else if (now.mode == PROPAGATE) {
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
                    first[2u * v] = first[2u * v + 1u] = 0;
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
                // Of vertices that know of none greater that reaches them.
                found_edges += kept && forward[edge.x] == priority_of(order, edge.x);
                ${queue.push("kept", "(uint2)(u, v)", "queue_to")}
            }
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
</%def>
