## blocks: a lane's places in a block of a row, with which an array of the lane's own goes along.
##
## each_place(begin, end, size)   body sees `i`, 0 .. size / LANES - 1, and `t`, a place below `end`: begin is
##                                the lane's first, and the others follow a SIMD group apart
## In scope       the lane vocabulary
## Called by      each lane, in any control flow
## Barriers       none
## Local memory   none
## Choice         beyond the end, lanes see the last place again: all of them take as many steps, whose
##                number is known. One lane stops there, so that its steps can become SIMD code

<%namespace name="lanes" file="/lanes/lanes.mako"/>

<%def name="each_place(begin, end, size)">
% if lanes.module.one_lane(context):
const uint places_here = ${end} - ${begin} < ${size} ? ${end} - ${begin} : ${size};
for (uint i = 0u; i < places_here; ++i) {
    const uint t = ${begin} + i;
% else:
for (uint i = 0u; i < ${size} / LANES; ++i) {
    const uint t = min(${begin} + i * LANES, ${end} - 1u);
% endif
    ${caller.body()}
}
</%def>
