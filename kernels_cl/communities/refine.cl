<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="table" file="/rows/tally.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
<%namespace name="turns" file="/communities/turns.mako"/>\
// Refining communities: each is taken apart and put together again from single vertices, which join
// what they are well connected to within it.
//
// Only vertices that are alone move, and nobody joins one that may move in the same turn: so whatever
// has been joined stays, and its vertices are connected. A set and a vertex are well connected if their
// edges to the rest of the community weigh at least what is expected by their totals.
${turns.declarations()}
#define WELL_CONNECTED(cut, total, whole) (PULL(cut) >= PENALTY(SHARE(total), (whole) - (total)))

__kernel KERNEL void refine_turns(
${table.parameters()}\
${level.rows()}\
${level.scale()}\
${turns.parameters()}\
    __global const sum_t *restrict strengths,   // [n]
    __global const uint *restrict labels,       // [n] communities
    __global const sum_t *restrict totals,      // [n] of communities
    __global uint *parts,                       // [n] in/out
    volatile __global sum_t *part_totals,       // [n] in/out
    volatile __global sum_t *cuts,              // [n] in/out
    __global uchar *joined,                     // [n] in/out
    __global uint *targets)                     // [n] out: which part to join, or NO_KEY
{
    ${lanes.setup()}
    ${turns.setup()}
    <%turns:run keeps="${False}">
    <%def name="look(v)">
        const uint own = labels[${v}];
        const sum_t strength = strengths[${v}], whole = totals[own];
        const ulong share = SHARE(strength);
        const int wanted = parts[${v}] == ${v} && !joined[${v}] && WELL_CONNECTED(cuts[${v}], strength, whole);
    </%def>
    <%def name="counted(u, v)">${u} != ${v} && labels[${u}] == own</%def>
    <%def name="key(u)">parts[${u}]</%def>
    <%def name="floor(kept)">0</%def>
    <%def name="score(key, sum)">
        if ((joined[${key}] || CLASS_OF(${key}) != turn) && WELL_CONNECTED(cuts[${key}], part_totals[${key}], whole))
            tally_score = PULL(${sum}) - PENALTY(share, part_totals[${key}]);
    </%def>
    <%def name="chosen(v)">
        if (best_key != NO_KEY) ++moves;
    </%def>
    <%def name="move(v, t)">
        sum_add_global(&part_totals[${t}], strengths[${v}]);
        sum_add_global(&cuts[${t}], cuts[${v}]);
        part_totals[${v}] = 0;
        parts[${v}] = ${t};
        joined[${t}] = 1;
    </%def>
    <%def name="before(v)">sum_t inner = 0;</%def>
    <%def name="edge(v, t, e)">
        // An edge to who was there before has left the cut of both; one between two who come now
        // is met from both sides.
        const uint u = indices[${e}];
        if (u != ${v} && labels[u] == labels[${v}]) {
            const int comes = CLASS_OF(u) == turn && targets[u] != NO_KEY;
            if ((comes ? targets[u] : parts[u]) == ${t}) inner += comes ? WEIGHT(${e}) : 2 * WEIGHT(${e});
        }
    </%def>
    <%def name="done(v, t, once)">
        % if once == "1":
        if (inner) sum_add_global(&cuts[${t}], (sum_t)0 - inner);
        % else:
        inner = lane_reduce_sum(inner);
        if (${once} && inner) sum_add_global(&cuts[${t}], (sum_t)0 - inner);
        % endif
    </%def>
    </%turns:run>
}
