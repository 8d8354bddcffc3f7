<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="intersect" file="/intersect/intersect.mako"/>\
// Neighbours that pairs of vertices have in common. A SIMD group takes a pair. No races.
${lanes.vocabulary()}
${group.declarations()}
${intersect.functions()}
#define INTERSECT_STEP()

${group.kernel()} pairs_common(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m] ascending in each row
    __global const uint *restrict sources,        // [count]
    __global const uint *restrict targets,        // [count]
    const uint count,
    const uint lopsided,                        // times as long is a row that is searched, not walked
    __global uint *restrict common)             // [count] out
{
    ${lanes.setup()}
    <%share:each_tile count="(ulong)count * LANES">
        const uint pair = (uint)(first / LANES);
        const uint u = sources[pair], v = targets[pair];
        const __global uint *const a = indices + indptr[u], *const b = indices + indptr[v];
        const uint na = (uint)(indptr[u + 1] - indptr[u]), nb = (uint)(indptr[v + 1] - indptr[v]);
        uint both = 0u;
        if (max(na, nb) / lopsided > min(na, nb)) {
            <%intersect:each_match way="search" a="a" b="b" na="na" nb="nb" part="lane_id()" parts="LANES" args="i, j">
                ++both;
            </%intersect:each_match>
        } else {
            <%intersect:each_match way="${way}" a="a" b="b" na="na" nb="nb" part="lane_id()" parts="LANES" args="i, j">
                ++both;
            </%intersect:each_match>
        }
        lane_converge();
        both = lane_reduce_add(both);
        if (lane_id() == 0u) common[pair] = both;
    </%share:each_tile>
}
