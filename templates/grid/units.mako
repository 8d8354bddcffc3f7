## units: a work-group or a SIMD group whose work-items do one thing after another together.
##
## declarations(unit)    at file scope, after lanes.vocabulary() and group.declarations(); `unit` is
##                       "group" or "lanes"
## In scope              traits, the lane vocabulary, GROUP_SIZE
## Called by             all work-items of a unit, in control flow that is uniform for it
## Barriers              those of its words; with "group" they are the work-group's
## Local memory          none; unit_claim takes a word of the caller's
##
## UNITS                 units of a work-group
## UNIT, UNIT_ITEM       which of them this is, and which of its work-items
## UNIT_ITEMS            work-items of a unit
## unit_barrier()        orders the unit's accesses to local and global memory
## uint unit_claim(__local uint *word, __global uint *next, uint count)
##                       the first of `count` numbers that no other unit gets; `word` is the unit's

<%def name="declarations(unit)">\
% if unit == "group":
#define UNITS 1u
#define UNIT 0u
#define UNIT_ITEMS GROUP_SIZE
#define UNIT_ITEM ((uint)get_local_id(0))
#define unit_barrier() group_barrier_global()
% else:
#define UNITS (GROUP_SIZE / LANES)
#define UNIT ((uint)get_local_id(0) / LANES)
#define UNIT_ITEMS LANES
#define UNIT_ITEM lane_id()
#define unit_barrier() lane_converge()
% endif
#define unit_claim(word, next, count) unit_claim_in(LANE_ARGS (word), (next), (count))

LANE_FUNCTION uint unit_claim_in(LANE_PARAMS __local uint *word, __global uint *next, const uint count) {
% if unit == "group":
    group_barrier();
    if (UNIT_ITEM == 0u) *word = atomic_add(next, count);
    group_barrier();
    return *word;
% else:
    uint first = 0u;
    (void)word;
    if (UNIT_ITEM == 0u) first = atomic_add(next, count);
    return lane_broadcast(first, 0u);
% endif
}
</%def>
