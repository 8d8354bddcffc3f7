<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="table" file="/rows/tally.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
<%namespace name="turns" file="/communities/turns.mako"/>\
// Moving vertices to the communities next to them: where those of one class would go, then the moves.
//
// Choices are made from what was so before the turn, and sums are of whole numbers: nothing depends on
// who is first.
// Whoever stays holds how much better that was than the best move, in units of weight; what neighbours'
// moves can change of it is taken off, and who is below zero chooses again. Of who has just moved it is
// not known what was second best: it chooses again once any neighbour moves elsewhere.
// Race: whether something is below zero is read while it becomes less; it is taken off once more then.
${turns.declarations()}
#define MOST_SLACK ((sum_t)-1 >> 2)            // what is taken off in a pass or two does not wrap
#define RESTLESS(slack) ((slack) >> (8 * sizeof(sum_t) - 1))

__kernel KERNEL void move_turns(
${table.parameters()}\
${level.rows()}\
${level.scale()}\
${turns.parameters()}\
    __global const sum_t *restrict strengths,   // [n]
    __global uint *labels,                      // [n] in/out
    volatile __global sum_t *totals,            // [n] in/out: of communities
    volatile __global sum_t *slacks,            // [n] in/out: what vertices would lose by a move, below zero
                                                // for those that choose
    __global uint *sources,                     // [n] out, of movers: where from
    __global uint *targets)                     // [n] out: where to, or NO_KEY
{
    ${lanes.setup()}
    ${turns.setup()}
    <%turns:run keeps="${True}">
    <%def name="look(v)">
        const uint own = labels[${v}];
        const sum_t strength = strengths[${v}];
        const ulong share = SHARE(strength);
        const int wanted = RESTLESS(slacks[${v}]);
    </%def>
    <%def name="counted(u, v)">${u} != ${v}</%def>
    <%def name="key(u)">labels[${u}]</%def>
    <%def name="floor(kept)">PULL(${kept}) - PENALTY(share, totals[own] - strength)</%def>
    <%def name="score(key, sum)">if (${key} != own) tally_score = PULL(${sum}) - PENALTY(share, totals[${key}]);</%def>
    <%def name="chosen(v)">
        if (best_key != NO_KEY) {
            gain += (ulong)(best_score - floor);
            ++moves;
            slacks[${v}] = 0;
            sources[${v}] = own;
        } else {
            // Communities that it is not next to score below zero.
            const long lost = max(floor - max(best_score, 0L), 0L);
            slacks[${v}] = (sum_t)min((ulong)lost >> shift, (ulong)MOST_SLACK);
        }
    </%def>
    <%def name="move(v, t)">
        sum_add_global(&totals[labels[${v}]], (sum_t)0 - strengths[${v}]);
        sum_add_global(&totals[${t}], strengths[${v}]);
        labels[${v}] = ${t};
    </%def>
    <%def name="before(v)">const uint source = sources[${v}];</%def>
    <%def name="edge(v, t, e)">
        // Most choose already while much moves. Whoever moves too has its new label in targets, while
        // labels may change now.
        const uint u = indices[${e}];
        if (!RESTLESS(slacks[u])) {
            const uint other = CLASS_OF(u) == turn && targets[u] != NO_KEY ? targets[u] : labels[u];
            // Another community gains an edge, and where v was in that of u this loses one.
            const sum_t w = WEIGHT(${e});
            if (other != ${t}) sum_add_global(&slacks[u], (sum_t)0 - (other == source ? 2 * w : w));
        }
    </%def>
    <%def name="done(v, t, once)"></%def>
    </%turns:run>
}
