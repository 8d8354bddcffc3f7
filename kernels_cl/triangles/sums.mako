## sums: counts of vertices, of 32 bits, or of 64 where those may not hold them.
##
## declarations(bits)       at file scope
## SUM_ADD(sums, v, x)      adds x to the count of v
## leave()                  at the end of a kernel that counts: `total` of all lanes
## owner()                  in a loop that claims owners of triangles
##
## Race                     additions commute

<%def name="declarations(bits)">\
% if bits == 64:
#define SUM_ADD(sums, v, x) atom_add(&(sums)[v], (ulong)(x))
% else:
#define SUM_ADD(sums, v, x) atomic_add(&(sums)[v], (x))
% endif
</%def>

## What a SIMD group has found in all: a place of its own in `partial`, begun `anew` or added to.
<%def name="leave()">\
lane_converge();
    total = lane_reduce_add_ulong(total);
    const uint sum = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    if (lane_id() == 0u) partial[sum] = total + (anew ? 0ul : partial[sum]);
</%def>

## Of a claimed item its owner v, the length of its row, and which part of the rest is this one's: hubs
## are in several pieces. Goes on where there is nothing to do.
<%def name="owner()">
const int hub = item < hubs * pieces;
const uint v = first + (hub ? item / pieces : item - hubs * (pieces - 1u));
const uint piece = hub ? item % pieces : 0u, of = hub ? pieces : 1u;
const uint length = outs[v], above = degrees[v] - length;
const uint from = (uint)((ulong)above * piece / of), to = (uint)((ulong)above * (piece + 1u) / of);
if (length == 0u || from == to) continue;
</%def>
