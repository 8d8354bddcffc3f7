## bins: candidates put in order by who is to have them, with few atomics.
##
## Each SIMD group collects candidates in a buffer in local memory, whoever they are for. When it is
## full the lanes number those of each bin by ballots and reserve room in it with one atomic.
##
## setup         among a kernel's first statements
## begin         before the first push of a launch
## push          takes a candidate (/frontier/edges.mako) from the lanes whose flag is set; `end` what is left
## ready         a def that turns the candidate `leaving` into what the bin gets; declares `bin` and `ready`
## In scope      bins; bin_begins [bin_count + 1], whose differences are the bins' capacities; bin_count;
##               state, with the bins' lengths BIN_STRIDE apart from BIN_LENGTHS
## Called by     lane-uniform control flow
## Barriers      none of the work-group
## Local memory  GROUP_LANES * buffer candidates
## Overflow      what does not fit is not written and raises OVERFLOWED

<%namespace name="collected" file="/frontier/collected.mako"/>

<%def name="setup()">
__local candidate_t collected_candidates[${config.group_size // config.lanes * config.buffer}];
</%def>

<%def name="begin()">
__local candidate_t *const collected = collected_candidates + LANE_GROUP * ${config.buffer};
uint collected_here = 0;   // uniform over the lanes
</%def>

<%def name="push(sending, candidate, ready)">
${collected.collect(sending, candidate, "collected", "collected_here", f"{config.buffer - config.lanes}u", lambda: flush(ready))}
</%def>

<%def name="flush(ready)">
{
    for (uint first_collected = 0; first_collected < collected_here; first_collected += LANES) {
        const int waiting = first_collected + lane_id() < collected_here;
        const candidate_t leaving = collected[waiting ? first_collected + lane_id() : first_collected];
        ${ready()}
        lanemask_t left = lane_ballot(waiting);
        while (left) {
            const uint this_bin = lane_shuffle(bin, lanemask_first(left));
            const lanemask_t alike = lane_ballot(waiting && bin == this_bin);
            uint place = 0;
            if (lane_id() == 0) {
                place = bin_begins[this_bin] + atomic_add(state + BIN_LENGTHS + this_bin * BIN_STRIDE, lanemask_count(alike));
                if (place + lanemask_count(alike) > bin_begins[this_bin + 1]) {
                    state[OVERFLOWED] = 1;
                    place = NO_SPACE;
                }
            }
            place = lane_broadcast(place, 0);
            if (waiting && bin == this_bin && place != NO_SPACE)
                bins[place + lanemask_count(alike & lane_mask_lt())] = ready;
            left &= ~alike;
        }
    }
    collected_here = 0;
    lane_converge();
}
</%def>

<%def name="end(ready)">
lane_converge();
${flush(ready)}
</%def>
