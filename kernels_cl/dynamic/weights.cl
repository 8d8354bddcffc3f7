<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
// The least and the largest weight of all rows, their sum, and whether any is not finite.
//
// A SIMD group takes a row. No races: each group of work-items writes what it found to its own place.
${lanes.vocabulary()}
${group.declarations()}
typedef ${weight} weight_t;
typedef ${real} real_t;

${group.kernel()} weights_extent(
    __global const offset_t *restrict indptr,
${rows.lengths()}\
    __global const weight_t *restrict weights,
    const uint n,
    __global weight_t *restrict extents,            // [groups, 2] out: least and largest, 0 at most and at least
    __global real_t *restrict sums)                 // [groups, 2] out: sum of weights; how many are not finite
{
    ${lanes.setup()}
    __local weight_t group_extents[2 * GROUP_SIZE];
    __local real_t group_sums[2 * GROUP_SIZE];
    const uint lid = (uint)get_local_id(0);
    weight_t least = 0, largest = 0;
    real_t sum = 0, odd = 0;
    for (uint v = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP; v < n; v += (uint)get_num_groups(0) * GROUP_LANES) {
        const offset_t end = ${rows.past("v")};
        for (offset_t e = ${rows.begin("v")} + lane_id(); e < end; e += LANES) {
            const weight_t w = weights[e];
            least = min(least, w);
            largest = max(largest, w);
            sum += (real_t)w;
% if real_weights:
            odd += !isfinite(w);
% endif
        }
    }
    group_extents[2u * lid] = least;
    group_extents[2u * lid + 1u] = largest;
    group_sums[2u * lid] = sum;
    group_sums[2u * lid + 1u] = odd;
    group_barrier();
    if (lid == 0u) {
        for (uint i = 1u; i < GROUP_SIZE; ++i) {
            least = min(least, group_extents[2u * i]);
            largest = max(largest, group_extents[2u * i + 1u]);
            sum += group_sums[2u * i];
            odd += group_sums[2u * i + 1u];
        }
        const size_t mine = 2u * get_group_id(0);
        extents[mine] = least;
        extents[mine + 1u] = largest;
        sums[mine] = sum;
        sums[mine + 1u] = odd;
    }
}
