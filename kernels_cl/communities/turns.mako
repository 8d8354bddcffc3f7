## turns: classes of vertices take turns: those of one choose what to join, all from the same state, then
## move; in passes over all classes.
##
## In CHOOSE rows are taken by who suits their length; hubs need SCORE and SETTLE too, see hubs.mako. APPLY
## moves who has chosen. Where work-groups can wait for each other a launch takes all of these and several
## passes, and so may a thread that is alone; else each is a launch, and CHOOSE one for each kind of rows, of
## kernels that know nothing else: `only` is the phase, and for which kind by place, or hubs; or None.
##
## parameters()    of the kernel, after table.parameters()
## setup()         among its first statements, after lanes.setup()
## run(keeps)      its body, where `keeps` says whether a vertex may stay, and passes end when little is
##                 gained. Body defs, the first three of them for any work-item:
##                 look(v)          declares `wanted`, whether v chooses, and what others need
##                 counted(u, v)    whether an edge to u counts, one to v itself never; key(u), for what
##                 floor(kept)      what a choice must be better than, kept being the sum of its `own`
##                 score(key, sum)  as in /rows/best.mako
##                 chosen(v)        by one work-item: best_key is what v chooses, or NO_KEY
##                 move(v, t)       by one work-item: v joins t
##                 before(v), edge(v, t, e), done(v, t, once)    of the edges of who moves, by several
## Barriers        of the work-group, and of the grid

<%!
    from types import SimpleNamespace

    def threads(kinds):
        """Whether rows are taken by threads: one of them alone does all phases."""
        return any(kind["unit"] == "thread" for kind in kinds)

    BODIES = ("look", "counted", "key", "floor", "score", "chosen", "move", "before", "edge", "done")
%>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="table" file="/rows/tally.mako"/>
<%namespace name="level" file="/communities/level.mako"/>
<%namespace name="barrier" file="/grid/barrier.mako"/>
<%namespace name="choose" file="/communities/choose.mako"/>
<%namespace name="hubs" file="/communities/hubs.mako"/>

<%def name="declarations()">\
${level.declarations()}
${memory.vocabulary()}
${barrier.vocabulary()}
% for name, value in phases.items():
#define ${name} ${value}u
% endfor
#define ALL_PHASES ${sum(phases.values())}u
#define TOGETHER (phases == ALL_PHASES)
#define CHUNK ${chunk}u                        // entries of a hub's row that a work-group takes
#define PLACES(entries) ((entries) + (entries) / 4u)   // of a hub's table; few entries have keys of their own
#define PART PLACES(CHUNK)
// Of a turn: its first vertex and first chunk, its chunks, and vertices by the length of their rows.
#define TURN_WORDS ${4 + len(kinds)}u
#define GAIN_WORDS 4u                          // of a pass: two halves of what is gained, and moves

${hubs.functions()}</%def>

<%def name="parameters()">\
    const uint phases,
    const uint first_turn,
    const uint end_turn,
    const uint most_passes,
    const uint moves_before,                    // of the pass before
    const ulong tolerance,                      // of what is gained
    const uint spin_limit,
    volatile __global uint *counters,           // the barrier's words, then GAIN_WORDS for each pass
    const uint seed,
    __global const uint *restrict turns,        // [classes * TURN_WORDS]
    __global const uint *restrict vertices,     // [n] by turn, and by the length of their rows
    __global const uint2 *restrict chunks,      // hubs and which part of theirs, by turn
    __global long *part_scores,                 // [chunks] of the best key in a part
    __global uint *part_keys,                   // [chunks]
    __global sum_t *part_kept,                  // [chunks] sum of the hub's own key
</%def>

<%def name="setup()">\
    ${barrier.setup()}\
    ${table.storage(kinds + hub_kinds)}\
% if hub_kinds:
    __local sum_t group_kept;
% endif
</%def>

<%def name="run(keeps)">
<% bodies = SimpleNamespace(**{name: getattr(caller, name) for name in BODIES}) %>\
uint moves_until = moves_before;
for (uint pass = 0u; pass < most_passes; ++pass) {
    ulong gain = 0;
    uint moves = 0u;
    for (uint turn = first_turn; turn < end_turn; ++turn) {
        __global const uint *const about = turns + turn * TURN_WORDS;
        const uint first_vertex = about[0], first_chunk = about[1], end_chunk = first_chunk + about[2];
% if only is None or only[0] == "CHOOSE":
        if (phases & CHOOSE) {
            uint first_of_kind = first_vertex;
% for place, kind in enumerate(kinds):
% if only is None or only[1] == place:
            ${choose.rows(bodies, kind, place, keeps)}
% endif
            first_of_kind += about[4 + ${place}];
% endfor
% if hub_kinds and (only is None or only[1] == "hubs"):
            ${hubs.sum_chunks(bodies, keeps)}
% endif
        }
% endif
% if hub_kinds and (only is None or only[0] in ("SCORE", "SETTLE")):
        if (first_chunk < end_chunk) {
            ${meet()}
% if only is None or only[0] == "SCORE":
            if (phases & SCORE) {
                ${hubs.score_parts(bodies)}
            }
% endif
            ${meet()}
% if only is None or only[0] == "SETTLE":
            if (phases & SETTLE) {
                ${hubs.settle(bodies)}
            }
% endif
        }
% endif
        ${meet()}
% if only is None or only[0] == "APPLY":
        if (phases & APPLY) {
            ${apply(bodies)}
        }
% endif
        if (turn + 1u == end_turn) {
            ${add_gain()}
        }
        ${meet()}
    }
    if (TOGETHER) {
        volatile __global uint *const sums_of_pass = counters + GRID_BARRIER_WORDS + pass * GAIN_WORDS;
        const uint movers = load_relaxed(sums_of_pass + 2);
        if (!movers) break;
% if keeps:
        const ulong all = (ulong)load_relaxed(sums_of_pass + 1) << 32 | load_relaxed(sums_of_pass);
        if (all <= tolerance || movers >= moves_until) break;
        moves_until = movers;
% endif
    }
}
</%def>

<%def name="meet()">
% if only is None and not threads(kinds):
if (TOGETHER && !grid_barrier(counters, spin_limit)) return;
% endif
</%def>

<%def name="add_gain()">
lane_converge();
gain = lane_reduce_add_ulong(gain);
moves = lane_reduce_add(moves);
if (lane_id() == 0u && moves) {
    volatile __global uint *const sums_of_pass = counters + GRID_BARRIER_WORDS + pass * GAIN_WORDS;
    const uint low = (uint)gain, met = atomic_add(sums_of_pass, low);
    atomic_add(sums_of_pass + 1, (uint)(gain >> 32) + (met + low < low ? 1u : 0u));
    atomic_add(sums_of_pass + 2, moves);
}
</%def>

## Edges of those vertices of a turn that have chosen: short rows by the lane whose vertex it is, the rest
## of longer ones by all lanes, those of hubs by work-groups.
<%def name="apply(bodies)">
{
    const uint count = ${" + ".join(f"about[{4 + place}]" for place in range(len(kinds))) or "0u"};
    <%share:each_shared_tile count="count">
        const int there = lane_id() < width && first + lane_id() < count;
        const uint v = vertices[first_vertex + (uint)(there ? first + lane_id() : first)];
        const uint t = there ? targets[v] : NO_KEY;
        const offset_t begin = indptr[v];
        const uint length = t != NO_KEY ? (uint)(indptr[v + 1] - begin) : 0u;
        if (t != NO_KEY) {
            ${bodies.move("v", "t")}
            const uint short_end = min(length, LONG_ROW);
            ${bodies.before("v")}
            for (offset_t e = begin; e < begin + short_end; ++e) {
                ${bodies.edge("v", "t", "e")}
            }
            ${bodies.done("v", "t", "1")}
        }
        lanemask_t long_rows = lane_ballot(length > LONG_ROW);
        while (long_rows) {
            const uint owner = lanemask_first(long_rows);
            long_rows &= long_rows - 1;
            const uint long_v = lane_shuffle(v, owner), long_t = lane_shuffle(t, owner);
            const uint long_length = lane_shuffle(length, owner);
            const offset_t long_begin = indptr[long_v];
            ${bodies.before("long_v")}
            for (offset_t e = long_begin + LONG_ROW + lane_id(); e < long_begin + long_length; e += LANES) {
                ${bodies.edge("long_v", "long_t", "e")}
            }
            ${bodies.done("long_v", "long_t", "lane_id() == 0u")}
        }
    </%share:each_shared_tile>
}
% if hub_kinds:
${hubs.apply(bodies)}
% endif
</%def>
