<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
<%namespace name="list" file="/frontier/list.mako"/>\
<%namespace name="mix" file="/random/mix.mako"/>\
// Greedy colouring: vertices in the order of their priorities, each gets the least colour that none of
// its neighbours before it has.
//
// A status is a colour that is final, or a bound: the least colour that no final one of the neighbours
// before is. Bounds only grow. A vertex need not wait for neighbours whose bounds are above its own: none of
// them will have its colour, and so its bound is final.
//
// Each vertex keeps a list of the neighbours before it that are not final yet, and a bit for each colour
// that the others have; it has one bit more than neighbours, since its own colour is no larger.
//
// While many vertices are open a SIMD group has as many as lanes, each of which goes through a short list
// by itself. Those that are left at the end have long lists, and a SIMD group each, as far as they last.
//
// Races: a status that is read too early, or from a cache, is a smaller bound, or not final yet: its reader
// waits a round.
// The list and the bits of a vertex are touched by those lanes only that have the vertex.
${lanes.vocabulary()}
${memory.vocabulary()}
${mix.vocabulary()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
${units.functions()}
#define FINAL 0x80000000u
#define NO_BOUND (~0u)
#define ABREAST ${abreast}u
// What a lane gives its neighbours before it alone; longer lists are gone through by all lanes.
#define ALONE ${"width" if shared_lists else "(~0u)"}
// Words of the bits of each vertex: places for one more than its neighbours do not overlap.
#define USED(v) (((size_t)indptr[v] >> 5) + (v))

static inline uint lowest_zero(const uint word) { return (uint)popcount(word & ~(word + 1u)); }

static inline void take(volatile __global uint *used, const uint color) {
% if shared_lists:
    atomic_or(used + color / 32u, 1u << (color % 32u));
% else:
    used[color / 32u] |= 1u << (color % 32u);
% endif
}

% if order == "given":
#define comes_before(u, v) (ranks[u] < ranks[v])
% else:
#define comes_before(u, v) comes_before_in(indptr, (u), (v), seed)

static inline int comes_before_in(__global const offset_t *restrict indptr, const uint u, const uint v, const uint2 seed) {
    if (u == v) return 0;
% if order == "degree":
    const offset_t of_u = indptr[u + 1u] - indptr[u], of_v = indptr[v + 1u] - indptr[v];
    if (of_u != of_v) return of_u > of_v;
% endif
    return mixed(u, seed) > mixed(v, seed);
}
% endif

// Who comes before each vertex; counts and bits are 0 on entry.
${lanes.kernel(group_size)} color_orient(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    const offset_t m,
    const uint2 seed,
% if order == "given":
    __global const uint *restrict ranks,        // [n]
% endif
    volatile __global uint *counts,             // [n] in/out
    __global uint *before)                      // [m] out, in the place of rows
{
    <%units:each_unit sums="indptr" rows="n" total="m">
        const uint u = indices[unit];
        if (comes_before(u, row)) before[indptr[row] + atomic_inc(counts + row)] = u;
    </%units:each_unit>
}

${lanes.kernel(group_size)} color_round(
    __global const offset_t *restrict indptr,   // [n + 1]
    const uint n,
    const uint is_first,                        // whether all vertices are meant
    const uint slot,
    __global const uint *restrict open,         // [n] vertices
    __global uint *counts,                      // [n] in/out
    __global uint *before,                      // [m] in/out
    volatile __global uint *used,               // [m / 32 + n] in/out: bits
    __global uint *statuses,                    // [n] in/out
    __global uint *next,                        // [n] out
    volatile __global uint *lengths)            // [slots] in/out
{
    ${lanes.setup()}
    ${list.setup("uint", group_size)}
    const uint count = is_first ? n : min(lengths[slot - 1u], n);
    <%share:each_shared_tile count="count">
        const uint place = (uint)first + lane_id();
        const int active = lane_id() < width && place < count;
        const uint v = !active ? 0u : is_first ? place : open[place];
        const uint waits_for = active ? counts[v] : 0u;
        const offset_t row = indptr[v];
        const uint bits = 32u * ((uint)(indptr[v + 1u] - row) / 32u + 1u);
        volatile __global uint *const my_used = used + USED(v);
        uint least = NO_BOUND, bound = active ? statuses[v] : 0u;
        if (active && waits_for <= ALONE) {
            uint kept = 0u;
            for (uint k = 0u; k < waits_for; k += ABREAST) {
                uint others[ABREAST], theirs[ABREAST];
#pragma unroll
                for (uint i = 0u; i < ABREAST; ++i) others[i] = before[row + min(k + i, waits_for - 1u)];
#pragma unroll
                for (uint i = 0u; i < ABREAST; ++i) theirs[i] = statuses[others[i]];
#pragma unroll
                for (uint i = 0u; i < ABREAST; ++i) {
                    const uint status = theirs[i];
                    if (k + i >= waits_for) continue;
                    if (status & FINAL) {
                        if ((status ^ FINAL) < bits) take(my_used, status ^ FINAL);
                    } else {
                        before[row + kept++] = others[i];
                        least = min(least, status);
                    }
                }
            }
            if (kept != waits_for) counts[v] = kept;
            uint word = bound / 32u;
            while (!~my_used[word]) ++word;
            bound = 32u * word + lowest_zero(my_used[word]);
        }
        lanemask_t longer = lane_ballot(active && waits_for > ALONE);
        while (longer) {
            const uint owner = lanemask_first(longer);
            longer &= longer - 1;
            const uint centre = lane_shuffle(v, owner), end = lane_shuffle(waits_for, owner);
            const uint room = lane_shuffle(bits, owner);
            const offset_t begin = indptr[centre];
            volatile __global uint *const their_used = used + USED(centre);
            uint kept = 0u, lowest = NO_BOUND;
            for (uint from = 0u; from < end; from += LANES * ABREAST) {
                uint others[ABREAST], theirs[ABREAST];
#pragma unroll
                for (uint i = 0u; i < ABREAST; ++i) others[i] = before[begin + min(from + i * LANES + lane_id(), end - 1u)];
#pragma unroll
                for (uint i = 0u; i < ABREAST; ++i) theirs[i] = from + i * LANES + lane_id() < end ? statuses[others[i]] : FINAL | room;
                lane_converge();
#pragma unroll
                for (uint i = 0u; i < ABREAST; ++i) {
                    const int stays = !(theirs[i] & FINAL);
                    if (!stays && (theirs[i] ^ FINAL) < room) take(their_used, theirs[i] ^ FINAL);
                    const lanemask_t staying = lane_ballot(stays);
                    lane_converge();
                    if (stays) before[begin + kept + lanemask_count(staying & lane_mask_lt())] = others[i];
                    kept += lanemask_count(staying);
                    lowest = stays ? min(lowest, theirs[i]) : lowest;
                }
            }
            lane_converge();
            lowest = lane_reduce_min(lowest);
            uint word = lane_shuffle(bound, owner) / 32u;
            lanemask_t free = 0;
            uint mine = ~0u;
            for (; word < room / 32u; word += LANES) {
                mine = word + lane_id() < room / 32u ? load_relaxed(their_used + word + lane_id()) : ~0u;
                free = lane_ballot(mine != ~0u);
                if (free) break;
            }
            const uint at = free ? lanemask_first(free) : 0u;
            const uint found = 32u * (word + at) + lowest_zero(lane_shuffle(mine, at));
            if (lane_id() == owner) {
                counts[centre] = kept;
                least = lowest;
                bound = found;
            }
        }
        const int is_final = active && bound < least;
        if (active) statuses[v] = is_final ? bound | FINAL : bound;
        ${list.push("active && !is_final", "v", "next", "lengths + slot", "n")}
    </%share:each_shared_tile>
    ${list.finish("next", "lengths + slot", "n")}
}

// Final statuses are colours; others, where this comes too early, are overwritten later.
${lanes.kernel(group_size)} color_finish(
    const uint n,
    __global const uint *restrict statuses,     // [n]
    __global int *restrict colors,              // [n] out
    volatile __global uint *most)               // [1] in/out: colours, 0 on entry
{
    ${lanes.setup()}
    uint here = 0u;
    <%share:each_item count="n">
        colors[item] = (int)(statuses[item] ^ FINAL);
        if (statuses[item] & FINAL) here = max(here, (statuses[item] ^ FINAL) + 1u);
    </%share:each_item>
    lane_converge();
    here = lane_reduce_max(here);
    if (lane_id() == 0u && here) atomic_max(most, here);
}
