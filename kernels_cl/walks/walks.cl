<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="philox" file="/random/philox.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
// Random walks of first and second order, ${wide} by a work-item at a time: each waits for two reads a step, so
// a thread that has nobody beside it takes the steps of several walks together.
//
// A step draws an edge in proportion to weights, by a search in their sums over the row. Where the edge
// leads back, to a neighbour of the vertex before, or farther makes a difference, it is taken with the
// share that this has of the greatest of the three, else drawn again. After ${tries} refusals, and as many as
// the row has edges, it is gone through instead, which comes to the same distribution.
//
// Everything is an integer, and random numbers are a function of seed, walk, step and try: so walks are
// the same on every device. Races: work-items add to one count.
${lanes.vocabulary()}
${philox.vocabulary()}
${philox.bunches(wide)}
${find.functions()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define WIDE ${wide}u
#define NOWHERE (~0u)
#define SHARE_BITS ${share_bits}u
// The first word of the last counters, where a row is gone through.
#define THROUGH (~0u)
% if weighted:
// Up to and with edge k of the row that begins at `row`, how much its edges weigh.
#define UP_TO(row, k) sums[(row) + (k)]
#define WEIGHT(row, k) (sums[(row) + (k)] - ((k) ? sums[(row) + (k) - 1u] : 0u))
% else:
#define UP_TO(row, k) ((k) + 1u)
#define WEIGHT(row, k) 1u
% endif
<%
    sums = "__global const uint *restrict sums,         // [m] of weights over each row" if weighted else ""
%>\
% if second_order:
static inline int is_next_to(__global const offset_t *restrict indptr, __global const uint *restrict indices,
                             const uint t, const uint u) {
    const offset_t row = indptr[t];
    const uint degree = (uint)(indptr[t + 1u] - row);
    const uint at = lower_bound(indices + row, degree, u);
    return at < degree && indices[row + at] == u;
}

// In units of 2^-SHARE_BITS, the share of a step from v to u after one from t to v.
static inline uint share_of(__global const offset_t *restrict indptr, __global const uint *restrict indices,
                            const uint t, const uint u, const uint4 shares) {
    return u == t ? shares.x : is_next_to(indptr, indices, t, u) ? shares.y : shares.z;
}

// Whether a number below 2^SHARE_BITS is below that share; for most it makes no difference whose neighbour u is.
static inline int is_taken(__global const offset_t *restrict indptr, __global const uint *restrict indices,
                           const uint t, const uint u, const uint4 shares, const uint number) {
    if (u == t) return number < shares.x;
    if (number < min(shares.y, shares.z)) return 1;
    return number < max(shares.y, shares.z) && is_next_to(indptr, indices, t, u) == (shares.y > shares.z);
}

% endif
${lanes.kernel(group_size)} walks_step(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    ${sums}
    const uint count,                           // walks
    const ulong first_walk,                     // number of the first of them
    const uint begin,                           // steps from, and to
    const uint end,
    const uint2 seed,
    __global const uint *restrict given_shares, // [3] of a step back, to a neighbour, and farther
    __global uint *ends,                        // [2, count] in/out: where walks are, and were a step before
    const uint columns,                         // of `walks`
    const uint column,                          // where the vertex after the first step goes
    __global uint *walks,                       // [count, columns] out; the starts too, before step 0
    __global uint *taken)                       // [1] in/out: steps of all
{
    ${lanes.setup()}
    const uint4 shares = (uint4)(given_shares[0], given_shares[1], given_shares[2], 0u);
    const uint bunches = (uint)(((ulong)count + WIDE - 1u) / WIDE);
    uint taken_here = 0u;
    <%share:each_item count="bunches">
        const uint first = item * WIDE, here = min(count - first, WIDE);
        const ulong walk = first_walk + first;
        uint v[WIDE], t[WIDE];
        for (uint k = 0u; k < WIDE; ++k) {
            v[k] = k < here ? ends[first + k] : NOWHERE;
            t[k] = k < here ? ends[(size_t)count + first + k] : NOWHERE;
        }
        __global uint *const out = walks + (size_t)first * columns;
        if (begin == 0u)
            for (uint k = 0u; k < here; ++k) out[(size_t)k * columns] = v[k];
        for (uint step = begin; step < end; ++step) {
            offset_t row[WIDE];
            uint degree[WIDE], total[WIDE], tries[WIDE], next[WIDE];
            for (uint k = 0u; k < WIDE; ++k) {
                const uint from = v[k] == NOWHERE ? 0u : v[k];
                row[k] = indptr[from];
                degree[k] = v[k] == NOWHERE ? 0u : (uint)(indptr[from + 1u] - row[k]);
                next[k] = NOWHERE;
            }
            for (uint k = 0u; k < WIDE; ++k) {
                total[k] = degree[k] ? UP_TO(row[k], degree[k] - 1u) : 0u;
                tries[k] = total[k] ? ${f"max({tries}u, degree[k])" if second_order else "1u"} : 0u;
            }
% if second_order:
            int again = 1;
            for (uint attempt = 0u; again; ++attempt) {
                again = 0;
% else:
            const uint attempt = 0u;
            {
% endif
                uint x[WIDE], y[WIDE], z[WIDE], w[WIDE];
                for (uint k = 0u; k < WIDE; ++k) {
                    x[k] = (uint)(walk + k);
                    y[k] = (uint)((walk + k) >> 32);
                    z[k] = step;
                    w[k] = attempt;
                }
                philox_bunch(x, y, z, w, seed);
                for (uint k = 0u; k < WIDE; ++k) x[k] = random_below(x[k], total[k]);
% if weighted:
                for (uint k = 0u; k < WIDE; ++k)
                    if (attempt < tries[k]) x[k] = upper_bound(sums + row[k], degree[k] - 1u, x[k]);
% endif
                for (uint k = 0u; k < WIDE; ++k) {
                    if (attempt >= tries[k]) continue;
                    const uint u = indices[row[k] + x[k]];
% if second_order:
                    const uint number = y[k] >> (32u - SHARE_BITS);
                    if (t[k] != NOWHERE && !is_taken(indptr, indices, t[k], u, shares, number)) {
                        again |= attempt + 1u < tries[k];
                        continue;
                    }
                    tries[k] = 0u;
% endif
                    next[k] = u;
                }
            }
% if second_order:
            for (uint k = 0u; k < WIDE; ++k) {
                if (!total[k] || next[k] != NOWHERE) continue;
                ulong all = 0ul;
                for (uint e = 0u; e < degree[k]; ++e)
                    all += (ulong)WEIGHT(row[k], e) * share_of(indptr, indices, t[k], indices[row[k] + e], shares);
                const uint4 counter = (uint4)((uint)(walk + k), (uint)((walk + k) >> 32), step, THROUGH);
                ulong left = random_below_ulong(philox(counter, seed).xy, all);
                for (uint e = 0u; e < degree[k] && next[k] == NOWHERE; ++e) {
                    const uint u = indices[row[k] + e];
                    const ulong weight = (ulong)WEIGHT(row[k], e) * share_of(indptr, indices, t[k], u, shares);
                    if (left < weight) next[k] = u;
                    else left -= weight;
                }
            }
% endif
            for (uint k = 0u; k < here; ++k) {
                out[(size_t)k * columns + column + (step - begin)] = next[k];
                taken_here += next[k] != NOWHERE;
            }
            for (uint k = 0u; k < WIDE; ++k) {
                t[k] = v[k];
                v[k] = next[k];
            }
        }
        for (uint k = 0u; k < here; ++k) {
            ends[first + k] = v[k];
            ends[(size_t)count + first + k] = t[k];
        }
    </%share:each_item>
    ${lanes.add_up("taken_here", "taken")}\
}
