## search: find the lane whose range holds a rank, by binary search over an exclusive scan.
##
## In scope      a register per lane with the scan; ranks below the total
## Called by     lane-uniform control flow
## Lanes that own nothing share their rank with the next one; the last of equals is returned, so an
## owner always owns something.

<%def name="owner(name, scan, rank)">
uint ${name} = 0;
for (uint step = LANES / 2; step; step >>= 1) {
    const uint bound = lane_shuffle(${scan}, ${name} + step);
    if (bound <= (${rank})) ${name} += step;
}
</%def>
