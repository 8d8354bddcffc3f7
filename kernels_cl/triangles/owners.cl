<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="units" file="/grid/units.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="abreast" file="/triangles/abreast.mako"/>
<%namespace name="sides" file="/triangles/sides.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
// Triangles x < v < u, by rank, each at its middle vertex v, the owner.
//
// A unit marks the row of v up to v, N+(v), in a table of bits in local memory, and streams past it
// the part below v of N+(u) for every u that v is in the row of: as many probes as there are pairs in
// rows, which no other assignment of triangles to vertices undercuts. Ranks above the table's bits
// share bits; a hit is looked up in the row then. Long lists of such u are cut in pieces.
//
// Rows are read WIDTH ranks at a time from aligned places, since loads, not probes, are what takes
// time; what such a load has before the row is skipped, and nothing behind v is looked at.
//
// What is counted of x goes to a tally of the owner's row in local memory: its place there is that of
// the first rank in the same word of the table, and the bits below it. What is counted of u, or of
// its edge to v, is summed over the list. So only (x, u) costs a global atomic for each triangle.
//
// Work is claimed from a counter, greatest hubs first. Of the last owners, who have little to do and wait
// for memory most of the time, a SIMD group has several abreast, each with lanes and a table of its own.
// No races: sums are integers.

${group.words()}
${units.declarations(config.unit)}
${intersect.functions()}
${abreast.declarations(config.abreast)}\
% if config.per in ("vertex", "owner"):
${sums.declarations(config.sum_bits)}\
% endif

#define BITS ${config.bits}u
#define WORDS (BITS / 32u)
#define STREAM ${config.stream}u        // work-items that walk one row side by side
#define CHUNK ${config.chunk}u          // owners claimed at a time
#define TALLIES ${config.tallies}u      // edges of an owner counted in local memory
#define WIDTH ${config.width}u          // ranks of a load
#define AHEAD ((STREAM - 1u) * WIDTH)   // by so many places may a work-item be behind v
<%
    tallied = config.per in ("vertex", "edge")
    places = (tallied or config.per == "sides") and config.exact
    word_t = "ushort" if config.bits <= 65536 else "uint"
%>\
#define VERTEX(r) ${"vertices[r]" if config.renamed else "(r)"}
#define NO_EDGE 0xffffffffu

${group.kernel()} triangles_owners(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    __local uint tables[UNITS * ABREAST * WORDS];
    __local uint words[UNITS];
% if tallied:
    __local uint tallies[UNITS * ABREAST * TALLIES];
    __local uint *const tally = tallies + OWNED * TALLIES;
    for (uint i = ITEM; i < TALLIES; i += ITEMS) tally[i] = 0u;
% endif
% if places:
    __local ${word_t} firsts[UNITS * WORDS];    // place in the row of a word's first rank
    __local ${word_t} *const first_of = firsts + UNIT * WORDS;
% endif
    __local uint *const table = tables + OWNED * WORDS;
    ulong total = 0ul;
    for (uint i = ITEM; i < WORDS; i += ITEMS) table[i] = 0u;
    unit_barrier();
    for (;;) {
        const uint claim = unit_claim(&words[UNIT], next + counter, CHUNK);
        if (claim >= items) break;
        const uint claim_end = min(claim + CHUNK, items);
% if config.sifted:
        // Each lane looks at one of them: many of the last ones have too few edges to be in a middle.
        const uint looked = min(claim + lane_id(), items - 1u);
        const uint its_length = outs[first + looked], its_above = degrees[first + looked] - its_length;
        lanemask_t left = lane_ballot(claim + lane_id() < claim_end && its_length && its_above);
        while (left) {
            ${abreast.next("left")}
            const uint v = first + claim + one;
            const uint its = lane_shuffle(its_length, one), rows_above = lane_shuffle(its_above, one);
            const uint length = there ? its : 0u, from = 0u, to = there ? rows_above : 0u;
% else:
        for (uint item = claim; item < claim_end; ++item) {
            ${sums.owner()}
% endif
            const offset_t row = begins[v];
            __global const uint *const mine = rows + row;
            for (uint k = ITEM; k < length; k += ITEMS) {
                const uint x = mine[k] & (BITS - 1u);
                atomic_or(&table[x >> 5], 1u << (x & 31u));
% if places:
                if (k == 0u || mine[k - 1u] >> 5 != x >> 5) first_of[x >> 5] = (${word_t})k;
% endif
            }
            unit_barrier();
            uint met = 0u;
            for (uint k = from + ITEM / STREAM; k < to; k += ITEMS / STREAM) {
                const uint u = mine[length + k];
                const offset_t begin = begins[u], end = begin + outs[u];
                offset_t j = begin / WIDTH * WIDTH + ITEM % STREAM * WIDTH;
                uint both = 0u;
                int before = 1;                 // whether v is still to come
% if config.per == "sides":
                uint between = NO_EDGE;         // number of the edge from u to v
% endif
                for (; j < end; j += STREAM * WIDTH) {
% if config.width == 4:
                    const uint4 ranks = *(__global const uint4 *)(rows + j);
% else:
                    const uint ranks = rows[j];
% endif
% for i in range(config.width):
                    {
                        const uint x = ranks${f".s{i}" if config.width > 1 else ""};
% if config.width > 1:
                        const int inside = j + ${i}u >= begin;
                        before &= !inside | (x < v);
                        const int asked = before & inside;
% else:
                        before = x < v;
                        const int asked = before;
% endif
                        const uint bit = 1u << (x & 31u), word = table[(x & (BITS - 1u)) >> 5];
% if config.per == "total" and config.exact:
                        both += asked && (word & bit);
% else:
                        if (asked && (word & bit)) {
% if places:
                            const uint at = first_of[x >> 5] + (uint)popcount(word & (bit - 1u));
% elif not config.exact:
                            const uint at = lower_bound(mine, length, x);
                            if (at < length && mine[at] == x)
% endif
                            {
                                ++both;
% if config.per == "edge":
                                atomic_inc(&found[j + ${i}u]);
                                if (at < TALLIES) atomic_inc(&tally[at]);
                                else atomic_inc(&found[row + at]);
% elif config.per == "vertex":
                                if (at < TALLIES) atomic_inc(&tally[at]);
                                else SUM_ADD(found, x, 1u);
% elif config.per == "list":
                                const uint slot = atomic_inc(cursor);
                                if (slot < room) vstore3((uint3)(VERTEX(x), VERTEX(v), VERTEX(u)), slot, found);
% elif config.per == "sides":
                                if (between == NO_EDGE) between = numbered[u] + lower_bound(rows + begin, outs[u], v);
                                ${sides.put("between", f"numbered[u] + (uint)(j + {i}u - begin)", "numbered[v] + at")}
% endif
                            }
                        }
% endif
                    }
% endfor
                    if (!before) break;
                }
                met += both;
% if config.per == "vertex":
                if (both) SUM_ADD(found, u, both);
% elif config.per == "edge":
                if (both) {
                    const offset_t low = j > begin + AHEAD ? j - AHEAD : begin;
                    const uint span = (uint)(min(j + WIDTH, end) - low);
                    atomic_add(&found[low + lower_bound(rows + low, span, v)], both);
                }
% endif
            }
            total += met;
% if config.per in ("vertex", "owner"):
            lane_converge();
            ${abreast.add_up("met", config.abreast)}
            if (met && ITEM % LANES == 0u) SUM_ADD(found, v, met);
% endif
            unit_barrier();
            for (uint k = ITEM; k < length; k += ITEMS) table[(mine[k] & (BITS - 1u)) >> 5] = 0u;
% if tallied:
            for (uint k = ITEM; k < min(length, TALLIES); k += ITEMS) {
% if config.per == "edge":
                if (tally[k]) atomic_add(&found[row + k], tally[k]);
% else:
                if (tally[k]) SUM_ADD(found, mine[k], tally[k]);
% endif
                tally[k] = 0u;
            }
% endif
            unit_barrier();
        }
    }
    ${sums.leave()}
}
