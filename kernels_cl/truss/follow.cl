<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="lists" file="/truss/lists.mako"/>
<%namespace name="maintain" file="/truss/maintain.mako"/>
<%namespace name="rounds" file="/truss/follow_rounds.mako"/>
// Truss numbers after a batch of edges has joined or left a graph.
//
// Truss numbers are the greatest numbers such that each edge of number k has k - 2 triangles whose other
// edges have at least k. From any numbers that are not too small, COUNT, LOWER and SPREAD come to them:
// whoever has too few such triangles gives up one, and those that its number mattered to look again.
//
// Edges that leave: numbers are not too small. Edges that join (BISECT, SETTLE) first get the greatest
// numbers that they have while no other edge changes; then, round after round, TEST lists the edges that
// might have one more, RAISE gives it to them, and LOWER takes it away where it is too much. A round in
// which nobody keeps it is the last.
//
// An edge has few enough triangles of edges with its number that come after it in the order of that
// number, or of greater numbers. So the first one of a set that could be raised has to have been reached
// from edges that have just got their number; and once it is a candidate, the second is, and so on. What
// is not reached that way is not looked at. Edges that lose a number go to the end of the order of the
// next lower one, edges that get one to the beginning of theirs, candidates that do not keep it to the
// end of their own: all of these have few enough triangles there.
//
// Races: in a stage numbers are either read or written, each by one lane. The numbers that a phase ends
// with are the greatest there are: they are the same in every run, whatever the order.

${group.words()}
${stage.declarations()}
${intersect.functions()}
${maintain.functions()}

${stage.constants(stages, "u")}\
${stage.constants(phases, "u")}\
${stage.constants(control)}\
typedef uint entry_t;
#define SHORTER(entry_) (used[sources[entry_]] <= used[indices[entry_]] ? sources[entry_] : indices[entry_])
#define ENTRY_VERTEX(entry_) (entry_)
#define ENTRY_BEGIN(entry_) ((offset_t)pointer[SHORTER(entry_)])
#define ROW_LENGTH(entry_) used[SHORTER(entry_)]
#define ENTRY_DEGREE(entry_) ROW_LENGTH(entry_)
// Halfway between the bounds of what an edge that joins may get.
#define MIDDLE(entry_) ((marks[entry_] + NUMBER(keys[entry_]) + 1u) / 2u)
// Which key both other edges of a triangle must have for it to be counted.
#define AIM(entry_) (now.phase == FLOOD ? keys[entry_] : MAKE_KEY(now.phase == BISECT ? MIDDLE(entry_) : NUMBER(keys[entry_]), 0u))

${group.kernel()} truss_follow(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    ${stage.setup()}
    ${queue.setup()}
    ${advance.setup()}
    const uint my_modes = ${' | '.join(f'1u << {name}' for name in rendered)};
    stage_t first_stage = stage_first(COUNT);
    first_stage.length = listed;
    first_stage.phase = first_phase;
    first_stage.stamp = 1u;
    ${stage.run("first_stage", run_stage, rounds.next_stage, rounds.keep)}
}

## Entries of a list; body sees p and active, in lane-uniform control flow.
<%def name="each_of(list)">
<%lists:each_place>
    const uint p = ${list}[${lists.module.HERE}];
    ${caller.body()}
</%lists:each_place>
</%def>

<%def name="run_stage()">
    __global uint *const queue_from = now.queue ? queue_odd : queue_even;
    __global uint *const queue_to = now.queue ? queue_even : queue_odd;
    // What is looked at: a list of the round before, perhaps from its middle, or the candidates.
    __global uint *const looked_at = now.listed ? candidates : queue_from + now.base;
    const uint fresh = now.stamp + 1u;
    ${queue.begin_stage()}
    % if "COUNT" in rendered:
    if (now.mode == COUNT) {
        const uint tile_size = ${lists.push_tile()};
        ${advance.each_edge("looked_at", "now.length", count_pairs)}
    }
    % endif
    % if "LOWER" in rendered:
    if (now.mode == LOWER) {
        <%self:each_of list="looked_at">
            int stays = 0;
            if (active) {
                const ulong key = keys[p];
                const uint number = NUMBER(key), count = counts[p];
                counts[p] = 0u;
                if (now.phase == BISECT) {
                    const uint aim = MIDDLE(p), enough = count + 2u >= aim;
                    const uint low = enough ? aim : marks[p], high = enough ? number : aim - 1u;
                    stays = low < high;
                    marks[p] = stays ? low : 0u;
                    if (!enough) ${maintain.write("p", "MAKE_KEY(high, ORDER(key)) | CANDIDATE")}
                } else if (count + 2u < number) {
                    stays = 1;
                    marks[p] = fresh;
                    if (now.phase == SETTLE) ${maintain.write("p", "MAKE_KEY(number - 1u, ORDER(key)) | CANDIDATE")}
                    else ${maintain.write("p", "MAKE_KEY(number - 1u, last_order + now.stamp)")}
                }
                if (stays) found_edges += ROW_LENGTH(p);
            }
            ${queue.push("stays", "p", "queue_to")}
        </%self:each_of>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "SPREAD" in rendered:
    if (now.mode == SPREAD) {
        const uint tile_size = ${lists.push_tile()};
        const int rising = now.phase == FLOOD || now.phase == TOUCH;
        __global uint *const source = rising ? candidates + now.base : queue_to;
        __global uint *const target = now.phase == FLOOD ? queue_to : queue_to + now.length;
        ${advance.each_edge("source", "now.length", spread)}
        ${queue.end_stage("target", "0")}
    }
    % endif
    % if "TEST" in rendered:
    if (now.mode == TEST) {
        __global uint *const target = candidates + now.base;
        <%self:each_of list="queue_from">
            int may = 0;
            if (active) {
                const ulong key = keys[p];
                may = counts[p] + 1u >= NUMBER(key);
                counts[p] = 0u;
                if (may) {
                    found_edges += ROW_LENGTH(p);
                    ${maintain.write("p", "key | CANDIDATE")}
                }
            }
            ${queue.push("may", "p", "target")}
        </%self:each_of>
        ${queue.end_stage("target", "0")}
    }
    % endif
    % if "RAISE" in rendered:
    if (now.mode == RAISE) {
        <%self:each_of list="candidates">
            if (active) ${maintain.write("p", "MAKE_KEY(NUMBER(keys[p]) + 1u, 0u) | CANDIDATE")}
        </%self:each_of>
    }
    % endif
    % if "COLLECT" in rendered:
    if (now.mode == COLLECT) {
        <%self:each_of list="candidates">
            int keeps = 0;
            if (active) {
                const ulong key = keys[p];
                keeps = (key & CANDIDATE) != 0ul;
                if (keeps) {
                    ${maintain.write("p", "MAKE_KEY(NUMBER(key), first_order - now.stamp)")}
                    marks[p] = fresh;
                    found_edges += ROW_LENGTH(p);
                }
            }
            ${queue.push("keeps", "p", "queue_to")}
        </%self:each_of>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
</%def>

<%def name="count_pairs(count)">
% for k in range(count):
const ulong aim${k} = active${k} ? AIM(u${k}) : 0ul;
${maintain.pair(k, f"aim{k}")}
if (paired${k} && EFFECTIVE(of_g${k}) >= aim${k}) atomic_inc(&counts[u${k}]);
% endfor
</%def>

<%def name="spread(count)">
% for k in range(count):
const ulong key${k} = active${k} ? keys[u${k}] : 0ul;
${maintain.pair(k, f"MAKE_KEY(now.phase == TOUCH ? 1u : NUMBER(key{k}), 0u)")}
int push_f${k} = 0, push_g${k} = 0;
if (paired${k}) {
    const uint number = NUMBER(key${k}), f_number = NUMBER(of_f${k}), g_number = NUMBER(of_g${k});
    if (now.phase == TOUCH) {
        push_f${k} = f_number <= min(number, g_number);
        push_g${k} = g_number && g_number <= min(number, f_number);
    } else if (now.phase == FLOOD) {
        // Those that did not count on this one before.
        push_f${k} = f_number == number && !(of_f${k} & CANDIDATE) && ORDER(of_f${k}) > ORDER(key${k}) && EFFECTIVE(of_g${k}) >= of_f${k};
        push_g${k} = g_number == number && !(of_g${k} & CANDIDATE) && ORDER(of_g${k}) > ORDER(key${k}) && EFFECTIVE(of_f${k}) >= of_g${k};
    } else {
        // Those that counted on the number that was given up, perhaps with another such.
        push_f${k} = f_number == number + 1u && g_number >= number && (now.phase == FALL || of_f${k} & CANDIDATE);
        push_g${k} = g_number == number + 1u && (now.phase == FALL || of_g${k} & CANDIDATE);
    }
}
const uint row_f${k} = active${k} ? SHORTER(u${k}) : 0u;
const uint row_g${k} = active${k} ? sources[u${k}] ^ indices[u${k}] ^ row_f${k} : 0u;
${maintain.list_once(f"push_f{k}", f"row_f{k}", f"v{k}", f"e{k}", "target")}
${maintain.list_once(f"push_g{k}", f"row_g{k}", f"v{k}", f"g{k}", "target")}
% endfor
</%def>
