<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="ranks" file="/triangles/ranks.mako"/>
// Bounds of truss numbers that are tighter than supports: in a k-truss an edge is in k - 2 triangles whose
// other edges are in so many as well. So the bound of an edge, as a number of triangles, is at most the
// greatest t that t of its triangles have of the lesser bound of their other two edges.
//
// Race: others' bounds are read while they fall. Whatever was read bounds its edge, so that what follows
// from it does; only how tight bounds become in so many rounds differs from run to run.

${group.words()}
${ranks.bucket()}

<%! HELD = 4 %>\
#define BUCKETS ${BUCKETS}u

// Supports to begin with, and no bound counted yet.
${group.kernel()} tighten_begin(
    __global const uint *restrict supports,     // [edges]
    const uint edges,
    __global uint *restrict bounds,             // [edges] out
    __global uint *restrict buckets)            // [BUCKETS] out
{
    ${lanes.setup()}
    <%share:each_item count="edges">
        bounds[item] = supports[item];
    </%share:each_item>
    for (uint b = (uint)get_global_id(0); b < BUCKETS; b += (uint)get_global_size(0)) buckets[b] = 0u;
}

// Bounds of at least `least` fall, those of others stay; and how many there are of each bucket then.
${group.kernel()} tighten_bounds(
    __global const uint *restrict lists,        // [edges + 1]
    __global const uint2 *restrict sides,       // [lists[edges]] the other two edges of each triangle
    const uint edges,
    const uint least,
    volatile __global uint *bounds,             // [edges] in/out
    __global uint *buckets)                     // [BUCKETS] in/out
{
    ${lanes.setup()}
    // Edges that lie side by side are alike: a SIMD group takes one of each part of them.
    const uint stride = (edges + LANES - 1u) / LANES;
    const uint units = (uint)get_num_groups(0) * GROUP_LANES, unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    for (uint round = 0u; round <= ${rounds}u; ++round)
        for (uint part = unit; part < stride; part += units) {
            const uint mine = lane_id() * stride + part;
            const uint my_bound = mine < edges ? load_relaxed(bounds + mine) : 0u;
            if (round == ${rounds}u) {
                if (my_bound >= least) atomic_inc(&buckets[bucket_of(my_bound)]);
                continue;
            }
            for (lanemask_t asking = lane_ballot(my_bound >= least); asking; asking &= asking - 1u) {
                const uint lane = lanemask_first(asking), e = lane * stride + part;
                const uint bound = lane_shuffle(my_bound, lane), begin = lists[e], length = lists[e + 1u] - begin;
                ${others("0u", range(HELD))}
                uint low = 0u, high = min(bound, length);
                // It most often stays what it is.
                for (uint t = high; low < high; t = (low + high + 1u) / 2u) {
                    uint found = 0u;
                    % for k in range(HELD):
                    found += lanemask_count(lane_ballot(other${k} >= t));
                    % endfor
                    for (uint first = ${HELD}u * LANES; first < length && found < t; first += LANES) {
                        ${others("first", ["_more"])}
                        found += lanemask_count(lane_ballot(other_more >= t));
                    }
                    if (found >= t) low = t;
                    else high = t - 1u;
                }
                if (low < bound && lane_id() == lane) store_relaxed(bounds + e, low);
            }
        }
}

## Declares the lesser bound of the other two edges of as many triangles, LANES at a time; 0 beyond the last.
<%def name="others(first, names)">
% for i, k in enumerate(names):
uint other${k} = 0u;
if (${first} + ${i}u * LANES + lane_id() < length) {
    const uint2 both = sides[begin + ${first} + ${i}u * LANES + lane_id()];
    other${k} = min(load_relaxed(bounds + both.x), load_relaxed(bounds + both.y));
}
% endfor
</%def>
