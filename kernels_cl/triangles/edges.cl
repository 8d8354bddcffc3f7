<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
// Triangles x < v < u, by rank, each at its edge from u to v: the rows of both are intersected.
//
// Edges wait in bins by the sum of their rows' lengths; as many work-items share an intersection as
// its bin has. With a cover, only edges between two vertices of it are intersected, by whole rows of
// the graph itself: O. Green, D. Bader, "Faster clustering coefficient using vertex covers", 2013.
//
// Races: none that shows. Bins fill in any order, and sums are integers.

${group.words()}

#define BINS ${len(config.bins)}u
#define VERTEX(r) ${"vertices[r]" if config.renamed else "(r)"}
% if config.counts:
#define INTERSECT_STEP() ++steps
% else:
#define INTERSECT_STEP()
% endif
${intersect.functions()}
% if config.per == "vertex":
${sums.declarations(config.sum_bits)}\
% endif

static inline uint bin_of(const ulong work) {
    uint bin = 0u;
% for least in config.bins[1:]:
    bin += work >= ${least}ul;
% endfor
    return bin;
}

% if config.cover:
// A vertex is in the cover unless all its neighbours come after it, in an order that a hash draws:
// such vertices are no neighbours of each other, so each edge has an end in the cover.
static inline ulong drawn(const uint v) {
    return (ulong)((v + 0x9e3779b9u) * 0x85ebca6bu ^ v >> 16) << 32 | v;
}

${group.kernel()} triangles_cover(
${signature.parameters(covering, last=True)}\
{
    <%share:each_item count="n">
        uchar in_it = 0;
        for (offset_t e = indptr[item]; e < indptr[item + 1] && !in_it; ++e)
            in_it = drawn(indices[e]) < drawn(item);
        cover[item] = in_it;
    </%share:each_item>
}
% endif

// The edges of every bin: counted, or put in their places where `places` says where bins begin.
${group.kernel()} triangles_bin(
${signature.parameters(binning, last=True)}\
{
    ${lanes.setup()}
    const uint units = (uint)get_num_groups(0) * GROUP_LANES;
    for (uint u = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP; u < n; u += units) {
        const offset_t row = begins[u];
        const uint length = outs[u];
        for (uint base = 0u; base < length; base += LANES) {
            const uint k = base + lane_id();
            uint bin = BINS;
            if (k < length) {
                const uint v = rows[row + k];
% if config.cover:
                if (cover[u] && cover[v]) bin = bin_of((ulong)degrees[u] + degrees[v]);
% else:
                const uint length_v = outs[v];
                bin = k && length_v ? bin_of((ulong)k + length_v) : 0u;     // else there is no work
% endif
            }
            for (uint b = 0u; b < BINS; ++b) {
                const lanemask_t here = lane_ballot(bin == b);
                ulong place = 0ul;
                if (here && lane_id() == 0u) place = atom_add(&cursors[b], (ulong)lanemask_count(here));
                place = lane_shuffle_ulong(place, 0u);
                if (put && bin == b) edges[place + lanemask_count(here & lane_mask_lt())] = (uint2)(u, k);
            }
        }
    }
}

% for parts in config.parts:
${group.kernel()} triangles_edges_${parts}(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    ulong total = 0ul;
    const ulong work = count * ${parts}ul;
% if config.counts:
    uint most = 0u;
% endif
    for (ulong at = get_global_id(0); at < work; at += get_global_size(0)) {
        const uint2 edge = edges[from + at / ${parts}u];
        const uint part = (uint)(at % ${parts}u);
        const uint u = edge.x;
        const offset_t row_u = begins[u];
        const uint v = rows[row_u + edge.y];
        const offset_t row_v = begins[v];
        __global const uint *const a = rows + row_u, *const b = rows + row_v;
% if config.cover:
        const uint na = degrees[u], nb = degrees[v];
% else:
        const uint na = edge.y, nb = outs[v];   // what comes before v in the row of u
% endif
% if config.counts:
        uint steps = 0u;
% endif
        uint both = 0u;
        <%intersect:each_match way="${config.way}" a="a" b="b" na="na" nb="nb" part="part" parts="${str(parts) + 'u'}" args="i, j">
            const uint x = a[${i}];
% if config.cover:
            if (!cover[x] || x < v) {           // of three in the cover, at the edge of the greater two
% else:
            {
% endif
            ++both;
% if config.per == "vertex":
            SUM_ADD(found, x, 1u);
% elif config.per == "edge":
            atomic_inc(&found[row_u + ${i}]);
            atomic_inc(&found[row_v + ${j}]);
% elif config.per == "list":
            const uint slot = atomic_inc(cursor);
            if (slot < room) vstore3((uint3)(VERTEX(x), VERTEX(v), VERTEX(u)), slot, found);
% endif
            }
        </%intersect:each_match>
        total += both;
% if config.per == "vertex":
        if (both) SUM_ADD(found, u, both);
        if (both) SUM_ADD(found, v, both);
% elif config.per == "edge":
        if (both) atomic_add(&found[row_u + edge.y], both);
% endif
% if config.counts:
        most = max(most, steps);
% endif
    }
% if config.counts:
    atomic_max(longest, most);
% endif
    lane_converge();
    total = lane_reduce_add_ulong(total);
    if (lane_id() == 0u) partial[(uint)get_group_id(0) * GROUP_LANES + LANE_GROUP] += total;
}
% endfor
