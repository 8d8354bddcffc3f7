<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="table" file="/rows/tally.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// Moving vertices to the communities next to them: where those of one class would go, then the moves.
//
// Choices are made from what was so before the launch, and sums are of whole numbers: nothing depends
// on who is first.
// Race: marks of active vertices are stored by several work-items, all the same value.
${level.declarations()}

__kernel KERNEL void move_choose(
${table.parameters()}\
${level.rows()}\
${level.scale()}\
    const uint seed,
    __global const uint *restrict vertices,     // [first_vertex + count]
    const uint first_vertex,
    const uint count,
    __global const uint *restrict labels,       // [n]
    __global const sum_t *restrict strengths,   // [n]
    __global const sum_t *restrict totals,      // [n] of communities
    __global uchar *active,                     // [n] in/out
    __global uint *targets,                     // [n] out: where to, or NO_KEY
    volatile __global uint *gained)             // [3] in/out: two halves of what is gained, and moves
{
    ${lanes.setup()}
    ${table.setup()}
    ulong gain = 0;
    uint moves = 0u;
    <%table:each_row count="count">
        const uint v = vertices[first_vertex + row_slot];
        if (!active[v]) {
            if (UNIT_ITEM == 0u) targets[v] = NO_KEY;
            continue;
        }
        const uint own = labels[v];
        const sum_t strength = strengths[v];
        const ulong share = SHARE(strength);
        const offset_t begin = indptr[v];
        const uint length = (uint)(indptr[v + 1] - begin);
        ${table.clear("length")}
        for (uint i = UNIT_ITEM; i < length; i += UNIT_ITEMS) {
            const uint u = indices[begin + i];
            if (u != v) {
                ${table.add("labels[u]", "WEIGHT(begin + i)")}
            }
        }
        ${table.finish()}
        ${table.sum_of("kept", "own")}
        const long stay = PULL(kept) - PENALTY(share, totals[own] - strength);
        <%table:best floor="stay">
        <%def name="score(key, sum)">if (${key} != own) tally_score = PULL(${sum}) - PENALTY(share, totals[${key}]);</%def>
        <%def name="most(sum)">PULL(${sum})</%def>
        </%table:best>
        if (UNIT_ITEM == 0u) {
            targets[v] = best_key;
            active[v] = 0;
            if (best_key != NO_KEY) {
                gain += (ulong)(best_score - stay);
                ++moves;
            }
        }
    </%table:each_row>
    lane_converge();
    gain = lane_reduce_add_ulong(gain);
    moves = lane_reduce_add(moves);
    if (lane_id() == 0u && moves) {
        const uint low = (uint)gain, before = atomic_add(gained, low);
        atomic_add(gained + 1, (uint)(gain >> 32) + (before + low < low ? 1u : 0u));
        atomic_add(gained + 2, moves);
    }
}

<%def name="apply_moves(name, by)">
__kernel KERNEL void ${name}(
${level.rows()}\
    const uint seed,
    const uint turn,                            // which class moves
    __global const uint *restrict vertices,
    const uint first_vertex,
    const uint count,
    __global const sum_t *restrict strengths,   // [n]
    __global const uint *restrict targets,      // [n]
    __global uint *labels,                      // [n] in/out
    volatile __global sum_t *totals,            // [n] in/out
    __global uchar *active)                     // [n] in/out
{
    ${lanes.setup()}
    <%level:each_mover by="${by}">
    <%def name="move(v, t)">
        sum_add_global(&totals[labels[${v}]], (sum_t)0 - strengths[${v}]);
        sum_add_global(&totals[${t}], strengths[${v}]);
        labels[${v}] = ${t};
    </%def>
    <%def name="before()"></%def>
    <%def name="edge(v, t, e)">
        // Whoever moves too has its new label in targets, while labels may change now.
        const uint u = indices[${e}];
        const uint other = CLASS_OF(u) == turn && targets[u] != NO_KEY ? targets[u] : labels[u];
        if (other != ${t}) active[u] = 1;
    </%def>
    <%def name="done(v, t, once)"></%def>
    </%level:each_mover>
}
</%def>

${apply_moves("move_apply", "lanes")}
${apply_moves("move_apply_long", "group")}
