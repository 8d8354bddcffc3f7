<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
// Who has which item of a shared range, and of how many.
${lanes.vocabulary()}

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void check_shared_tiles(
    const uint count,
    __global uint *visits,                      // [count] in/out
    __global uint *widths,                      // [count] out
    __global uint *owners)                      // [count] out: SIMD groups
{
    ${lanes.setup()}
    <%share:each_shared_tile count="count">
        const uint item = (uint)first + lane_id();
        if (lane_id() < width && item < count) {
            visits[item] += 1u;
            widths[item] = width;
            owners[item] = (uint)get_global_id(0) / LANES;
        }
    </%share:each_shared_tile>
}
