## lanes, khr flavour: OpenCL 3 sub-groups of a required size.
##
## Contract      /lanes/lanes.mako
## Needs         the sub-group feature with ballot, shuffle and shuffle-relative; the size
##               attribute makes the compiler keep to LANES or fail
## Barriers      none of the work-group
## Local memory  none

#define LANES_KERNEL_ATTRIBUTE __attribute__((intel_reqd_sub_group_size(${traits.lanes})))
#define LANE_PARAMS
#define LANE_ARGS
#define LANE_SETUP

static inline uint lane_id(void) { return get_sub_group_local_id(); }

static inline lanemask_t lane_mask_lt(void) { return ((lanemask_t)1 << lane_id()) - 1; }

static inline lanemask_t lane_ballot(int p) {
    const uint4 words = sub_group_ballot(p != 0);
% if traits.lanes > 32:
    return upsample(words.y, words.x);
% else:
    return words.x;
% endif
}

static inline int lane_any(int p) { return sub_group_any(p != 0) != 0; }

static inline int lane_all(int p) { return sub_group_all(p != 0) != 0; }

static inline uint lane_broadcast(uint x, uint lane) { return sub_group_broadcast(x, lane); }

static inline uint lane_shuffle(uint x, uint lane) { return sub_group_shuffle(x, lane % LANES); }

static inline ulong lane_shuffle_ulong(ulong x, uint lane) {
    return sub_group_shuffle(x, lane % LANES);
}

static inline uint lane_shuffle_up(uint x, uint delta) {
    const uint y = sub_group_shuffle_up(x, delta);
    return lane_id() < delta ? x : y;
}

static inline uint lane_scan_exclusive_add(uint x) { return sub_group_scan_exclusive_add(x); }

static inline uint lane_scan_inclusive_add(uint x) { return sub_group_scan_inclusive_add(x); }

% for operator in ("add", "min", "max"):
static inline uint lane_reduce_${operator}(uint x) { return sub_group_reduce_${operator}(x); }

% endfor
% for operator in ("add", "min"):
static inline ulong lane_reduce_${operator}_ulong(ulong x) {
    return sub_group_reduce_${operator}(x);
}

% endfor
// The base extension reduces with add, min and max only.
static inline uint lane_reduce_or(uint x) {
    for (uint step = 1u; step < LANES; step <<= 1) {
        x |= sub_group_shuffle_xor(x, step);
    }
    return x;
}

static inline lanemask_t lane_match_any(uint x) {
    lanemask_t same = 0;
    for (uint lane = 0u; lane < LANES; ++lane) {
        same |= (lanemask_t)(sub_group_broadcast(x, lane) == x) << lane;
    }
    return same;
}

static inline void lane_converge(void) {
    sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
