<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="units" file="/grid/units.mako"/>
<%namespace name="packed" file="/rows/packed.mako"/>
// Triangles x < v < u, by rank, each at its middle vertex v, the owner, from packed rows.
//
// As in owners.cl a group marks N+(v) in local memory and streams N+(u) past it for every u that v is in
// the row of. All ranks below v have a place in the table, and nothing else is ever marked, so that
// ranks from v on, and what fills a row up, miss without a test: eight ranks of a load are eight
// look-ups. Ranks below DENSE of rows that have many of them are compared with the owner's as words
// of bits, which work-items hold in registers.
//
// The table has a byte for each rank, which is quicker to test than a bit, or bits where bytes would
// take too much room. Work is claimed from a counter, greatest hubs first; no races.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}
${units.declarations("group")}
${packed.declarations()}

#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
#define RANKS ${config.ranks}u          // of the table: owners are less
#define STREAM ${config.stream}u        // work-items that walk one row side by side
#define SHARE (DENSE_WORDS / STREAM)    // words of bits that each of them compares
% if config.table == "bytes":
#define WORDS (RANKS / 4u)
#define MARK(x) marked[x] = 1
#define UNMARK(x) marked[x] = 0
// The last rank is never marked: it could be so only by an owner after it.
#define LOOK(two) (marked[min((two) & 0xffffu, RANKS - 1u)] + marked[min((two) >> 16, RANKS - 1u)])
% else:
#define WORDS (RANKS / 32u)
#define MARK(x) atomic_or(&table[(x) >> 5], 1u << ((x) & 31u))
#define UNMARK(x) table[(x) >> 5] = 0u
#define LOOK(two) ((table[((two) & 0xffffu) >> 5] >> ((two) & 31u) & 1u) \
    + (table[(two) >> 21] >> ((two) >> 16 & 31u) & 1u))
% endif

__kernel KERNEL void triangles_packed_${config.table}(
    __global const uint2 *restrict heads,       // [n] by rank: first unit, and PACKED_ words
    __global const uint4 *restrict packed,      // units
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict degrees,      // [n]
    __global const uint *restrict rows,         // [m] smaller ranks first, then the greater ones
    const uint first,                           // owners from `first` on, in `items` pieces:
    const uint items,                           // `pieces` for each of the first `hubs`, else one
    const uint hubs,
    const uint pieces,
    const uint anew,                            // whether partial sums begin here
    __global uint *next,                        // [1] in/out, 0 on entry
    __global ulong *partial)                    // [SIMD groups] in/out: triangles found
{
    ${lanes.setup()}
    __local uint table[WORDS];
    __local uint word[1];
% if config.table == "bytes":
    __local uchar *const marked = (__local uchar *)table;
    __local uint bits[DENSE_WORDS];
    for (uint i = UNIT_ITEM; i < DENSE_WORDS; i += GROUP_SIZE) bits[i] = 0u;
% else:
    __local uint *const bits = table;
% endif
    const uint part = UNIT_ITEM % STREAM;
    ulong total = 0ul;
    for (uint i = UNIT_ITEM; i < WORDS; i += GROUP_SIZE) table[i] = 0u;
    for (;;) {
        const uint item = unit_claim(word, next, 1u);
        if (item >= items) break;
        const int hub = item < hubs * pieces;
        const uint v = first + (hub ? item / pieces : item - hubs * (pieces - 1u));
        const uint piece = hub ? item % pieces : 0u, of = hub ? pieces : 1u;
        const uint length = outs[v], above = degrees[v] - length;
        const uint from = (uint)((ulong)above * piece / of), to = (uint)((ulong)above * (piece + 1u) / of);
        if (length == 0u || from == to) continue;
        const uint2 head = heads[v];
        const int own_bits = (head.y & PACKED_DENSE) != 0u;
        const uint few = head.y & ~PACKED_DENSE;
        __global const ushort *own = (__global const ushort *)(packed + head.x);
        if (own_bits) {
            for (uint w = UNIT_ITEM; w < DENSE_WORDS; w += GROUP_SIZE) bits[w] = ((__global const uint *)own)[w];
            own += DENSE_PLACES;
        }
        for (uint k = UNIT_ITEM; k < few; k += GROUP_SIZE) {
            const uint x = own[k];
% if config.table == "bytes":
            if (x < DENSE) atomic_or(&bits[x >> 5], 1u << (x & 31u));
            else MARK(x);
% else:
            MARK(x);
% endif
        }
        group_barrier();
% if config.table == "bytes":
        // Four bits make four bytes.
        for (uint i = UNIT_ITEM; i < DENSE / 4u; i += GROUP_SIZE)
            table[i] = (bits[i / 8u] >> (i % 8u * 4u) & 15u) * 0x204081u & 0x01010101u;
        group_barrier();
% endif
        uint own_words[SHARE];
        for (uint i = 0u; i < SHARE; ++i)
            own_words[i] = bits[(i / 4u * STREAM + part) * 4u + i % 4u];
        __global const uint *const above_v = rows + begins[v] + length;
        uint met = 0u;
        for (uint k = from + UNIT_ITEM / STREAM; k < to; k += GROUP_SIZE / STREAM) {
            const uint2 other = heads[above_v[k]];
            uint unit = other.x + part;
            if (other.y & PACKED_DENSE) {
                for (uint i = 0u; i < SHARE / 4u; ++i, unit += STREAM) {
                    const uint4 words = packed[unit];
                    met += (uint)popcount(words.s0 & own_words[4u * i]);
                    met += (uint)popcount(words.s1 & own_words[4u * i + 1u]);
                    met += (uint)popcount(words.s2 & own_words[4u * i + 2u]);
                    met += (uint)popcount(words.s3 & own_words[4u * i + 3u]);
                }
            }
            const uint end = unit - part + ((other.y & ~PACKED_DENSE) + PACKED_UNIT - 1u) / PACKED_UNIT;
            for (; unit < end; unit += STREAM) {
                const uint4 ranks = packed[unit];
                met += LOOK(ranks.s0) + LOOK(ranks.s1) + LOOK(ranks.s2) + LOOK(ranks.s3);
                if (ranks.s3 >> 16 >= v) break;
            }
        }
        total += met;
        group_barrier();
        for (uint k = UNIT_ITEM; k < few; k += GROUP_SIZE) UNMARK(own[k]);
        for (uint w = UNIT_ITEM; w < DENSE_WORDS; w += GROUP_SIZE) bits[w] = 0u;
    }
    lane_converge();
    total = lane_reduce_add_ulong(total);
    const uint sum = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    if (lane_id() == 0u) partial[sum] = total + (anew ? 0ul : partial[sum]);
}
