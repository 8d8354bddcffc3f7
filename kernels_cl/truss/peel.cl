<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="single" file="/grid/single_group.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="lists" file="/truss/lists.mako"/>
<%namespace name="finding" file="/truss/find.mako"/>
<%namespace name="drift_rounds" file="/truss/drift.mako"/>
<%namespace name="incidence" file="/truss/incidence.mako"/>
<%namespace name="rounds" file="/truss/rounds.mako"/>
// Peeling: items with too small a count go, level by level, and take from the counts of others.
//
// Edges of k-trusses count triangles, vertices of k-cores neighbours. At a level FIND scans those that
// are left for counts of at most the level; PEEL removes what the round before queued and queues whose
// count its removal brings down to the level: an atomic decrement shows that to exactly one lane. An
// empty queue ends the level. Where a FIND finds nothing, the next level is the least count it saw.
//
// Where most of what is left goes in one round, or the configuration wants it, CLEAR and COUNT count
// anew instead, and FIND looks again. COMPACT lists those that are left when half of the list has gone,
// and ROWS drops such edges from rows that are searched.
//
// `status` reports when an item went: ALIVE, or the stamp of its round, or GONE. Stamps come round: in
// every ${STAMPS // 2}th round WRAP turns all but the present one into GONE.
//
// Where few go in a round, SIMD groups go on by themselves for some rounds, see /truss/drift.mako.
//
// Races: in a round only items that are alive get the stamp of the next one, and both count as alive
// in it; counts are changed by atomics, and what a round removes depends on their sums alone. So each
// round removes the same items in every run, whatever the order.

${group.words(clocked=True)}
${stage.declarations()}
${intersect.functions()}

${stage.constants(stages, "u")}\
#define ALIVE 0u
#define GONE 255u
#define STAMPS ${STAMPS}u
// The stage word's `stamp`: the stamp that this stage gives, and whether a COUNT is to follow; its
// `list`: which list of those left is there; of all, and nothing is known yet, where a run begins.
#define STAMP(stamp) ((stamp) & 255u)
#define COUNTING 256u
#define AFTER(stamp) ((stamp) % STAMPS + 1u)
#define BEFORE(stamp) ((stamp) == 1u ? STAMPS : (stamp) - 1u)   // of 0, no stamp
#define RECOUNTS(gone, left_edges) (recounting == 1u || (recounting == 2u && (gone) > (left_edges)))
// What one group does by itself in less time than all take to wait for one another.
#define FEW(items, edges) ((items) <= ${config.limits.single_group_capacity}u && (edges) <= ${few_edges}u)
#define NO_LIST 0u
#define EVEN_LIST 1u
#define ODD_LIST 2u
#define UNBEGUN 3u
#define NO_COUNT 0xffffffffu
// A list that is not longer is scanned no faster when half of it has been dropped.
#define SCANNED_AT_ONCE (${find_ahead}u * GROUP_SIZE * now.members)
${stage.constants(control)}\
${incidence.declarations()}
${group.kernel()} truss_peel(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    if (launch == 0 && get_global_id(0) == 0) history[0].w = device_clock_ns();
    ${stage.setup()}
    ${queue.setup()}
    ${advance.setup()}
    % if single_group:
    ${single.setup()}
    % endif
    const uint my_modes = ${' | '.join(f'1u << {name}' for name in rendered)};
    // A run that goes on from what another left first forgets the stamps of that: after an empty
    // FIND, since whatever begins is in the first kernel, where there are several.
    const int resumed = dropping == 1u;
    stage_t first_stage = stage_first(FIND);
    first_stage.list = UNBEGUN;
    first_stage.length = resumed ? 0u : n;
    first_stage.stamp = 1u;
    first_stage.level = first_level;
    ${stage.run("first_stage", run_stage, rounds.next_stage, rounds.keep, rounds.few_rounds if single_group else None)}
}

## Each of those left, and perhaps of those that have gone since they were listed; body sees x and
## active, in lane-uniform control flow.
<%def name="each_left()">
<%lists:each_place>
    const uint place = ${lists.module.HERE};
    const uint x = now.list == NO_LIST ? place : left_from[place];
    ${caller.body()}
</%lists:each_place>
</%def>

<%def name="run_stage()">
    __global uint *const queue_from = now.queue ? queue_odd : queue_even;
    __global uint *const queue_to = now.queue ? queue_even : queue_odd;
    __global uint *const left_from = now.list == ODD_LIST ? left_odd : left_even;
    __global uint *const left_to = now.list == EVEN_LIST ? left_odd : left_even;
    const uint fresh = STAMP(now.stamp), current = BEFORE(fresh);
% if incident == "lists":
    __global const uint *const indices = (__global const uint *)sides;
% endif
    ${queue.begin_stage()}
    % if "FIND" in rendered:
    if (now.mode == FIND) {
        ${finding.find(capture(lists.fill_tile))}
    }
    % endif
    % if "PEEL" in rendered:
    % if drift:
    if (now.mode == PEEL && now.length <= ${drift_items}u) {
        ${drift_rounds.rounds()}
        ${queue.end_stage("queue_to", "0")}
    } else
    % endif
    if (now.mode == PEEL) {
        const uint tile_size = ${lists.push_tile()};
        ${advance.each_edge("queue_from", "now.length", lambda count: incidence.visit(count, False))}
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "CLEAR" in rendered:
    if (now.mode == CLEAR) {
        <%self:each_left>
            if (active) counts[x] = 0u;
        </%self:each_left>
    }
    % endif
    % if "COUNT" in rendered:
    if (now.mode == COUNT) {
        const uint tile_size = ${lists.push_tile()};
        ${advance.each_edge("left_from", "now.length", incidence.recount)}
    }
    % endif
    % if "COMPACT" in rendered:
    if (now.mode == COMPACT) {
        <%self:each_left>
            const int alive = active && status[x] == ALIVE;
            ${queue.push("alive", "x", "left_to")}
        </%self:each_left>
        ${queue.end_stage("left_to", "0")}
    }
    % endif
    % if "WRAP" in rendered:
    if (now.mode == WRAP) {
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint x = tile_begin + lane_id(); x < tile_end; x += LANES)
                if (status[x] != ALIVE && status[x] != current) status[x] = GONE;
        </%tiles:each_tile>
    }
    % endif
    % if "ROWS" in rendered and incident == "rows":
    if (now.mode == ROWS) {
        ${incidence.drop_rows()}
    }
    % endif
</%def>
