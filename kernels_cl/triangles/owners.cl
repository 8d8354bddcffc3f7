<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="units" file="/grid/units.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
// Triangles x < v < u, by rank, each at its middle vertex v, the owner.
//
// A unit marks the row of v up to v, N+(v), in a table of bits in local memory, and streams past it
// the part below v of N+(u) for every u that v is in the row of: as many probes as there are pairs in
// rows, which no other assignment of triangles to vertices undercuts. Ranks above the table's bits
// share bits; a hit is looked up in the row then. Long lists of such u are cut in pieces.
//
// Work is claimed from a counter, greatest hubs first. No races: each unit has its own table, and sums
// are integers.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}
${units.declarations(config.unit)}
${intersect.functions()}

#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
#define BITS ${config.bits}u
#define WORDS (BITS / 32u)
#define STREAM ${config.stream}u        // work-items that walk one row side by side
#define CHUNK ${config.chunk}u          // owners claimed at a time
#define TALLIES ${config.tallies}u      // edges of an owner counted in local memory
#define VERTEX(r) ${"vertices[r]" if config.renamed else "(r)"}

__kernel KERNEL void triangles_owners(
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict degrees,      // [n]
    __global const uint *restrict rows,         // [m] smaller ranks first, ascending
    const uint first,                           // owners from `first` on, in `items` pieces:
    const uint items,                           // `pieces` for each of the first `hubs`, else one
    const uint hubs,
    const uint pieces,
    __global uint *next,                        // [1] in/out, 0 on entry
    __global ulong *partial${"," if config.per != "total" else ")"}                    // [SIMD groups] in/out: triangles found
% if config.per == "vertex":
    __global ulong *found)                      // [n] in/out, by rank
% elif config.per == "edge":
    __global uint *found)                       // [m] in/out, by place in rows
% elif config.per == "owner":
    __global ulong *found)                      // [n] in/out, by rank: triangles in whose middle it is
% elif config.per == "list":
    __global const uint *restrict vertices,     // [n] by rank
    __global uint *cursor,                      // [1] in/out, 0 on entry
    const uint room,
    __global uint *found)                       // [3 * room] out
% endif
{
    ${lanes.setup()}
    __local uint tables[UNITS * WORDS];
    __local uint words[UNITS];
% if config.per == "edge":
    __local uint tallies[UNITS * TALLIES];
    __local uint *const tally = tallies + UNIT * TALLIES;
    for (uint i = UNIT_ITEM; i < TALLIES; i += UNIT_ITEMS) tally[i] = 0u;
% endif
    __local uint *const table = tables + UNIT * WORDS;
    ulong total = 0ul;
    for (uint i = UNIT_ITEM; i < WORDS; i += UNIT_ITEMS) table[i] = 0u;
    unit_barrier();
    for (;;) {
        const uint claim = unit_claim(&words[UNIT], next, CHUNK);
        if (claim >= items) break;
        const uint claim_end = min(claim + CHUNK, items);
        for (uint item = claim; item < claim_end; ++item) {
            const int hub = item < hubs * pieces;
            const uint v = first + (hub ? item / pieces : item - hubs * (pieces - 1u));
            const uint piece = hub ? item % pieces : 0u, of = hub ? pieces : 1u;
            const uint length = outs[v], above = degrees[v] - length;
            const uint from = (uint)((ulong)above * piece / of), to = (uint)((ulong)above * (piece + 1u) / of);
            if (length == 0u || from == to) continue;
            const offset_t row = begins[v];
            __global const uint *const mine = rows + row;
            for (uint k = UNIT_ITEM; k < length; k += UNIT_ITEMS) {
                const uint x = mine[k] & (BITS - 1u);
                atomic_or(&table[x >> 5], 1u << (x & 31u));
            }
            unit_barrier();
            uint met = 0u;
            for (uint k = from + UNIT_ITEM / STREAM; k < to; k += UNIT_ITEMS / STREAM) {
                const uint u = mine[length + k], row_length = outs[u];
                __global const uint *const theirs = rows + begins[u];
% if config.per == "edge":
                const uint below = lower_bound(theirs, row_length, v);
                uint both = 0u;
                for (uint j = UNIT_ITEM % STREAM; j < below; j += STREAM) {
                    const uint x = theirs[j];
% else:
                for (uint j = UNIT_ITEM % STREAM; j < row_length; j += STREAM) {
                    const uint x = theirs[j];
                    if (x >= v) break;
% endif
% if config.per == "total":
                    const uint hit = table[(x & (BITS - 1u)) >> 5] >> (x & 31u) & 1u;
% if config.exact:
                    met += hit;
% else:
                    if (hit) {
                        const uint at = lower_bound(mine, length, x);
                        met += at < length && mine[at] == x;
                    }
% endif
% else:
                    if (!(table[(x & (BITS - 1u)) >> 5] >> (x & 31u) & 1u)) continue;
% if config.per == "edge" or not config.exact:
                    const uint at = lower_bound(mine, length, x);
% endif
% if not config.exact:
                    if (at >= length || mine[at] != x) continue;
% endif
                    ++met;
% if config.per == "edge":
                    ++both;
                    atomic_inc(&found[begins[u] + j]);
                    if (at < TALLIES) atomic_inc(&tally[at]);
                    else atomic_inc(&found[row + at]);
% elif config.per == "vertex":
                    atom_inc(&found[u]);
                    atom_inc(&found[x]);
% elif config.per == "list":
                    const uint slot = atomic_inc(cursor);
                    if (slot < room) vstore3((uint3)(VERTEX(x), VERTEX(v), VERTEX(u)), slot, found);
% endif
% endif
                }
% if config.per == "edge":
                if (both) atomic_add(&found[begins[u] + below], both);
% endif
            }
            total += met;
% if config.per in ("vertex", "owner"):
            if (met) atom_add(&found[v], (ulong)met);
% endif
            unit_barrier();
            for (uint k = UNIT_ITEM; k < length; k += UNIT_ITEMS) table[(mine[k] & (BITS - 1u)) >> 5] = 0u;
% if config.per == "edge":
            for (uint k = UNIT_ITEM; k < min(length, TALLIES); k += UNIT_ITEMS) {
                if (tally[k]) atomic_add(&found[row + k], tally[k]);
                tally[k] = 0u;
            }
% endif
            unit_barrier();
        }
    }
    lane_converge();
    total = lane_reduce_add_ulong(total);
    if (lane_id() == 0u) partial[(uint)get_group_id(0) * GROUP_LANES + LANE_GROUP] += total;
}
