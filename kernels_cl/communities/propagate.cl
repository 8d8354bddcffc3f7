<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="table" file="/rows/tally.mako"/>\
<%namespace name="best" file="/rows/best.mako"/>\
// Label propagation, a round: everybody takes the label that most neighbours have, the smallest of those.
//
// An edge each way counts twice. No races: labels of a round are not those it writes.
${lanes.vocabulary()}
${group.declarations()}
${table.declarations()}
#define TALLY_ORDER(key) (key)

<%def name="count_row(begin, length, edge_targets)">
for (uint i = UNIT_ITEM; i < ${length}; i += UNIT_ITEMS) {
    ${table.add(f"labels[{edge_targets}[{begin} + i]]", "1u")}
}
</%def>

${group.kernel()} propagate_round(
${table.parameters()}\
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
% if directed:
    __global const offset_t *restrict entering, // [n + 1] rows of the edges into vertices
    __global const uint *restrict sources,      // [m]
% endif
    __global const uint *restrict vertices,     // [first_vertex + count]
    const uint first_vertex,
    const uint count,
    __global const uint *restrict labels,       // [n]
    __global uint *restrict next,               // [n] out
    volatile __global uint *changes)            // [1] in/out
{
    ${lanes.setup()}
    ${table.setup()}
    uint changed = 0u;
    <%table:each_row count="count">
        const uint v = vertices[first_vertex + row_slot];
        const uint before = labels[v];
        const offset_t begin = indptr[v];
        const uint length = (uint)(indptr[v + 1] - begin);
% if directed:
        const offset_t begin_in = entering[v];
        const uint length_in = (uint)(entering[v + 1] - begin_in);
        ${table.clear("length + length_in")}
        ${count_row("begin_in", "length_in", "sources")}
% else:
        ${table.clear("length")}
% endif
        ${count_row("begin", "length", "indices")}
        ${table.finish()}
        <%best:best floor="0">
        <%def name="score(key, sum)">tally_score = (long)${sum};</%def>
        <%def name="most(sum)">(long)${sum}</%def>
        </%best:best>
        if (UNIT_ITEM == 0u) {
            const uint after = best_key == NO_KEY ? before : best_key;
            next[v] = after;
            changed += after != before;
        }
    </%table:each_row>
    ${lanes.add_up("changed", "changes")}
}
