## list: append entries to a list in device memory with few atomics.
##
## setup(type, group_size)      a kernel's statement at its top, after lanes.setup()
## push(mine, entry, list, length, capacity)
##               lanes whose `mine` is not zero append `entry`; `length` points to a word that counts all
## finish(list, length, capacity)
##               once after the last push
## In scope      the lane vocabulary
## Called by     lane-uniform control flow
## Barriers      none of the work-group's
## Local memory  LIST_BUFFER entries per SIMD group
## Overflow      what is beyond the capacity is counted, and not written: whoever reads the list takes
##               no more than the capacity, and the host looks at the count
## Choice        several entries a lane are collected, so that one atomic reserves a place for all of
##               them; where a work-item is a SIMD group of its own, 64

<%namespace name="lanes" file="/lanes/lanes.mako"/>

<%def name="setup(type, group_size)">\
<%
    count = lanes.module.count(context)
    size = 4 * count if count > 1 else 64
%>\
#define LIST_BUFFER ${size}u
    __local ${type} list_buffers[${size * lanes.module.groups_of(context, group_size)}];
    __local ${type} *const list_buffer = list_buffers + (uint)get_local_id(0) / LANES * LIST_BUFFER;
    uint list_held = 0u;
</%def>

<%def name="push(mine, entry, list, length, capacity)">
{
    const int list_mine = ${mine};
    const lanemask_t list_pushing = lane_ballot(list_mine);
    if (list_pushing) {
        if (list_mine) list_buffer[list_held + lanemask_count(list_pushing & lane_mask_lt())] = ${entry};
        list_held += lanemask_count(list_pushing);
        if (list_held > LIST_BUFFER - LANES) {
            ${finish(list, length, capacity)}
        }
    }
}
</%def>

<%def name="finish(list, length, capacity)">
if (list_held) {
    lane_converge();
    uint list_base = 0u;
    if (lane_id() == 0u) list_base = atomic_add(${length}, list_held);
    list_base = lane_broadcast(list_base, 0u);
    for (uint list_at = lane_id(); list_at < list_held; list_at += LANES)
        if (list_base + list_at < (${capacity})) ${list}[list_base + list_at] = list_buffer[list_at];
    list_held = 0u;
    lane_converge();
}
</%def>
