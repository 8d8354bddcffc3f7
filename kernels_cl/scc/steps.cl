<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="record" file="/scc/record.mako"/>
<%namespace name="closures" file="/scc/closures.mako"/>
<%namespace name="working" file="/scc/stages.mako"/>
// Strongly connected components in steps: trimming, forward-backward closures, colouring.
//
// Stages: TRIM vertices without live in- or out-neighbours; PIVOT chooses one vertex of every range, of
// greatest degree product; COLOR propagates the greatest vertex number forward; SEED marks the pivots
// or the roots of colours; a closure follows, by SCAN over all vertices or by FOLLOW from a queue;
// UPDATE takes out what both closures reached, or a root's closure in its colour, and gives the rest
// new ranges. Edges are followed within one range, so all closures of a round run together.
//
// Packed words: `packed` holds eliminated, forward, backward and expanded bits above the range;
// `component` the colour while a vertex is live, COMPONENT_KNOWN and the representative afterwards.
// Ranges: first 2n; of pivot p, what only the forward closure reached gets 2p and what only the
// backward one did 2p + 1, the rest keeps its own; of colour c, the rest gets c. A pivot or root
// leaves with its component and never names a range again, so numbers stay unique at any depth.
//
// Races: bits are set by atomic_or, and whoever set one first queues the vertex. TRIM and COLOR read
// words that others write in the same stage: a vertex that is seen eliminated only makes trimming
// faster, a colour that is seen old is passed on in the next round, which the change brings about.

${group.words(clocked=True)}
${queue.declarations()}
${stage.declarations()}

${stage.constants(stages, "u")}\
#define COMPONENT_KNOWN ${COMPONENT_KNOWN}u
#define ELIMINATED 0x80000000u
#define REACHED_FORWARD 0x40000000u
#define REACHED_BACKWARD 0x20000000u
#define EXPANDED 0x10000000u
#define RANGE 0x0fffffffu   // of an eliminated vertex: 1 + the iteration that trimmed it
#define NO_COMPONENT 0xffffffffu
// Phases of the stage word, whose `iteration` counts within one; its `live` is how many vertices are.
#define PHASE_TRIM 0u
#define PHASE_PAIR 1u
#define PHASE_COLOR 2u

${closures.functions()}
${group.kernel()} scc_begin(
    const uint n,
    __global const uint *ranges,                    // [n], or one element
    const uint split,                               // whether `ranges` are given
    __global uint *packed,                          // [n] out
    __global uint *component,                       // [n] out
    __global ulong *pivots)                         // [2 n + 1] out
{
    <%share:each_item count="n">
        packed[item] = split ? ranges[item] : 2u * n;
        component[item] = item;
        pivots[item] = pivots[n + item] = 0;
        if (item == 0) pivots[2u * n] = 0;
    </%share:each_item>
}

${group.kernel()} scc_steps(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    ${record.begin()}
    ${stage.setup()}
    ${queue.setup()}
    ${advance.setup()}
    const uint my_modes = ${' | '.join(f'1u << {name}' for name in rendered)};
    stage_t first_stage = stage_first(trim_limit ? TRIM : pair_limit ? PIVOT : COLOR);
    first_stage.phase = trim_limit ? PHASE_TRIM : pair_limit ? PHASE_PAIR : PHASE_COLOR;
    first_stage.iteration = trim_limit ? 0u : pair_first;
    first_stage.live = n;
    ${stage.run("first_stage", working.stage, next_stage, settle)}
}

<%def name="settle()">
${record.settle("now.mode == FOLLOW ? now.length : now.live", "now.mode | now.phase << 8", "next.live")}
</%def>

## By one work-item: what follows a stage that found `queued`.
<%def name="next_stage()">
    fence_device();
    const ulong cost = ${round_work}u + (now.mode == FOLLOW ? (ulong)now.length : now.mode == TRIM || now.mode == COLOR || now.mode == SCAN ? n + m : n);
    ${record.account("cost", "!now.begun")}
    next.begun = 1;
    const uint phase = now.phase, backward = now.backward, iteration = now.iteration;
    const int by_queue = queued_closures >> (phase == PHASE_COLOR) & 1u;
    int enter = 0;   // a step is over: 1 the next is forward-backward, 2 colouring
    next.length = 0;
    if (now.mode == TRIM) {
        next.live -= queued;
        next.iteration = iteration + 1u;
        if (queued == 0 || (ulong)queued * trim_worth < now.live || iteration + 1u >= trim_limit) enter = pair_limit ? 1 : 2;
    } else if (now.mode == PIVOT) {
        next.mode = SEED;
    } else if (now.mode == COLOR) {
        next.backward = queued == 0;
        next.mode = queued ? COLOR : SEED;
    } else if (now.mode == UPDATE) {
        next.live -= queued;
        enter = phase == PHASE_COLOR || iteration + 1u >= pair_limit ? 2 : 1;
    } else if (now.mode == SEED || queued) {
        next.mode = by_queue ? FOLLOW : SCAN;
        next.length = by_queue ? queued : 0u;
        next.queue ^= 1;
    } else if (!backward) {
        next.mode = SEED;
        next.backward = 1;
    } else {
        next.mode = UPDATE;
    }
    if (enter == 1) {
        next.mode = PIVOT;
        ${enter_phase("PHASE_PAIR")}
    } else if (enter == 2) {
        next.mode = color ? COLOR : MODE_DONE;
        ${enter_phase("PHASE_COLOR")}
    }
    // What is left is left to another search where scans do not pay.
    if (next.live == 0 || spent > work_limit) next.mode = MODE_DONE;
    ${stage.finish("next", "work > budget")}
    stage_by_one_group = 0;
</%def>

<%def name="enter_phase(name)">
next.phase = ${name};
next.backward = 0;
next.iteration = phase == ${name} ? iteration + 1u : 0u;
</%def>
