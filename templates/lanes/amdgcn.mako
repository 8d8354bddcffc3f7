## lanes, amdgcn flavour: the compiler's own words for waves of 64 (GCN, CDNA) and of 32 (RDNA).
##
## Contract      /lanes/lanes.mako
## Needs         data-parallel moves between lanes: generation 8 or 9 with 64 lanes, 10 or later with
##               32 (there ds_bpermute reaches only half of a wave of 64, which is never asked for)
## Barriers      none of the work-group; where traits.emulated, those of the emulated lanes
## Local memory  none; where traits.emulated, that of the emulated lanes
## Emulation     /lanes/amdgcn_emulated.mako defines the builtins that are used here, all of them, so
##               that any device can execute this file

<%
    lanes = traits.lanes
    # Moves within rows of 16 lanes, and how the rows are put together; numbers of the instruction set.
    shift_right = {step: hex(0x110 + step) for step in (1, 2, 4, 8)}
    exchange = {step: hex(0x160 + step) for step in (1, 2, 4, 8)}
    last_of_row, last_of_half = "0x142", "0x143"
%>\
% if traits.emulated:
<%include file="/lanes/amdgcn_emulated.mako"/>\
% else:
#define LANES_KERNEL_ATTRIBUTE
#define LANE_PARAMS
#define LANE_ARGS
#define LANE_SETUP
#if defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ != ${lanes}
#error "the driver announced waves of ${lanes} and compiles for others"
#endif
% endif

static inline uint lane_id(void) { return (uint)get_local_id(0) % LANES; }

static inline lanemask_t lane_mask_lt(void) { return ((lanemask_t)1 << lane_id()) - 1; }

<%def name="word(result, name, parameter)">\
#define lane_${name}(x) wave_${name}(LANE_ARGS (x))
LANE_FUNCTION ${result} wave_${name}(LANE_PARAMS ${parameter} x) {
    ${caller.body()}\
}

</%def>\
<%def name="word_of_lane(result, name, last)">\
#define lane_${name}(x, ${last}) wave_${name}(LANE_ARGS (x), (${last}))
LANE_FUNCTION ${result} wave_${name}(LANE_PARAMS ${result} x, uint ${last}) {
    ${caller.body()}\
}

</%def>\
<%self:word result="lanemask_t" name="ballot" parameter="int">\
return __builtin_amdgcn_ballot_w${lanes}(x != 0);
</%self:word>\
<%self:word result="int" name="any" parameter="int">\
return lane_ballot(x) != 0;
</%self:word>\
<%self:word result="int" name="all" parameter="int">\
return lane_ballot(x) == ALL_LANES;
</%self:word>\
<%self:word_of_lane result="uint" name="broadcast" last="lane">\
return (uint)__builtin_amdgcn_readlane((int)x, (int)lane);
</%self:word_of_lane>\
<%self:word_of_lane result="uint" name="shuffle" last="lane">\
return (uint)__builtin_amdgcn_ds_bpermute((int)(lane % LANES * 4u), (int)x);
</%self:word_of_lane>\
<%self:word_of_lane result="ulong" name="shuffle_ulong" last="lane">\
return upsample(lane_shuffle((uint)(x >> 32), lane), lane_shuffle((uint)x, lane));
</%self:word_of_lane>\
<%self:word_of_lane result="uint" name="shuffle_up" last="delta">\
return lane_shuffle(x, lane_id() < delta ? lane_id() : lane_id() - delta);
</%self:word_of_lane>\
<%def name="moved(identity, control, rows='0xf')">\
(uint)__builtin_amdgcn_update_dpp((int)${identity}, (int)x, ${control}, ${rows}, 0xf, false)\
</%def>\
## Every lane combines what its row has below it, then what the rows below have.
<%def name="scan(identity, step)">\
    uint y;
% for control in shift_right.values():
    y = ${moved(identity, control)};
    x = ${step};
% endfor
% if lanes == 64:
    y = ${moved(identity, last_of_row, "0xa")};
    x = ${step};
    y = ${moved(identity, last_of_half, "0xc")};
    x = ${step};
% else:
    y = (uint)__builtin_amdgcn_permlanex16((int)x, (int)x, -1, -1, false, false);
    y = lane_id() < 16u ? ${identity} : y;
    x = ${step};
% endif
</%def>\
## What a whole wave combines to, where it is uniform for the compiler too.
<%def name="reduction(identity, step)">\
% if lanes == 64:
${scan(identity, step)}\
    return (uint)__builtin_amdgcn_readlane((int)x, 63);
% else:
    uint y;
% for control in exchange.values():
    y = ${moved(identity, control)};
    x = ${step};
% endfor
    y = (uint)__builtin_amdgcn_permlanex16((int)x, (int)x, 0x76543210, (int)0xfedcba98, false, false);
    x = ${step};
    return (uint)__builtin_amdgcn_readfirstlane((int)x);
% endif
</%def>\
<%self:word result="uint" name="scan_inclusive_add" parameter="uint">\

${scan("0u", "x + y")}\
    return x;
</%self:word>\
<%self:word result="uint" name="scan_exclusive_add" parameter="uint">\
return lane_scan_inclusive_add(x) - x;
</%self:word>\
% for operator, identity, step in (("add", "0u", "x + y"), ("min", "0xffffffffu", "min(x, y)"), ("max", "0u", "max(x, y)"), ("or", "0u", "x | y")):
<%self:word result="uint" name="reduce_${operator}" parameter="uint">\

${reduction(identity, step)}\
</%self:word>\
% endfor
// Sums of 64 sixteen-bit halves stay below 2^22, so no carry is lost between the three parts.
<%self:word result="ulong" name="reduce_add_ulong" parameter="ulong">\
const ulong low = lane_reduce_add((uint)x & 0xffffu);
    const ulong middle = lane_reduce_add((uint)x >> 16);
    const ulong high = lane_reduce_add((uint)(x >> 32));
    return low + (middle << 16) + (high << 32);
</%self:word>\
<%self:word result="ulong" name="reduce_min_ulong" parameter="ulong">\
const uint high = lane_reduce_min((uint)(x >> 32));
    const uint low = lane_reduce_min((uint)(x >> 32) == high ? (uint)x : 0xffffffffu);
    return upsample(high, low);
</%self:word>\
// One turn for each value that lanes have, in uniform control flow.
<%self:word result="lanemask_t" name="match_any" parameter="uint">\
lanemask_t same = 0, left = ALL_LANES;
    while (left) {
        const uint value = lane_broadcast(x, lanemask_first(left));
        const lanemask_t alike = lane_ballot(x == value);
        same = x == value ? alike : same;
        left &= ~alike;
    }
    return same;
</%self:word>\
% if not traits.emulated:
// A wave's accesses are performed in order; only the compiler has to be kept from moving them.
static inline void lane_converge(void) {
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}
% endif
