<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="bisect" file="/rows/bisect.mako"/>
<%namespace name="packed" file="/rows/packed.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="ranks" file="/triangles/ranks.mako"/>
<%namespace name="tiny_rows" file="/triangles/tiny_rows.mako"/>
<%namespace name="short_rows" file="/triangles/short_rows.mako"/>
<%namespace name="long_rows" file="/triangles/long_rows.mako"/>
// Every edge turned from its end of the greater rank to that of the smaller one.
//
// By degree, rank 0 is the greatest hub, so that rows are short; degrees of 2,048 and more share a
// rank's bucket with those within 1/128 of an octave. By id, the rank is the number. A row holds the
// smaller ranks first, ascending (where edges lead to), and then the greater ones, in any order.
//
% if config.packed:
// Rows are also packed, for what streams them: their ranks below 65,535 as 16-bit words in units of
// eight, the last filled up with 0xffff. Row of vertex v: from unit indptr[v] / 8 + v on, which no two
// rows share. The first blocks of ranks that a long row has BLOCK_LEAST of or more come first, as bits.
//
% endif
// Race: ranks within a bucket go to whoever comes first, so they differ from run to run; what is
// counted does not.

${group.words()}
${intersect.functions()}
% if config.packed:
${packed.declarations()}
% endif

#define BUCKETS ${BUCKETS}u
#define SHORT_ROW ${SHORT_ROW}u          // rows of more edges are done by a work-group
% if config.tiny:
#define TINY_ROW ${config.tiny}u
% endif
#define WINDOW ${WINDOW}u                // ranks that a work-group sorts at a time
#define WORDS (WINDOW / 32u)
#define BATCH max(LANES / 4u, 1u)        // short rows that a SIMD group looks up at a time
#define NOTHING 0xffffffffu             // no rank
#define SPREAD (${SPREAD}u * LANES)
% if config.packed:
#define LAST_WORD (PACKED_RANKS / 32u)   // of bits of ranks that are packed
#define LAST_MASK ((1u << PACKED_RANKS % 32u) - 1u)
% endif
#define RANK(v) ${"ranks[v]" if config.renamed else "(v)"}

% if "check" in takes:
// Whether rows hold an edge to their own vertex or one edge twice; neither may be there.
${group.kernel()} orient_check(
${signature.parameters(takes["check"], last=True)}\
{
    <%share:each_item count="n">
        const uint v = item;
        uint loops = 0u, repeats = 0u;
        for (offset_t e = ${row_at.first("v")}; e < ${row_at.behind("v")}; ++e) {
            loops += indices[e] == v;
            repeats += e > ${row_at.first("v")} && indices[e] == indices[e - 1];
        }
        if (loops) atomic_add(&faults[0], loops);
        if (repeats) atomic_add(&faults[1], repeats);
    </%share:each_item>
}
% endif
% if "by_id" in takes:
// By id: rows are in order as they are.
${group.kernel()} orient_by_id(
${signature.parameters(takes["by_id"], last=True)}\
{
    <%share:each_item count="n">
        const offset_t begin = ${row_at.first("item")};
        const uint degree = (uint)(${row_at.behind("item")} - begin);
        begins[item] = begin;
        degrees[item] = degree;
        outs[item] = lower_bound(indices + begin, degree, item);
    </%share:each_item>
}
% endif
% if config.renamed:
${ranks.kernels()}
% if config.tiny:
${tiny_rows.kernel()}
% endif
${short_rows.kernel()}
${long_rows.kernel()}
% endif
% if "spread" in takes:
// The vertex, from `low` on and below `high`, that the edge stored at a place goes out from.
static inline uint vertex_of(
    __global const offset_t *restrict indptr, uint low, uint high, const offset_t place
) {
    ${bisect.last("low", "high", "indptr[middle] <= place")}
    return low;
}

// What was found of each edge, to both places where the graph stores it: each place looks its edge up
// in the row of the greater rank, which is short. A SIMD group takes SPREAD places at a time and finds
// the vertices they are of between those of its first and its last.
${group.kernel()} orient_spread(
${signature.parameters(takes["spread"], last=True)}\
{
    ${lanes.setup()}
    const offset_t m = indptr[n];
    const offset_t units = (offset_t)get_num_groups(0) * GROUP_LANES;
    offset_t place = ((offset_t)get_group_id(0) * GROUP_LANES + LANE_GROUP) * SPREAD;
    for (; place < m; place += units * SPREAD) {
        const offset_t end = min(place + SPREAD, m);
        const uint low = vertex_of(indptr, 0u, n, place), high = vertex_of(indptr, low, n, end - 1u) + 1u;
        for (offset_t e = place + lane_id(); e < end; e += LANES) {
            const uint a = RANK(vertex_of(indptr, low, high, e)), b = RANK(indices[e]);
            const uint u = max(a, b), v = min(a, b);
            const offset_t begin = begins[u];
            spread[e] = found[begin + lower_bound(rows + begin, outs[u], v)];
        }
    }
}
% endif
