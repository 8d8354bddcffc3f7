<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// Pieces of communities that hang together, by their least vertex: each vertex alone, then rounds in
// which it joins what is next to it, over edges that weigh something. A round may see what others wrote
// in it: pieces only become less.
${level.declarations()}

__kernel KERNEL void pieces_alone(
    const uint n,
    __global uint *restrict pieces)             // [n] out
{
    <%share:each_item count="n">
        pieces[item] = item;
    </%share:each_item>
}

__kernel KERNEL void pieces_join(
${level.rows()}\
${level.chunk_parameters()}\
    const uint n,
    __global const uint *restrict labels,       // [n]
    volatile __global uint *pieces,             // [n] in/out
    volatile __global uint *changed)            // [1] in/out
{
    ${lanes.setup()}
    <%level:each_part args="part">
        const uint own = labels[row], before = pieces[row];
        uint least = before;
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const uint u = indices[e];
            if (labels[u] == own && WEIGHT(e) != 0) least = min(least, pieces[u]);
        }
        least = lane_reduce_min(least);
        if (lane_id() == 0u && least < before) {
            least = min(least, pieces[least]);
            ${"atomic_min(&pieces[row], least)" if part else "pieces[row] = least"};
            *changed = 1u;
        }
    </%level:each_part>
}
