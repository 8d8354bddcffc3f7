## items: share a range of items among all work-items of a plain launch, LANES at a time.
##
## each_tile(count)   body sees `first`, the same on all lanes, a multiple of LANES: its items are
##                    first + lane_id(), as far as below count; the body may use lane collectives
## each_tile_ahead(count)
##                    the same; the body also sees `ahead`, where the next tile of this SIMD group begins,
##                    at count or beyond if there is none: what that needs can be asked for early
## each_shared_tile(count)
##                    the same, but where items are few a SIMD group has no more of them than others:
##                    the body also sees `width`, and only lanes below that have an item
## each_item(count)   body sees `item`; control flow is divergent
## In scope           traits, the lane vocabulary
## Called by          all work-items, in uniform control flow
## Barriers           none
## Choice             one lane is a CPU's thread, whose share is contiguous; lanes stride together

<%def name="each_tile(count)">${tiles(count, caller.body)}</%def>

<%def name="each_tile_ahead(count)">${tiles(count, caller.body, looks_ahead=True)}</%def>

<%def name="tiles(count, body, looks_ahead=False)">
% if traits.lanes == 1:
const ulong items_share = ((ulong)(${count}) + get_global_size(0) - 1) / get_global_size(0);
const ulong items_end = min((get_global_id(0) + 1) * items_share, (ulong)(${count}));
for (ulong first = get_global_id(0) * items_share; first < items_end; ++first) {
% if looks_ahead:
    const ulong ahead = first + 1 < items_end ? first + 1 : (ulong)(${count});
% endif
% else:
for (ulong first = get_global_id(0) - lane_id(); first < (${count}); first += get_global_size(0)) {
% if looks_ahead:
    const ulong ahead = first + get_global_size(0);
% endif
% endif
    ${body()}
}
</%def>

<%def name="each_shared_tile(count)">
% if traits.lanes == 1:
const uint width = 1u;
${tiles(count, caller.body)}
% else:
const uint items_groups = (uint)get_global_size(0) / LANES;
const uint width = min((uint)(((ulong)(${count}) + items_groups - 1u) / items_groups), LANES);
for (ulong first = (get_global_id(0) / LANES) * width; first < (${count}); first += (ulong)items_groups * width) {
    ${caller.body()}
}
% endif
</%def>

<%def name="each_item(count)">
% if traits.lanes == 1:
const ulong items_share = ((ulong)(${count}) + get_global_size(0) - 1) / get_global_size(0);
const uint items_end = (uint)min((get_global_id(0) + 1) * items_share, (ulong)(${count}));
for (uint item = (uint)min(get_global_id(0) * items_share, (ulong)(${count})); item < items_end; ++item) {
% else:
for (uint item = (uint)get_global_id(0); item < (${count}); item += (uint)get_global_size(0)) {
% endif
    ${caller.body()}
}
</%def>
