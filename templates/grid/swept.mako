## swept: what an array combines to, in one launch. A work-group takes the next tile, says what its elements
## combine to, and looks back at what the tiles before it have said.
##
## words(type)      at file scope: how a tile says a value of a type
## parameters()     a kernel's arguments for the rest
## take(tile)       `lid`, and in `number` which tile of so many elements is the work-group's
## hand             declares `prefix`, what all tiles before this one combine to; `all` is what this one does,
##                  and where `whole` is not zero, nothing before counts for tiles behind
## In scope         the group vocabulary with the operator `name` declared on `type`, the memory vocabulary;
##                  state_head, words in front of those of the tiles
## Called by        all work-items, in uniform control flow, by one work-group for each tile
## Barriers         take: two; hand: one
## Local memory     hand: an element
##
## `load` is what element i of an earlier tile counts, `head`, if given, whether all before it counts no more:
## the tile is said as if it were all there is before its end. A word of `state` has the number of its launch
## beside the value, so that nothing needs to be cleared between launches, and two such words are a value of
## 64 bits, known once they agree. In front of them is how many tiles were ever taken.
## The first SIMD group looks back, `looks` tiles a lane at once: on an H200 one is the fastest, since what is
## read takes registers, and so groups that are resident. It waits for a tile a limited number of polls and
## then combines its elements itself, so the launch ends on every device. Those may be overwritten once the
## tile has said what they were, if `in_place` holds: then what it said is found afterwards. A group that is
## between the words of its second value is waited for, since its elements may be gone and its first value, too.
## Values combine in the order of the elements, so the operator need not commute, but how they are grouped
## differs from run to run: sums of floating point are not for this.
##
## Lanes combine what was said even if none of it is of use: where the condition for that is a branch, ptxas 13.0
## may let lanes skip the instruction (redux.sync) by a predicate of something else. `recount` does it in a
## branch, but there in a loop, of which no predicate is made however small a tile is.
##
## Reference        D. Merrill, M. Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016

<%namespace name="lane_scan" file="/group/lane_scan.mako"/>

<%def name="words(type)">\
<% two = lane_scan.module.BYTES[type] == 8 %>\
#define STATE_HEAD ${state_head}u
#define PART (stamp << 1)
#define WHOLE (stamp << 1 | 1u)

static inline void tile_say(volatile __global ulong *state, const uint tile, const uint tag, const ${type} x) {
% if two:
    const uint2 halves = as_uint2(x);
    store_relaxed_ulong(&state[STATE_HEAD + 2ul * tile], upsample(tag, halves.x));
    store_relaxed_ulong(&state[STATE_HEAD + 2ul * tile + 1u], upsample(tag, halves.y));
% else:
    store_relaxed_ulong(&state[STATE_HEAD + tile], upsample(tag, as_uint(x)));
% endif
}

// Gives the tag, which no launch has while a value is half said.
static inline uint tile_heard(volatile __global ulong *state, const uint tile, ${type} *x) {
% if two:
    const uint2 low = as_uint2(load_relaxed_ulong(&state[STATE_HEAD + 2ul * tile]));
    const uint2 high = as_uint2(load_relaxed_ulong(&state[STATE_HEAD + 2ul * tile + 1u]));
    *x = as_${type}((uint2)(low.x, high.x));
    return low.y == high.y ? low.y : 0u;
% else:
    const uint2 word = as_uint2(load_relaxed_ulong(&state[STATE_HEAD + tile]));
    *x = as_${type}(word.x);
    return word.y;
% endif
}

// Whether a tile may still have its elements: while its second value is half said, it has said the first.
static inline uint tile_silent(volatile __global ulong *state, const uint tile, const uint stamp) {
% if two:
    const uint low = (uint)(load_relaxed_ulong(&state[STATE_HEAD + 2ul * tile]) >> 33);
    const uint high = (uint)(load_relaxed_ulong(&state[STATE_HEAD + 2ul * tile + 1u]) >> 33);
    return low != stamp || high != stamp;
% else:
    return (uint)(load_relaxed_ulong(&state[STATE_HEAD + tile]) >> 33) != stamp;
% endif
}
</%def>

<%def name="parameters()">\
    volatile __global ulong *state,             // what tiles say
    const uint stamp,                           // of this launch, other than those before
    const uint taken,                           // tiles that were taken before
    const uint poll_limit,                      // until a group combines what another does not say
</%def>

<%def name="take(tile)">\
#define TILE ${tile}
const uint lid = (uint)get_local_id(0);
uint number = 0u;
if (lid == 0u) number = atomic_inc((volatile __global uint *)state) - taken;
number = group_broadcast(number, 0u);
</%def>

<%def name="look_back(name, type, index, looks, load, head)">\
uint from = number;     // the tile before this is the next to look at
for (uint polls = 0u; from > 0u;) {
    const uint seen = from;
    uint tags[${looks}];
    ${type} said[${looks}];
    #pragma unroll
    for (uint look = 0u; look < ${looks}u; ++look) {
        const uint back = (look + 1u) * LANES - lane_id();
        tags[look] = WHOLE;
        said[look] = ${name}_identity();
        if (back <= seen) tags[look] = tile_heard(state, seen - back, &said[look]);
    }
    int further = 1;
    #pragma unroll
    for (uint look = 0u; look < ${looks}u; ++look) {
        const lanemask_t unknown = lane_ballot(!further || tags[look] >> 1 != stamp), whole = lane_ballot(tags[look] == WHOLE);
        uint begin = unknown ? lanemask_last(unknown) + 1u : 0u;    // the lowest lane whose word is of use
        const lanemask_t ends = begin < LANES ? whole >> begin << begin : 0;
        if (ends) begin = lanemask_last(ends);
        further = begin == 0u && !ends;
        const ${type} x = lane_id() >= begin ? said[look] : ${name}_identity();
        prefix = ${name}_combine(lane_reduce_in_${name}(LANE_ARGS x), prefix);
        from = ends ? 0u : from - (LANES - begin);
    }
    if (from != seen) {
        polls = 0u;
    } else if (polls++ < poll_limit) {
        spin_hint();
    } else {
        ${recount(name, type, index, load, head)}
        polls = 0u;
    }
}
</%def>

<%def name="recount(name, type, index, load, head)">\
${type} sum = ${name}_identity();
int begun = 0;
for (uint part = 0u; part < TILE; part += LANES) {
    const ${index} i = (${index})(from - 1u) * TILE + part + lane_id();
% if head:
    const lanemask_t marked = lane_ballot(${head});
    const ${type} x = lane_id() >= (marked ? lanemask_last(marked) : 0u) ? ${load} : ${name}_identity();
    const ${type} here = lane_reduce_in_${name}(LANE_ARGS x);
    sum = marked ? here : ${name}_combine(sum, here);
    begun |= marked != 0;
% else:
    const ${type} x = ${load};
    sum = ${name}_combine(sum, lane_reduce_in_${name}(LANE_ARGS x));
% endif
}
fence_device();
if (lane_broadcast(tile_silent(state, from - 1u, stamp), 0u)) {
    prefix = ${name}_combine(sum, prefix);
    from = begun ? 0u : from - 1u;
}
</%def>

<%def name="hand(name, type, index, looks, load, head='', whole='', in_place='')">\
__local ${type} handed;
${type} prefix = ${name}_identity();
const int ends_here = number == 0u${f" || {whole}" if whole else ""};
if (lid == 0u) {
    tile_say(state, number, ends_here ? WHOLE : PART, all);
% if in_place:
    if (${in_place}) fence_device();
% endif
}
if (lid < LANES) {
    ${look_back(name, type, index, looks, load, head)}
    if (lid == 0u) {
        handed = prefix;
        if (!ends_here) tile_say(state, number, WHOLE, ${name}_combine(prefix, all));
    }
}
barrier(CLK_LOCAL_MEM_FENCE);
prefix = handed;
</%def>
