## lanes, ptx flavour: inline PTX on 32 lanes, always with the full mask.
##
## Contract      /lanes/lanes.mako
## Needs         compute capability 3.0; match is native from 7.0, reductions from 8.0
## Barriers      none of the work-group
## Local memory  none

<%
    capability = traits.compute_capability or (3, 0)
    steps = (1, 2, 4, 8, 16)
%>\
#define LANES_KERNEL_ATTRIBUTE
#define LANE_PARAMS
#define LANE_ARGS
#define LANE_SETUP

static inline uint lane_id(void) { return (uint)get_local_id(0) & 31u; }

static inline lanemask_t lane_mask_lt(void) {
    uint mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

static inline lanemask_t lane_ballot(int p) {
    uint mask;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(mask) : "r"(p));
    return mask;
}

% for word in ("any", "all"):
static inline int lane_${word}(int p) {
    int result;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.${word}.pred q, p, 0xffffffff; selp.s32 %0, 1, 0, q; }" : "=r"(result) : "r"(p));
    return result;
}

% endfor
<%def name="shuffle(name, how, argument, clamp)">\
static inline uint ${name}(uint x, uint ${argument}) {
    uint y;
    asm volatile("shfl.sync.${how}.b32 %0, %1, %2, ${clamp}, 0xffffffff;" : "=r"(y) : "r"(x), "r"(${argument}));
    return y;
}

</%def>\
${shuffle("lane_shuffle", "idx", "lane", "31")}\
${shuffle("lane_broadcast", "idx", "lane", "31")}\
${shuffle("lane_shuffle_up", "up", "delta", "0")}\
% if capability < (8, 0):
${shuffle("lane_shuffle_xor", "bfly", "step", "31")}\
% endif
static inline ulong lane_shuffle_ulong(ulong x, uint lane) {
    return upsample(lane_shuffle((uint)(x >> 32), lane), lane_shuffle((uint)x, lane));
}

static inline uint lane_scan_inclusive_add(uint x) {
% for step in steps:
    asm volatile("{ .reg .u32 t; .reg .pred q; shfl.sync.up.b32 t|q, %0, ${step}, 0, 0xffffffff; @q add.u32 %0, t, %0; }" : "+r"(x));
% endfor
    return x;
}

static inline uint lane_scan_exclusive_add(uint x) { return lane_scan_inclusive_add(x) - x; }

% for operator, kind, step in (("add", "u32", "x + y"), ("min", "u32", "min(x, y)"), ("max", "u32", "max(x, y)"), ("or", "b32", "x | y")):
static inline uint lane_reduce_${operator}(uint x) {
    uint y;
% if capability >= (8, 0):
    asm volatile("redux.sync.${operator}.${kind} %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
    return y;
% else:
% for distance in steps:
    y = lane_shuffle_xor(x, ${distance}u);
    x = ${step};
% endfor
    return x;
% endif
}

% endfor
// Sums of 32 sixteen-bit halves stay below 2^21, so no carry is lost between the three parts.
static inline ulong lane_reduce_add_ulong(ulong x) {
    const ulong low = lane_reduce_add((uint)x & 0xffffu);
    const ulong middle = lane_reduce_add((uint)x >> 16);
    const ulong high = lane_reduce_add((uint)(x >> 32));
    return low + (middle << 16) + (high << 32);
}

static inline ulong lane_reduce_min_ulong(ulong x) {
    const uint high = lane_reduce_min((uint)(x >> 32));
    const uint low = lane_reduce_min((uint)(x >> 32) == high ? (uint)x : 0xffffffffu);
    return upsample(high, low);
}

static inline lanemask_t lane_match_any(uint x) {
    uint same = 0;
% if capability >= (7, 0):
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(same) : "r"(x));
% else:
    for (uint lane = 0u; lane < 32u; ++lane) {
        same |= (uint)(lane_shuffle(x, lane) == x) << lane;
    }
% endif
    return same;
}

// A ballot for each bit: the instruction above takes longer, the more values there are.
static inline lanemask_t lane_match_low(uint x, uint bits) {
    uint same = 0xffffffffu;
    for (uint bit = 0u; bit < bits; ++bit) {
        asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; vote.sync.ballot.b32 t, p, 0xffffffff; @!p not.b32 t, t; and.b32 %0, %0, t; }" : "+r"(same) : "r"(x), "r"(1u << bit));
    }
    return same;
}

static inline void lane_converge(void) {
    asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}
