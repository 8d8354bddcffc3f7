<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="units" file="/grid/units.mako"/>
<%namespace name="packed" file="/rows/packed.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
// Triangles x < v < u, by rank, each at its middle vertex v, the owner, from packed rows: owners of all
// ranks, who have few u each.
//
// A unit marks N+(v) in a small table whose bits ranks share, and streams N+(u) past it for every u that
// v is in the row of; what hits a bit is looked up in the row of v. Ranks below DENSE of rows that have
// many of them are compared as words of bits. So little local memory a unit leaves room for many units,
// which is what short rows need: they wait for memory most of the time.
//
// Units claim as many owners at a time as there are lanes, each of which knows whether its owner has
// anything to do. No races; sums are integers.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}
${units.declarations(config.unit)}
${packed.declarations()}
${intersect.functions()}

#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
#define BITS ${config.bits}u
#define WORDS (BITS / 32u)
#define STREAM ${config.stream}u        // work-items that walk one row side by side
#define SHARE (DENSE_WORDS / STREAM)    // words of bits that each of them compares

static inline uint is_marked(const __local uint *table, const uint x) {
    return table[x % BITS >> 5] >> (x & 31u) & 1u;
}

static inline uint is_in(const __global uint *row, const uint length, const uint x) {
    const uint at = lower_bound(row, length, x);
    return at < length && row[at] == x;
}

__kernel KERNEL void triangles_packed_shared(
    __global const uint2 *restrict heads,       // [n] by rank: first unit, and PACKED_ counts
    __global const uint4 *restrict packed,      // units
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict degrees,      // [n]
    __global const uint *restrict rows,         // [m] smaller ranks first, then the greater ones
    const uint first,                           // owners from `first` on, `items` of them
    const uint items,
    const uint hubs,                            // none is cut in pieces
    const uint pieces,
    const uint anew,                            // whether partial sums begin here
    const uint counter,                         // which of `next` counts what is claimed
    __global uint *next,                        // in/out, 0 on entry
    __global ulong *partial)                    // [SIMD groups] in/out: triangles found
{
    ${lanes.setup()}
    __local uint tables[UNITS * WORDS];
    __local uint lows[UNITS * DENSE_WORDS];
    __local uint words[UNITS];
    __local uint *const table = tables + UNIT * WORDS;
    __local uint *const low = lows + UNIT * DENSE_WORDS;    // marks of ranks below DENSE
    for (uint i = UNIT_ITEM; i < WORDS; i += UNIT_ITEMS) table[i] = 0u;
    for (uint i = UNIT_ITEM; i < DENSE_WORDS; i += UNIT_ITEMS) low[i] = 0u;
    const uint part = UNIT_ITEM % STREAM;
    ulong total = 0ul;
    for (;;) {
        const uint item = unit_claim(&words[UNIT], next + counter, LANES);
        if (item >= items) break;
        const uint mine = first + item + lane_id();
        const int known = item + lane_id() < items;
        const uint my_length = known ? outs[mine] : 0u, my_degree = known ? degrees[mine] : 0u;
        for (lanemask_t left = lane_ballot(my_length && my_length < my_degree); left; left &= left - 1u) {
            const uint owner = lanemask_first(left);
            const uint v = first + item + owner;
            const uint length = lane_shuffle(my_length, owner);
            const uint above = lane_shuffle(my_degree, owner) - length;
            __global const uint *const row = rows + begins[v];
            for (uint k = UNIT_ITEM; k < length; k += UNIT_ITEMS) {
                const uint x = row[k];
                atomic_or(&table[x % BITS >> 5], 1u << (x & 31u));
                if (x < DENSE) atomic_or(&low[x >> 5], 1u << (x & 31u));
            }
            unit_barrier();
            uint met = 0u;
            for (uint k = UNIT_ITEM / STREAM; k < above; k += UNIT_ITEMS / STREAM) {
                const uint u = row[length + k];
                const uint2 head = heads[u];
                const uint few = PACKED_FEW(head.y);
                uint unit = head.x;
                if (PACKED_DENSE(head.y)) {
                    for (uint i = part; i < DENSE_UNITS; i += STREAM) {
                        const uint4 bits = packed[unit + i];
                        met += (uint)popcount(bits.s0 & low[4u * i]) + (uint)popcount(bits.s1 & low[4u * i + 1u]);
                        met += (uint)popcount(bits.s2 & low[4u * i + 2u]) + (uint)popcount(bits.s3 & low[4u * i + 3u]);
                    }
                    unit += DENSE_UNITS;
                }
                for (uint j = part * PACKED_UNIT; j < few; j += STREAM * PACKED_UNIT) {
                    const uint4 ranks = packed[unit + j / PACKED_UNIT];
                    uint hits = 0u;
% for i in range(4):
                    hits |= is_marked(table, ranks.s${i} & 0xffffu) << ${2 * i} | is_marked(table, ranks.s${i} >> 16) << ${2 * i + 1};
% endfor
                    // What fills the last unit up is no rank of a row, but may hit a bit.
                    for (; hits; hits &= hits - 1u) {
                        const uint i = (uint)popcount(~hits & (hits - 1u));
                        const uint two = i < 4u ? (i < 2u ? ranks.s0 : ranks.s1) : (i < 6u ? ranks.s2 : ranks.s3);
                        if (j + i < few) met += is_in(row, length, two >> (i & 1u) * 16u & 0xffffu);
                    }
                }
                __global const uint *const far = rows + begins[u];
                const uint far_end = outs[u];
                for (uint j = few + PACKED_DENSE(head.y) + part; j < far_end; j += STREAM) {
                    const uint x = far[j];
                    if (x >= v) break;
                    if (is_marked(table, x)) met += is_in(row, length, x);
                }
            }
            total += met;
            unit_barrier();
            for (uint k = UNIT_ITEM; k < length; k += UNIT_ITEMS) {
                const uint x = row[k];
                table[x % BITS >> 5] = 0u;
                if (x < DENSE) low[x >> 5] = 0u;
            }
            unit_barrier();
        }
    }
    lane_converge();
    total = lane_reduce_add_ulong(total);
    const uint sum = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    if (lane_id() == 0u) partial[sum] = total + (anew ? 0ul : partial[sum]);
}
