## collected: a SIMD group's buffer of what it finds, and room for it elsewhere with one atomic.
##
## collect(wanted, entry, buffer, held, limit, empty)   lanes whose `wanted` is not zero put `entry` into
##               `buffer`, of which `held`, uniform over the lanes, are taken; beyond `limit` the def `empty`
##               empties it
## append(wanted, entry, target, reserve)   as `collect`, at once to where a def (count, base) reserves room
## move(buffer, held, target, reserve)   all of the buffer goes to where a def (count, base) reserves room
## room(base, count, reserve, also)   declares `base`: what the first lane reserves, if `also` holds, for all
## counted(count, base, counter, capacity)   such a reservation, on a counter that checks for OVERFLOWED
## In scope      the lane vocabulary; NO_SPACE; state, for `counted`
## Called by     lane-uniform control flow; counted by one lane
## Barriers      none of the work-group's
## Local memory  the caller's

<%def name="collect(wanted, entry, buffer, held, limit, empty)">
{
    const lanemask_t collecting = lane_ballot(${wanted});
    if (collecting) {
        if (${wanted}) ${buffer}[${held} + lanemask_count(collecting & lane_mask_lt())] = ${entry};
        ${held} += lanemask_count(collecting);
        if (${held} > ${limit}) {
            lane_converge();
            ${empty()}
        }
    }
}
</%def>

<%def name="append(wanted, entry, target, reserve)">
{
    const lanemask_t pushing = lane_ballot(${wanted});
    if (pushing) {
        ${room("base", "lanemask_count(pushing)", reserve)}
        if (${wanted} && base != NO_SPACE) ${target}[base + lanemask_count(pushing & lane_mask_lt())] = ${entry};
    }
}
</%def>

<%def name="move(buffer, held, target, reserve)">
{
    ${room("base", held, reserve)}
    if (base != NO_SPACE)
        for (uint i = lane_id(); i < ${held}; i += LANES) ${target}[base + i] = ${buffer}[i];
    ${held} = 0;
    lane_converge();
}
</%def>

<%def name="room(base, count, reserve, also='')">
uint ${base} = 0;
if (lane_id() == 0${also}) {
    ${reserve(count, "reserved")}
    ${base} = reserved;
}
${base} = lane_broadcast(${base}, 0);
</%def>

<%def name="counted(count, base, counter, capacity)">
uint ${base} = atomic_add(${counter}, ${count});
if (${base} + (${count}) > ${capacity}) {
    state[OVERFLOWED] = 1;
    ${base} = NO_SPACE;
}
</%def>
