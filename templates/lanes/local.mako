## lanes, local flavour: a work-group of LANES work-items plays one SIMD group, for tests.
##
## Contract      /lanes/lanes.mako
## Called by     all work-items of the work-group, which has exactly LANES of them
## Barriers      two in every collective: values are posted, read, and only then posted anew
## Local memory  lane_scratch, one ulong a lane

#define LANES_KERNEL_ATTRIBUTE
#define LANE_PARAMS __local ulong *lane_scratch,
#define LANE_ARGS lane_scratch,
#define LANE_SETUP __local ulong lane_scratch[LANES];

static inline uint lane_id(void) { return (uint)get_local_id(0); }

static inline lanemask_t lane_mask_lt(void) { return ((lanemask_t)1 << lane_id()) - 1; }

LANE_FUNCTION ulong lane_emulated_shuffle(LANE_PARAMS ulong x, uint lane) {
    lane_scratch[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong y = lane_scratch[lane % LANES];
    barrier(CLK_LOCAL_MEM_FENCE);
    return y;
}

LANE_FUNCTION uint lane_emulated_shuffle_up(LANE_PARAMS uint x, uint delta) {
    return (uint)lane_emulated_shuffle(LANE_ARGS x, lane_id() < delta ? lane_id() : lane_id() - delta);
}

<%def name="fold(name, result, value, first, last, start, step)">\
LANE_FUNCTION ${result} lane_emulated_${name}(LANE_PARAMS ${value} x) {
    lane_scratch[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    ${result} y = ${start};
    for (uint lane = ${first}; lane < ${last}; ++lane) {
        const ${value} other = (${value})lane_scratch[lane];
        y = ${step};
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return y;
}
#define lane_${name}(x) lane_emulated_${name}(LANE_ARGS (x))

</%def>\
${fold("ballot", "lanemask_t", "int", "0u", "LANES", "0u", "y | ((lanemask_t)(other != 0) << lane)")}\
${fold("any", "int", "int", "0u", "LANES", "0", "y | (other != 0)")}\
${fold("all", "int", "int", "0u", "LANES", "1", "y & (other != 0)")}\
${fold("match_any", "lanemask_t", "uint", "0u", "LANES", "0u", "y | ((lanemask_t)(other == x) << lane)")}\
${fold("scan_exclusive_add", "uint", "uint", "0u", "lane_id()", "0u", "y + other")}\
${fold("scan_inclusive_add", "uint", "uint", "0u", "lane_id()", "x", "y + other")}\
${fold("reduce_add", "uint", "uint", "0u", "LANES", "0u", "y + other")}\
${fold("reduce_min", "uint", "uint", "0u", "LANES", "x", "min(y, other)")}\
${fold("reduce_max", "uint", "uint", "0u", "LANES", "x", "max(y, other)")}\
${fold("reduce_or", "uint", "uint", "0u", "LANES", "0u", "y | other")}\
${fold("reduce_add_ulong", "ulong", "ulong", "0u", "LANES", "0u", "y + other")}\
${fold("reduce_min_ulong", "ulong", "ulong", "0u", "LANES", "x", "min(y, other)")}\
#define lane_broadcast(x, lane) ((uint)lane_emulated_shuffle(LANE_ARGS (x), (lane)))
#define lane_shuffle(x, lane) ((uint)lane_emulated_shuffle(LANE_ARGS (x), (lane)))
#define lane_shuffle_ulong(x, lane) lane_emulated_shuffle(LANE_ARGS (x), (lane))
#define lane_shuffle_up(x, delta) lane_emulated_shuffle_up(LANE_ARGS (x), (delta))
#define lane_converge() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
