<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="table" file="/rows/tally.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
<%namespace name="turns" file="/communities/turns.mako"/>\
// Moving vertices to the communities next to them: where those of one class would go, then the moves.
//
// Choices are made from what was so before the turn, and sums are of whole numbers: nothing depends on
// who is first.
// Race: marks of active vertices are stored by several work-items, all the same value.
${turns.declarations()}

__kernel KERNEL void move_turns(
${table.parameters()}\
${level.rows()}\
${level.scale()}\
${turns.parameters()}\
    __global const sum_t *restrict strengths,   // [n]
    __global uint *labels,                      // [n] in/out
    volatile __global sum_t *totals,            // [n] in/out: of communities
    __global uchar *active,                     // [n] in/out
    __global uint *targets)                     // [n] out: where to, or NO_KEY
{
    ${lanes.setup()}
    ${turns.setup()}
    <%turns:run keeps="${True}">
    <%def name="look(v)">
        const uint own = labels[${v}];
        const sum_t strength = strengths[${v}];
        const ulong share = SHARE(strength);
        const int wanted = active[${v}];
    </%def>
    <%def name="counted(u, v)">${u} != ${v}</%def>
    <%def name="key(u)">labels[${u}]</%def>
    <%def name="floor(kept)">PULL(${kept}) - PENALTY(share, totals[own] - strength)</%def>
    <%def name="score(key, sum)">if (${key} != own) tally_score = PULL(${sum}) - PENALTY(share, totals[${key}]);</%def>
    <%def name="chosen(v)">
        active[${v}] = 0;
        if (best_key != NO_KEY) {
            gain += (ulong)(best_score - floor);
            ++moves;
        }
    </%def>
    <%def name="move(v, t)">
        sum_add_global(&totals[labels[${v}]], (sum_t)0 - strengths[${v}]);
        sum_add_global(&totals[${t}], strengths[${v}]);
        labels[${v}] = ${t};
    </%def>
    <%def name="before()"></%def>
    <%def name="edge(v, t, e)">
        // Most are active already while much moves. Whoever moves too has its new label in targets,
        // while labels may change now.
        const uint u = indices[${e}];
        if (!active[u]) {
            const uint other = CLASS_OF(u) == turn && targets[u] != NO_KEY ? targets[u] : labels[u];
            if (other != ${t}) active[u] = 1;
        }
    </%def>
    <%def name="done(v, t, once)"></%def>
    </%turns:run>
}
