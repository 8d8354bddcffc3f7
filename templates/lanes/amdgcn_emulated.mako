## amdgcn_emulated: the builtins of the amdgcn flavour, played by the lanes of the local flavour.
##
## In scope      traits.lanes, 32 or 64
## Called by     all work-items of the work-group, which has exactly LANES of them
## Barriers      those of the local flavour
## Local memory  that of the local flavour
## Each does what the instruction set says of the instruction behind it, for waves without inactive
## lanes; what is not listed in /lanes/amdgcn.mako is not here.

#define LANES_KERNEL_ATTRIBUTE
#define LANE_PARAMS __local ulong *lane_scratch,
#define LANE_ARGS lane_scratch,
#define LANE_SETUP __local ulong lane_scratch[LANES];

LANE_FUNCTION uint played_read(LANE_PARAMS uint x, uint lane) {
    lane_scratch[get_local_id(0)] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint y = (uint)lane_scratch[lane % LANES];
    barrier(CLK_LOCAL_MEM_FENCE);
    return y;
}

LANE_FUNCTION lanemask_t played_ballot(LANE_PARAMS int p) {
    lane_scratch[get_local_id(0)] = p != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    lanemask_t mask = 0;
    for (uint lane = 0; lane < LANES; ++lane) mask |= (lanemask_t)lane_scratch[lane] << lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    return mask;
}

// A lane takes the value of the one that `control` names; `old` where that is beyond its row, or where
// its row of 16 lanes or bank of 4 is masked out.
LANE_FUNCTION int played_dpp(LANE_PARAMS int old, int x, uint control, uint rows, uint banks) {
    const uint lane = (uint)get_local_id(0), row = lane / 16u, place = lane % 16u;
    uint from = LANES;
    if (control < 0x100u) from = lane / 4u * 4u + (control >> (2u * (lane % 4u)) & 3u);
    else if (control > 0x110u && control < 0x120u) from = place >= control % 16u ? lane - control % 16u : LANES;
    else if (control == 0x142u) from = row > 0u ? row * 16u - 1u : LANES;
    else if (control == 0x143u) from = row > 1u ? 31u : LANES;
    else if (control >= 0x160u && control < 0x170u) from = lane ^ control % 16u;
    const int y = (int)played_read(LANE_ARGS (uint)x, from);
    const int takes = from < LANES && (rows >> row & 1u) && (banks >> place / 4u & 1u);
    return takes ? y : old;
}

// A lane takes a value of the other row of its pair, of the lane that its digit of `picks` names.
LANE_FUNCTION int played_permlanex16(LANE_PARAMS int x, uint low_picks, uint high_picks) {
    const uint lane = (uint)get_local_id(0), place = lane % 16u;
    const uint pick = (place < 8u ? low_picks : high_picks) >> (4u * (place % 8u)) & 15u;
    return (int)played_read(LANE_ARGS (uint)x, ((lane / 16u) ^ 1u) * 16u + pick);
}

#define __builtin_amdgcn_ballot_w${traits.lanes}(p) played_ballot(LANE_ARGS (p))
#define __builtin_amdgcn_readlane(x, lane) ((int)played_read(LANE_ARGS (uint)(x), (uint)(lane)))
#define __builtin_amdgcn_readfirstlane(x) ((int)played_read(LANE_ARGS (uint)(x), 0u))
#define __builtin_amdgcn_ds_bpermute(address, x) ((int)played_read(LANE_ARGS (uint)(x), (uint)(address) / 4u))
#define __builtin_amdgcn_update_dpp(old, x, control, rows, banks, bound) played_dpp(LANE_ARGS (old), (x), (control), (rows), (banks))
#define __builtin_amdgcn_permlanex16(old, x, low, high, fetch, bound) played_permlanex16(LANE_ARGS (x), (uint)(low), (uint)(high))
#define __builtin_amdgcn_fence(order, scope) mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define lane_converge() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
