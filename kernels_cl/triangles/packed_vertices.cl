<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="units" file="/grid/units.mako"/>
<%namespace name="packed" file="/rows/packed.mako"/>
<%namespace name="columns" file="/rows/bit_columns.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
## Adds what the planes of a lane have counted to the tallies, and clears them. In place: a compiler for CPUs gave
## a function the planes of one work-item for all of them.
<%def name="columns_to_tally()">
for (uint i = 0u; i < LANE_WORDS; ++i) {
    for (uint left = columns_any(&columns[i]); left; left &= left - 1u) {
        const uint column = (uint)popcount(~left & (left - 1u));
        atomic_add(&tally[(i * LANES + lane_id()) * 32u + column], columns_count(&columns[i], column));
    }
    columns[i] = (columns_t){0u};
}
added = 0u;
</%def>\
// Triangles of vertices, x < v < u by rank, each at its middle vertex v, the owner, from packed rows.
//
// A group marks N+(v) in a table of bits and streams N+(u) past it for every u that v is in the row of,
// as packed.cl does. What each u has of N+(v) is added to u, and the sum of that to v. What each x is met
// is tallied by its rank in local memory, up to the TALLIES greatest hubs, and added to x at once beyond.
// Tallies and planes go on from owner to owner; only counts that 32 bits may not hold are added after each.
// Those are met seldom (2 of 53 million times in words on a Kronecker graph of scale 20), and so a hit
// takes no look at where its rank lies in the row of v.
//
// Blocks of ranks of rows that have many of them lie there as words of bits: a SIMD group compares
// them with the owner's four rows at a time, a word a lane, and counts bit by bit in planes of registers.
// Most of what is met is met there, and takes neither a look-up nor an atomic of its own.
//
// Work is claimed from a counter, greatest hubs first; no races: sums are integers.

${group.words()}
${units.declarations("group")}
${packed.declarations()}

#define WORDS ((PACKED_RANKS + 1u) / 32u)
#define STREAM ${config.stream}u        // work-items that walk one row side by side
#define ROWS (LANES / STREAM)           // that a SIMD group walks at a time
#define TALLIES ${config.tallies}u      // ranks that are tallied in local memory, DENSE or more
#define LANE_WORDS ((DENSE_WORDS + LANES - 1u) / LANES)    // words of bits of a lane
#define ROWS_OF_BITS max(ROWS, 4u)      // that are added between two looks at the planes
${columns.declarations(planes=config.planes)}
${sums.declarations(config.sum_bits)}\

${group.kernel()} triangles_packed_vertices(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    __local uint table[WORDS];
    __local uint tally[TALLIES];
    __local uint word;
    const uint part = UNIT_ITEM % STREAM;
    ulong total = 0ul;
    uint added = 0u;                            // rows that the planes have counted
    columns_t columns[LANE_WORDS];
    for (uint i = 0u; i < LANE_WORDS; ++i) columns[i] = (columns_t){0u};
    for (uint i = UNIT_ITEM; i < WORDS; i += UNIT_ITEMS) table[i] = 0u;
    for (uint i = UNIT_ITEM; i < TALLIES; i += UNIT_ITEMS) tally[i] = 0u;
    for (;;) {
        const uint item = unit_claim(&word, next + counter, 1u);
        if (${"1" if config.sum_bits == 64 else "item >= items"}) {
            ${columns_to_tally()}
            unit_barrier();
            for (uint x = UNIT_ITEM; x < TALLIES; x += UNIT_ITEMS) {
                if (tally[x]) SUM_ADD(found, x, tally[x]);
                tally[x] = 0u;
            }
        }
        if (item >= items) break;
        ${sums.owner()}
        __global const uint *const row = rows + begins[v];
        for (uint k = UNIT_ITEM; k < length; k += UNIT_ITEMS) {
            const uint x = row[k];
            atomic_or(&table[x >> 5], 1u << (x & 31u));
        }
        unit_barrier();
        uint met = 0u;

        const uint bound = (v + 31u) / 32u;     // words that have ranks before v
        uint own[LANE_WORDS];
        for (uint i = 0u; i < LANE_WORDS; ++i)
            own[i] = i * LANES + lane_id() < DENSE_WORDS ? table[i * LANES + lane_id()] : 0u;
        // A SIMD group takes as many vertices u at a time as STREAM work-items each may walk words of.
        const uint first_k = from + LANE_GROUP * ROWS + lane_id() / STREAM;
        uint next_u = first_k < to ? row[length + first_k] : v;
        uint2 next_head = first_k < to ? heads[next_u] : (uint2)(0u, 0u);
        for (uint base = from + LANE_GROUP * ROWS; base < to; base += GROUP_LANES * ROWS) {
            const uint u = next_u, k = base + GROUP_LANES * ROWS + lane_id() / STREAM;
            const uint2 head = next_head;
            next_u = k < to ? row[length + k] : v;
            next_head = k < to ? heads[next_u] : (uint2)(0u, 0u);
            const uint blocks = PACKED_BLOCKS(head.y);
            uint both = 0u;

            // Rows of bits: all lanes of the SIMD group take four at a time.
            const uint words = part == 0u ? min(blocks * BLOCK_WORDS, bound) : 0u;
            for (lanemask_t left = lane_ballot(words != 0u); left; added += 4u) {
                const uint one = lanemask_first(left);
                uint most = 0u;
% for r in range(4):
                // Where fewer rows are left, the first stands in for one without words.
                const uint lane${r} = left ? lanemask_first(left) : one;
                const uint its_words${r} = lane_shuffle(words, lane${r}), words${r} = left ? its_words${r} : 0u;
                __global const uint *const row${r} = (__global const uint *)(packed + lane_shuffle(head.x, lane${r}));
                most = max(most, words${r});
                left &= left - 1u;
% endfor
                uint two = 0u, others = 0u;     // two sums of at most DENSE each
                for (uint i = 0u; i < LANE_WORDS; ++i) {
                    if (i * LANES >= most) break;
                    const uint at = i * LANES + lane_id();
% for r in range(4):
                    const uint in${r} = at < words${r} ? row${r}[at] & own[i] : 0u;
% endfor
                    two += (uint)popcount(in0) + ((uint)popcount(in1) << 16);
                    others += (uint)popcount(in2) + ((uint)popcount(in3) << 16);
                    columns_add(&columns[i], in0, in1, in2, in3);
                }
                two = lane_reduce_add(two);
                others = lane_reduce_add(others);
% for r, sum in reversed(list(enumerate(["two & 0xffffu", "two >> 16", "others & 0xffffu", "others >> 16"]))):
                if (lane_id() == lane${r}) both = ${sum};
% endfor
            }
            if (added + ROWS_OF_BITS > COLUMNS_MOST) {
                ${columns_to_tally()}
                lane_converge();
            }

            // Words of 16 bits: STREAM work-items walk one row.
            uint unit = head.x + blocks * BLOCK_UNITS;
            // Nothing before v is in the words of a row that has all of that as bits.
            const uint few = v <= blocks * BLOCK ? 0u : PACKED_FEW(head.y);
            const uint end = unit + (few + PACKED_UNIT - 1u) / PACKED_UNIT;
            for (unit += part; unit < end; unit += STREAM) {
                const uint4 ranks = packed[unit];
                uint hits = 0u;                 // a bit for each of the eight that the owner has too
% for i in range(8):
                {
                    const uint x = ranks.s${i // 2} ${">> 16" if i % 2 else "& 0xffffu"};
                    hits |= (table[x >> 5] >> (x & 31u) & 1u) << ${i};
                }
% endfor
                both += (uint)popcount(hits);
                for (; hits; hits &= hits - 1u) {
                    const uint i = (uint)popcount(~hits & (hits - 1u));
                    const uint low = i & 2u ? ranks.s1 : ranks.s0, high = i & 2u ? ranks.s3 : ranks.s2;
                    const uint x = (i & 4u ? high : low) >> (i & 1u) * 16u & 0xffffu;
                    if (x < TALLIES) atomic_inc(&tally[x]);
                    else SUM_ADD(found, x, 1u);
                }
                if (ranks.s3 >> 16 >= v) break;
            }
            lane_converge();
            met += both;
            for (uint step = 1u; step < STREAM; step *= 2u) both += lane_shuffle(both, lane_id() ^ step);
            if (both && part == 0u) SUM_ADD(found, u, both);
        }
        total += met;
        lane_converge();
        met = lane_reduce_add(met);
        if (met && lane_id() == 0u) SUM_ADD(found, v, met);
        unit_barrier();
        for (uint k = UNIT_ITEM; k < length; k += UNIT_ITEMS) table[row[k] >> 5] = 0u;
    }
    ${sums.leave()}
}
