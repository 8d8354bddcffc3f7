## lanes, scalar flavour: one work-item is a whole SIMD group, so a loop over lanes is a plain loop.
##
## Contract      /lanes/lanes.mako
## In scope      traits.lanes == 1
## Barriers      none
## Local memory  none

#define LANES_KERNEL_ATTRIBUTE
#define LANE_PARAMS
#define LANE_ARGS
#define LANE_SETUP

static inline uint lane_id(void) { return 0u; }
static inline lanemask_t lane_mask_lt(void) { return 0u; }
static inline lanemask_t lane_ballot(int p) { return p != 0; }
static inline int lane_any(int p) { return p != 0; }
static inline int lane_all(int p) { return p != 0; }
static inline lanemask_t lane_match_any(uint x) { (void)x; return 1u; }
static inline void lane_converge(void) {}

% for word in ("broadcast", "shuffle", "shuffle_up"):
static inline uint lane_${word}(uint x, uint lane) { (void)lane; return x; }
% endfor
static inline ulong lane_shuffle_ulong(ulong x, uint lane) { (void)lane; return x; }

static inline uint lane_scan_exclusive_add(uint x) { (void)x; return 0u; }
static inline uint lane_scan_inclusive_add(uint x) { return x; }
% for operator in ("add", "min", "max", "or"):
static inline uint lane_reduce_${operator}(uint x) { return x; }
% endfor
% for operator in ("add", "min"):
static inline ulong lane_reduce_${operator}_ulong(ulong x) { return x; }
% endfor
