<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="units" file="/grid/units.mako"/>
<%namespace name="packed" file="/rows/packed.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
// Triangles x < v < u, by rank, each at its middle vertex v, the owner, from packed rows.
//
// As in owners.cl a group marks N+(v) in local memory and streams N+(u) past it for every u that v is in
// the row of. All ranks below v have a place in the table, and nothing else is ever marked, so that
// ranks from v on, and what fills a row up, miss without a test: eight ranks of a load are eight
// look-ups. Blocks of ranks that rows have as bits are compared with the owner's word by word. Nothing
// is looked at from v on.
//
// The table has a byte for each rank, which is quicker to test than a bit, or bits where bytes would
// take too much room. Work is claimed from a counter, greatest hubs first; no races.
//
// Owners beyond the packed ranks are the work of small groups, as many at a time as there are lanes, each
// of which knows whether its owner has anything to do. What such an owner has beyond the packed ranks it
// marks in a small table of shared bits, and looks up what hits one.

${group.words()}
${units.declarations(config.unit)}
${packed.declarations()}
${intersect.functions()}

#define RANKS ${config.ranks}u          // of the table: owners are less
#define STREAM ${config.stream}u        // work-items that walk one row side by side
#define STEPS ((DENSE / 128u + STREAM - 1u) / STREAM)  // units of bits that each of them compares
#define CHUNK ${"LANES" if config.beyond else "1u"}
% if config.beyond:
#define SHARED_BITS ${config.shared_bits}u       // of the table of what is beyond
#define SHARED_WORD(x) shared_table[(x) % SHARED_BITS >> 5]

% endif
% if config.table == "bytes":
#define WORDS (RANKS / 4u)
#define MARK(x) marked[x] = 1
#define UNMARK(x) marked[x] = 0
// The last rank is never marked: it could be so only by an owner after it.
#define LOOK(two) (marked[min((two) & 0xffffu, RANKS - 1u)] + marked[min((two) >> 16, RANKS - 1u)])
% else:
#define WORDS (RANKS / 32u)
#define LOOK(two) ((table[((two) & 0xffffu) >> 5] >> ((two) & 31u) & 1u) \
    + (table[(two) >> 21] >> ((two) >> 16 & 31u) & 1u))
#define MARK(x) atomic_or(&table[(x) >> 5], 1u << ((x) & 31u))
#define UNMARK(x) table[(x) >> 5] = 0u
% endif

${group.kernel()} triangles_packed_${"beyond" if config.beyond else config.table}(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    __local uint4 tables[UNITS * WORDS / 4u];
    __local uint *const table = (__local uint *)tables + UNIT * WORDS;
    __local uint word[UNITS];
% if config.beyond:
    __local uint shared_tables[UNITS * SHARED_BITS / 32u];
    __local uint *const shared_table = shared_tables + UNIT * (SHARED_BITS / 32u);
    for (uint i = UNIT_ITEM; i < SHARED_BITS / 32u; i += UNIT_ITEMS) shared_table[i] = 0u;
% endif
% if config.table == "bytes":
    __local uchar *const marked = (__local uchar *)table;
    __local uint4 bits_by_four[DENSE_WORDS / 4u];
    __local uint *const bits = (__local uint *)bits_by_four;
    for (uint i = UNIT_ITEM; i < DENSE_WORDS; i += UNIT_ITEMS) bits[i] = 0u;
% else:
    __local uint *const bits = table;
    __local const uint4 *const bits_by_four = (__local const uint4 *)table;
% endif
    const uint part = UNIT_ITEM % STREAM;
    ulong total = 0ul;
    for (uint i = UNIT_ITEM; i < WORDS; i += UNIT_ITEMS) table[i] = 0u;
    for (;;) {
        const uint item = unit_claim(&word[UNIT], next + counter, CHUNK);
        if (item >= items) break;
% if config.beyond:
        const uint mine = first + item + lane_id();
        const int known = item + lane_id() < items;
        const uint my_length = known ? outs[mine] : 0u, my_degree = known ? degrees[mine] : 0u;
        for (lanemask_t left = lane_ballot(my_length && my_length < my_degree); left; left &= left - 1u) {
        const uint owner = lanemask_first(left);
        const uint v = first + item + owner;
        const uint length = lane_shuffle(my_length, owner);
        const uint from = 0u, to = lane_shuffle(my_degree, owner) - length;
% else:
        ${sums.owner()}
        {
% endif
        const uint2 head = heads[v];
        const uint own_words = PACKED_BLOCKS(head.y) * BLOCK_WORDS;
        const uint few = PACKED_FEW(head.y);
        __global const ushort *own = (__global const ushort *)(packed + head.x);
        __global const uint *const row = rows + begins[v];
        for (uint w = UNIT_ITEM; w < own_words; w += UNIT_ITEMS) bits[w] = ((__global const uint *)own)[w];
        own += 2u * own_words;
% if config.beyond:
        const uint near = few + PACKED_DENSE(head.y);
        const uint last = row[length - 1u];     // no rank of the row is greater
        for (uint k = near + UNIT_ITEM; k < length; k += UNIT_ITEMS)
            atomic_or(&SHARED_WORD(row[k]), 1u << (row[k] & 31u));
        unit_barrier();
% endif
        for (uint k = UNIT_ITEM; k < few; k += UNIT_ITEMS) {
            const uint x = own[k];
% if config.table == "bytes":
            if (x < DENSE) atomic_or(&bits[x >> 5], 1u << (x & 31u));
            else MARK(x);
% else:
            MARK(x);
% endif
        }
        unit_barrier();
% if config.table == "bytes":
        // Four bits make four bytes.
        for (uint i = UNIT_ITEM; i < min(DENSE, RANKS) / 4u; i += UNIT_ITEMS)
            table[i] = (bits[i / 8u] >> (i % 8u * 4u) & 15u) * 0x204081u & 0x01010101u;
        unit_barrier();
% endif
        const uint bound = min(DENSE, v + 127u) / 128u;     // units of bits that have ranks before v
        uint met = 0u;
        for (uint k = from + UNIT_ITEM / STREAM; k < to; k += UNIT_ITEMS / STREAM) {
            const uint u = row[length + k];
            const uint2 other = heads[u];
            const uint blocks = PACKED_BLOCKS(other.y);
            if (blocks) {
                const uint units = min(blocks * BLOCK_UNITS, bound);
                uint4 words[STEPS];
                for (uint i = 0u; i < STEPS; ++i) {
                    const uint at = i * STREAM + part;
                    words[i] = at < units ? packed[other.x + at] : (uint4)(0u);
                }
                for (uint i = 0u; i < STEPS; ++i) {
                    const uint4 both = words[i] & bits_by_four[min(i * STREAM + part, DENSE / 128u - 1u)];
                    met += (uint)(popcount(both.s0) + popcount(both.s1) + popcount(both.s2) + popcount(both.s3));
                }
% if not config.beyond:
                if (v <= blocks * BLOCK) continue;
% endif
            }
            uint unit = other.x + blocks * BLOCK_UNITS + part;
            const uint end = unit - part + (PACKED_FEW(other.y) + PACKED_UNIT - 1u) / PACKED_UNIT;
            for (; unit < end; unit += STREAM) {
                const uint4 ranks = packed[unit];
                met += LOOK(ranks.s0) + LOOK(ranks.s1) + LOOK(ranks.s2) + LOOK(ranks.s3);
% if not config.beyond:
                if (ranks.s3 >> 16 >= v) break;
            }
% else:
                if (ranks.s3 >> 16 >= last) break;
            }
            if (near == length) continue;
            __global const uint *const far = rows + begins[u];
            const uint far_end = outs[u];
            for (uint j = PACKED_FEW(other.y) + PACKED_DENSE(other.y) + part; j < far_end; j += STREAM) {
                const uint x = far[j];
                if (x >= v) break;
                if (SHARED_WORD(x) >> (x & 31u) & 1u) {
                    const uint at = near + lower_bound(row + near, length - near, x);
                    met += at < length && row[at] == x;
                }
            }
% endif
        }
        total += met;
        unit_barrier();
        for (uint k = UNIT_ITEM; k < few; k += UNIT_ITEMS) UNMARK(own[k]);
        for (uint w = UNIT_ITEM; w < DENSE_WORDS; w += UNIT_ITEMS) bits[w] = 0u;
% if config.beyond:
        for (uint k = near + UNIT_ITEM; k < length; k += UNIT_ITEMS) SHARED_WORD(row[k]) = 0u;
        unit_barrier();
% endif
        }
    }
    ${sums.leave()}
}
