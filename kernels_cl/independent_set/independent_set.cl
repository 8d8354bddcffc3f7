<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="list" file="/frontier/list.mako"/>\
<%namespace name="mix" file="/random/mix.mako"/>\
// A maximal independent set: what is found by taking vertices in the order of their priorities, each
// that has no neighbour among those taken before.
//
// A status is OUT, IN, or the priority of a vertex that is undecided: the fewer neighbours, the higher. A
// vertex goes in when all of its neighbours are out or come after it, and then puts them out. Neither
// changes for a neighbour that has been passed, so a vertex goes on where it was held up.
//
// Races: statuses change once, from undecided, and whoever reads one too early, or from a cache, waits a
// round. Neighbours never go in together, since one of them waits for the other. Hubs are put out by many
// at once: who sees that one is out does not store it again, which would have all those stores meet.
${lanes.vocabulary()}
${memory.vocabulary()}
${mix.vocabulary()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define OUT 0u
#define IN 255u
#define LONG_ROW ${long_row}u
#define TURNS ${turns}u
#define ABREAST ${abreast}u

// Whether v, whose status is `mine`, has to wait for u.
static inline int held_up(const uint status, const uint u, const uint v, const uint mine, const uint2 seed) {
    if (u == v || status < mine) return 0;
    if (status > mine) return 1;
    return mixed(u, seed) > mixed(v, seed);
}

// How many of v's neighbours from `from` on, of the next ABREAST at most, come before the first that it
// has to wait for. They are looked at side by side; the last one stands for those beyond `end`.
static inline uint let_pass(
    __global uchar *statuses, __global const uint *restrict row, const uint from, const uint end, const uint v,
    const uint mine, const uint2 seed
) {
    uint others[ABREAST], theirs[ABREAST];
#pragma unroll
    for (uint k = 0u; k < ABREAST; ++k) others[k] = row[min(from + k, end - 1u)];
#pragma unroll
    for (uint k = 0u; k < ABREAST; ++k) theirs[k] = statuses[others[k]];
    uint count = min(ABREAST, end - from);
#pragma unroll
    for (uint k = ABREAST; k-- > 0u;)
        if (held_up(theirs[k], others[k], v, mine, seed)) count = min(count, k);
    return count;
}

${lanes.kernel(group_size)} independent_begin(
    __global const offset_t *restrict indptr,   // [n + 1]
    const uint n,
    const uint mean,                            // neighbours of a vertex, from 1 on
    __global uchar *restrict statuses)          // [n] out
{
    <%share:each_item count="n">
        const ulong degree = indptr[item + 1u] - indptr[item];
        statuses[item] = (uchar)(1u + (uint)(253ul * mean / (mean + degree)));
    </%share:each_item>
}

${lanes.kernel(group_size)} independent_round(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    const uint2 seed,
    const uint is_first,                        // whether all vertices are meant
    const uint slot,
    __global const uint2 *restrict undecided,   // [n] vertex, neighbours that it has passed
    __global uchar *statuses,                   // [n] in/out
    __global uint2 *next,                       // [n] out
    volatile __global uint *lengths)            // [slots] in/out
{
    ${lanes.setup()}
    ${list.setup("uint2", group_size)}
    const uint count = is_first ? n : min(lengths[slot - 1u], n);
    <%share:each_tile count="count">
        const uint place = (uint)first + lane_id();
        const uint2 entry = place >= count ? (uint2)(0u, 0u) : is_first ? (uint2)(place, 0u) : undecided[place];
        const uint v = entry.x;
        const offset_t row = indptr[v];
        const uint neighbours = place < count ? (uint)(indptr[v + 1u] - row) : 0u;
        uint passed = entry.y;
        int waits = place < count;
        // Whom a vertex waits for is often decided by the lanes beside it: then it need not be listed.
        for (uint turn = 0u; turn < TURNS && lane_any(waits); ++turn) {
            const uint mine = waits ? statuses[v] : OUT;
            const uint degree = mine == OUT ? 0u : neighbours;
            waits = 0;
            const uint stop = passed + min(degree - min(passed, degree), LONG_ROW);
            while (passed < stop && !waits) {
                const uint end = min(passed + ABREAST, stop);
                passed += let_pass(statuses, indices + row, passed, end, v, mine, seed);
                waits = passed < end;
            }
            lanemask_t longer = lane_ballot(!waits && passed < degree);
            while (longer) {
                const uint owner = lanemask_first(longer);
                longer &= longer - 1;
                const uint u = lane_shuffle(v, owner), theirs = lane_shuffle(mine, owner);
                const uint end = lane_shuffle(degree, owner);
                const offset_t begin = indptr[u];
                uint from = lane_shuffle(passed, owner);
                lanemask_t stops = 0;
                for (; from < end; from += LANES) {
                    const uint k = from + lane_id();
                    const uint other = indices[begin + min(k, end - 1u)];
                    stops = lane_ballot(k < end && held_up(statuses[other], other, u, theirs, seed));
                    if (stops) break;
                }
                if (lane_id() == owner) {
                    waits = stops != 0;
                    passed = stops ? from + lanemask_first(stops) : end;
                }
            }
            const int enters = mine != OUT && !waits;
            if (enters) {
                statuses[v] = (uchar)IN;
                const uint rest = min(degree, LONG_ROW);
#pragma unroll 4
                for (uint k = 0u; k < rest; ++k) {
                    const uint u = indices[row + k];
                    if (u != v && statuses[u]) statuses[u] = (uchar)OUT;
                }
            }
            longer = lane_ballot(enters && degree > LONG_ROW);
            while (longer) {
                const uint owner = lanemask_first(longer);
                longer &= longer - 1;
                const uint centre = lane_shuffle(v, owner), end = lane_shuffle(degree, owner);
                const offset_t begin = indptr[centre];
                for (uint k = LONG_ROW + lane_id(); k < end; k += LANES) {
                    const uint u = indices[begin + k];
                    if (u != centre && statuses[u]) statuses[u] = (uchar)OUT;
                }
            }
            lane_converge();
        }
        ${list.push("waits", "(uint2)(v, passed)", "next", "lengths + slot", "n")}
    </%share:each_tile>
    ${list.finish("next", "lengths + slot", "n")}
}
