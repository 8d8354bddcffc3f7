## level: what kernels on communities have in common: the graph of a level, and what a move gains.

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="table" file="/rows/tally.mako"/>

<%def name="declarations()">\
${lanes.vocabulary()}
${group.declarations()}
${table.declarations()}
#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
#define WEIGHT(e) ${"weights[e]" if weighted else "1u"}
#define LONG_ROW ${long_row}u                    // a SIMD group takes the rest of such a row together
#define lane_reduce_sum(x) lane_reduce_add${"_ulong" if tally["wide"] else ""}(x)

// Modularity in whole numbers: weights are shifted so that they add up to some 2^61, divided by the
// resolution, and what a vertex loses by a community's total K is the high half of a product. So what
// is gained is the same number on every device, in whatever order weights were summed.
#define PULL(w) ((long)((ulong)(w) << shift))
#define SHARE(k) mul_hi((ulong)(k) << shift << up, factor)
#define PENALTY(share, k) ((long)(mul_hi((share), (ulong)(k) << shift) << down))

// Vertices take turns by classes; a number decides between what is equally good.
#define CLASS_OF(v) (scrambled((v) ^ seed) % ${classes}u)
#define TALLY_ORDER(key) scrambled((key) + seed)

static inline uint scrambled(uint x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
</%def>

<%def name="rows()">\
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
% if weighted:
    __global const sum_t *restrict weights,     // [m]
% endif
</%def>

<%def name="scale()">\
    const uint shift,                           // see PULL, SHARE and PENALTY
    const uint up,
    const uint down,
    const ulong factor,
</%def>

## Body sees `row`, the same on all lanes of a SIMD group; its entries are begin + lane_id() by LANES
## up to row_end.
<%def name="each_row()">
<%share:each_tile count="(ulong)n * LANES">
    const uint row = (uint)(first / LANES);
    const offset_t begin = indptr[row], row_end = indptr[row + 1];
    ${caller.body()}
</%share:each_tile>
</%def>

<%def name="chunk_parameters()">\
% if hubs:
    __global const uint2 *restrict chunks,      // [chunk_count] of hubs: which, and which part of its row
    const uint chunk_count,
% endif
</%def>

## The same, but the rows of hubs in chunks; body is given `part`, which chunk of the row it is, or
## None where it is all of one.
<%def name="each_part()">
<%share:each_tile count="(ulong)n * LANES">
    const uint row = (uint)(first / LANES);
    const offset_t begin = indptr[row], row_end = indptr[row + 1];
% if hubs:
    if (row_end - begin > ${bins[-1] if bins else 0}u) continue;
% endif
    ${caller.body(part=None)}
</%share:each_tile>
% if hubs:
for (uint at = (uint)(get_global_id(0) / LANES); at < chunk_count; at += (uint)(get_global_size(0) / LANES)) {
    const uint row = chunks[at].x, part = chunks[at].y;
    const offset_t begin = indptr[row] + (offset_t)part * ${chunk}u, row_end = min(begin + ${chunk}u, indptr[row + 1]);
    ${caller.body(part="part")}
}
% endif
</%def>
