## lanes: the SIMD group's vocabulary, in the flavour that traits.lane_ops names.
##
## vocabulary()  at file scope, once: declares every word below
## kernel(group_size)   what stands before the name of an entry point whose work-groups are of that size
## setup()       a kernel's first statement: the scratch that an emulated flavour needs
## add_up(value, total, wide)   adds the lanes' values, which are lost, to a word of 32 bits, or of 64 if `wide`
## In scope      traits (DeviceTraits)
## Called by     every lane of the SIMD group together (lane-uniform control flow); lane_id,
##               lane_mask_lt and the lanemask_ words may be called anywhere
##               Not as most of a small branch, of which a compiler may make a predicate, and a wrong
##               one (tests/offline/collectives.py): give what changes nothing instead
## Barriers      the emulated flavour runs a work-group of exactly LANES work-items and uses
##               barriers; there lane-uniform is group-uniform
## Local memory  8 * LANES bytes in the emulated flavour, otherwise none
## Choice        one sibling file per value of traits.lane_ops
## module        what other templates may ask when they render: `count` of lanes, whether one work-item
##               is a SIMD group of its own (`one_lane`), how many SIMD groups a work-group has
##
## LANES                                     lanes of a SIMD group; a power of two, 1 .. 64
## LANES_KERNEL_ATTRIBUTE                    stands before `void` of every entry point
## LANE_PARAMS, LANE_ARGS                    lead the parameters and the arguments of every helper
##                                           function that calls a word; one more must follow
## LANE_FUNCTION                             stands before every such function: inlined early, since
##                                           late inlining of barriers crashes one compiler
## lanemask_t                                one bit a lane: uint up to 32 lanes, ulong above
## uint lane_id()                            get_local_id(0) % LANES
## lanemask_t lane_mask_lt()                 the lanes below mine
## lanemask_t lane_ballot(int p)             the lanes whose p is not zero
## int lane_any(int p), lane_all(int p)      0 or 1, the same on all lanes
## uint lane_broadcast(uint x, uint lane)    lane's x; lane < LANES and the same on all lanes
## uint lane_shuffle(uint x, uint lane)      lane's x; each lane may name another, modulo LANES
## ulong lane_shuffle_ulong(ulong x, uint lane)
## uint lane_shuffle_up(uint x, uint delta)  x of lane_id() - delta; one's own x where lane_id() < delta
## uint lane_scan_exclusive_add(uint x)      modulo 2^32; also lane_scan_inclusive_add
## uint lane_reduce_add(uint x)              also _min, _max, _or; the same on all lanes
## ulong lane_reduce_add_ulong(ulong x)      also _min_ulong
## lanemask_t lane_match_any(uint x)         the lanes whose x equals mine, mine among them
## lanemask_t lane_match_low(uint x, uint bits)  the same where x has no more than so many bits
## void lane_converge()                      orders the lanes' accesses to local and global memory
## uint lanemask_count(lanemask_t mask)      how many bits are set
## uint lanemask_first(lanemask_t mask)      index of the lowest set bit; mask is not 0
## uint lanemask_last(lanemask_t mask)       index of the highest set bit; mask is not 0

<%!
    def count(context):
        return context["traits"].lanes


    def one_lane(context):
        return count(context) == 1


    def groups_of(context, group_size):
        traits = context["traits"]
        if group_size % traits.lanes or (traits.emulated and group_size != traits.lanes):
            raise ValueError(f"a work-group of {group_size} does not fit {traits.lanes} {traits.lane_ops} lanes")
        return group_size // traits.lanes
%>
<%def name="vocabulary()">\
#define LANES ${traits.lanes}u
% if traits.lanes > 32:
typedef ulong lanemask_t;
% else:
typedef uint lanemask_t;
% endif
#define LANE_FUNCTION static inline __attribute__((always_inline))
#define ALL_LANES ((lanemask_t)${hex((1 << traits.lanes) - 1)}ul)

% if traits.lanes == 1:
#if defined(__x86_64__) || defined(__aarch64__)
#define lanemask_ones __builtin_popcount    // PoCL calls a function for popcount(), see /rows/ones.mako
#else
#define lanemask_ones popcount
#endif
% endif
<% ones = "lanemask_ones" if traits.lanes == 1 else "popcount" %>\
static inline uint lanemask_count(lanemask_t mask) {
    return (uint)${ones}(mask);
}

static inline uint lanemask_first(lanemask_t mask) {
    return (uint)${ones}(~mask & (mask - 1));
}

static inline uint lanemask_last(lanemask_t mask) {
    return 8u * (uint)sizeof(lanemask_t) - 1u - (uint)clz(mask);
}

<%include file="${'/lanes/' + traits.lane_ops + '.mako'}"/>\
% if traits.lane_ops != "ptx":
#define lane_match_low(x, bits) lane_match_any(x)
% endif
</%def>

<%def name="kernel(group_size)">__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${group_size}, 1, 1))) void</%def>

<%def name="add_up(value, total, wide=False)">\
lane_converge();
    ${value} = lane_reduce_add${"_ulong" if wide else ""}(${value});
    if (lane_id() == 0u && ${value}) ${"atom" if wide else "atomic"}_add(${total}, ${value});
</%def>

<%def name="setup()">\
LANE_SETUP
</%def>
