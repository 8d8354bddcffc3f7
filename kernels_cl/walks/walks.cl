<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="philox" file="/random/philox.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
// Random walks of first and second order, a work-item each.
//
// A step draws an edge in proportion to weights, by a search in their sums over the row. Where the edge
// leads back, to a neighbour of the vertex before, or farther makes a difference, it is taken with the
// share that this has of the greatest of the three, else drawn again. After ${tries} refusals the row is
// gone through instead, which comes to the same distribution.
//
// Everything is an integer, and random numbers are a function of seed, walk, step and try: so walks are
// the same on every device. No races.
${lanes.vocabulary()}
${philox.vocabulary()}
${find.functions()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define KERNEL __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
#define NOWHERE (~0u)
#define SHARE_BITS ${share_bits}u
// The first word of the last counters, where a row is gone through.
#define THROUGH (~0u)
% if weighted:
// Up to and with edge k of a row, how much its edges weigh.
#define UP_TO(k) sums[row + (k)]
#define WEIGHT(k) (sums[row + (k)] - ((k) ? sums[row + (k) - 1u] : 0u))
% else:
#define UP_TO(k) ((k) + 1u)
#define WEIGHT(k) 1u
% endif
<%
    sums = "__global const uint *restrict sums,         // [m] of weights over each row" if weighted else ""
%>\

% if second_order:
// In units of 2^-SHARE_BITS, the share of a step from v to u after one from t to v.
static inline uint share_of(__global const offset_t *restrict indptr, __global const uint *restrict indices,
                            const uint t, const uint u, const uint4 shares) {
    if (u == t) return shares.x;
    const offset_t row = indptr[t];
    const uint degree = (uint)(indptr[t + 1u] - row);
    const uint at = lower_bound(indices + row, degree, u);
    return at < degree && indices[row + at] == u ? shares.y : shares.z;
}

% endif
__kernel KERNEL void walks_step(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    ${sums}
    const uint count,                           // walks
    const ulong first_walk,                     // number of the first of them
    const uint begin,                           // steps from, and to
    const uint end,
    const uint offset,                          // added to a step, its number in the walk
    const uint2 seed,
    __global const uint *restrict given_shares, // [3] of a step back, to a neighbour, and farther
    __global uint *walks)                       // [steps + 1, count] in/out
{
    const uint4 shares = (uint4)(given_shares[0], given_shares[1], given_shares[2], 0u);
    <%share:each_item count="count">
        const ulong walk = first_walk + item;
        uint v = walks[(size_t)begin * count + item];
        uint t = begin && v != NOWHERE ? walks[(size_t)(begin - 1u) * count + item] : NOWHERE;
        for (uint step = begin; step < end; ++step) {
            uint next = NOWHERE;
            if (v != NOWHERE) {
                const offset_t row = indptr[v];
                const uint degree = (uint)(indptr[v + 1u] - row);
                const uint total = degree ? UP_TO(degree - 1u) : 0u;
                for (uint attempt = 0u; total && next == NOWHERE && attempt < ${tries}u; ++attempt) {
                    const uint4 words = philox((uint4)((uint)walk, (uint)(walk >> 32), offset + step, attempt), seed);
                    const uint drawn = random_below(words.x, total);
                    next = indices[row + ${"upper_bound(sums + row, degree - 1u, drawn)" if weighted else "drawn"}];
% if second_order:
                    if (t != NOWHERE && words.y >> (32u - SHARE_BITS) >= share_of(indptr, indices, t, next, shares))
                        next = NOWHERE;
% endif
                }
% if second_order:
                if (total && next == NOWHERE) {
                    ulong all = 0ul;
                    for (uint k = 0u; k < degree; ++k)
                        all += (ulong)WEIGHT(k) * share_of(indptr, indices, t, indices[row + k], shares);
                    const uint4 words = philox((uint4)((uint)walk, (uint)(walk >> 32), offset + step, THROUGH), seed);
                    ulong left = random_below_ulong(words.xy, all);
                    for (uint k = 0u; k < degree && next == NOWHERE; ++k) {
                        const ulong here = (ulong)WEIGHT(k) * share_of(indptr, indices, t, indices[row + k], shares);
                        if (left < here) next = indices[row + k];
                        else left -= here;
                    }
                }
% endif
            }
            walks[(size_t)(step + 1u) * count + item] = next;
            t = v;
            v = next;
        }
    </%share:each_item>
}
