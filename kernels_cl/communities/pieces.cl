<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
<%namespace name="union" file="/components/union_find.mako"/>\
// Pieces of communities that hang together over edges that weigh something, by their least vertex: each
// vertex alone, then whoever finds an edge hooks the tree of one end to that of the other.
//
// Races: those of joining trees, see there.
${level.declarations()}
${memory.vocabulary()}
${union.functions()}

__kernel KERNEL void pieces_alone(
    const uint n,
    __global uint *restrict pieces)             // [n] out
{
    <%share:each_item count="n">
        pieces[item] = item;
    </%share:each_item>
}

// Each edge is stored both ways, and taken from its larger end.
__kernel KERNEL void pieces_join(
${level.rows()}\
${level.chunk_parameters()}\
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global uint *pieces)                      // [n] in/out
{
    ${lanes.setup()}
    <%level:each_part args="part">
        const uint own = labels[row];
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const uint u = indices[e];
            if (u < row && labels[u] == own && WEIGHT(e) != 0) join(pieces, row, u);
        }
    </%level:each_part>
}

__kernel KERNEL void pieces_roots(
    const uint n,
    __global uint *pieces)                      // [n] in/out
{
    <%share:each_item count="n">
        pieces[item] = root_above(pieces, item);
    </%share:each_item>
}
