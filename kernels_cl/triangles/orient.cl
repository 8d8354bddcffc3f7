<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="scans" file="/group/lane_scan.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="packed" file="/rows/packed.mako"/>
// Every edge turned from its end of the greater rank to that of the smaller one.
//
// By degree, rank 0 is the greatest hub, so that rows are short; degrees of 2,048 and more share a
// rank's bucket with those within 1/128 of an octave. By id, the rank is the number. A row holds the
// smaller ranks first, ascending (where edges lead to), and then the greater ones, in any order.
//
% if config.packed:
// Rows are also packed, for what streams them: their ranks below 65,535 as 16-bit words in units of
// eight, the last filled up with 0xffff. Row of vertex v: from unit indptr[v] / 8 + v on, which no two
// rows share. The first blocks of ranks that a long row has BLOCK_LEAST of or more come first, as bits.
//
% endif
// Race: ranks within a bucket go to whoever comes first, so they differ from run to run; what is
// counted does not.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}
${intersect.functions()}
% if config.packed:
${packed.declarations()}
% endif

#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
#define BUCKETS ${BUCKETS}u
#define SHORT_ROW ${SHORT_ROW}u          // rows of more edges are done by a work-group
% if config.tiny:
#define TINY_ROW ${config.tiny}u
% endif
#define WINDOW ${WINDOW}u                // ranks that a work-group sorts at a time
#define WORDS (WINDOW / 32u)
#define BATCH max(LANES / 4u, 1u)        // short rows that a SIMD group looks up at a time
#define NOTHING 0xffffffffu             // no rank
#define SPREAD (${SPREAD}u * LANES)
% if config.packed:
#define LAST_WORD (PACKED_RANKS / 32u)   // of bits of ranks that are packed
#define LAST_MASK ((1u << PACKED_RANKS % 32u) - 1u)
% endif
#define RANK(v) ${"ranks[v]" if config.renamed else "(v)"}

static inline uint bucket_of(const uint degree) {
    if (degree < 2048u) return degree;
    const uint octave = 31u - clz(degree);
    return 2048u + (octave - 11u) * 128u + (degree >> (octave - 7u) & 127u);
}

// The vertex, from `low` on and below `high`, that the edge stored at a place goes out from.
static inline uint vertex_of(
    __global const offset_t *restrict indptr, uint low, uint high, const offset_t place
) {
    while (high - low > 1u) {
        const uint middle = low + (high - low) / 2u;
        if (indptr[middle] <= place) low = middle;
        else high = middle;
    }
    return low;
}

// Whether rows hold an edge to their own vertex or one edge twice; neither may be there.
__kernel KERNEL void orient_check(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m] ascending in each row
    const uint n,
    __global uint *faults)                      // [2] in/out, 0 on entry: loops, repeats
{
    <%share:each_item count="n">
        const uint v = item;
        uint loops = 0u, repeats = 0u;
        for (offset_t e = indptr[v]; e < indptr[v + 1]; ++e) {
            loops += indices[e] == v;
            repeats += e > indptr[v] && indices[e] == indices[e - 1];
        }
        if (loops) atomic_add(&faults[0], loops);
        if (repeats) atomic_add(&faults[1], repeats);
    </%share:each_item>
}

// By id: rows are in order as they are.
__kernel KERNEL void orient_by_id(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m] ascending in each row
    const uint n,
    __global offset_t *begins,                  // [n] out: where a row begins
    __global uint *outs,                        // [n] out: edges to smaller ranks
    __global uint *degrees)                     // [n] out
{
    <%share:each_item count="n">
        const offset_t begin = indptr[item];
        const uint degree = (uint)(indptr[item + 1] - begin);
        begins[item] = begin;
        degrees[item] = degree;
        outs[item] = lower_bound(indices + begin, degree, item);
    </%share:each_item>
}

__kernel KERNEL void orient_histogram(
    __global const offset_t *restrict indptr,   // [n + 1]
    const uint n,
    __global uint *counts)                      // [BUCKETS] in/out, 0 on entry
{
    __local uint mine[BUCKETS];
    const uint lid = (uint)get_local_id(0);
    for (uint b = lid; b < BUCKETS; b += GROUP_SIZE) mine[b] = 0u;
    group_barrier();
    <%share:each_item count="n">
        atomic_inc(&mine[bucket_of((uint)(indptr[item + 1] - indptr[item]))]);
    </%share:each_item>
    group_barrier();
    for (uint b = lid; b < BUCKETS; b += GROUP_SIZE)
        if (mine[b]) atomic_add(&counts[b], mine[b]);
}

// Where each bucket begins, the greatest degree first. One group, whose SIMD groups have a stretch each.
__kernel KERNEL void orient_starts(
    __global uint *counts)                      // [BUCKETS] in/out: counts, then starts
{
    ${lanes.setup()}
    __local uint sums[GROUP_LANES];
    const uint stretch = (BUCKETS + GROUP_LANES - 1u) / GROUP_LANES;
    const uint first = min(LANE_GROUP * stretch, BUCKETS), end = min(first + stretch, BUCKETS);
    uint count = 0u;
    for (uint at = first + lane_id(); at < end; at += LANES) count += counts[BUCKETS - 1u - at];
    lane_converge();
    count = lane_reduce_add(count);
    if (lane_id() == 0u) sums[LANE_GROUP] = count;
    group_barrier();
    uint before = 0u;
    for (uint i = 0u; i < LANE_GROUP; ++i) before += sums[i];
    for (uint base = first; base < end; base += LANES) {
        const uint at = base + lane_id();
        const uint own = at < end ? counts[BUCKETS - 1u - at] : 0u;
        const uint scanned = lane_scan_inclusive_add(own);
        if (at < end) counts[BUCKETS - 1u - at] = before + scanned - own;
        before += lane_broadcast(scanned, LANES - 1u);
    }
}

// `long_rows` gets the number of rows with more than SHORT_ROW edges: the first so many ranks.
__kernel KERNEL void orient_rank(
    __global const offset_t *restrict indptr,   // [n + 1]
    const uint n,
    __global uint *starts,                      // [BUCKETS] in/out: what is left of each bucket
    __global uint *ranks,                       // [n] out, by vertex
    __global uint *vertices)                    // [n] out, by rank
{
    __local uint mine[BUCKETS];
    const uint lid = (uint)get_local_id(0);
    for (uint b = lid; b < BUCKETS; b += GROUP_SIZE) mine[b] = 0u;
    group_barrier();
    {
        <%share:each_item count="n">
            atomic_inc(&mine[bucket_of((uint)(indptr[item + 1] - indptr[item]))]);
        </%share:each_item>
    }
    group_barrier();
    for (uint b = lid; b < BUCKETS; b += GROUP_SIZE)
        if (mine[b]) mine[b] = atomic_add(&starts[b], mine[b]);
    group_barrier();
    {
        <%share:each_item count="n">
            const uint r = atomic_inc(&mine[bucket_of((uint)(indptr[item + 1] - indptr[item]))]);
            ranks[item] = r;
            vertices[r] = item;
        </%share:each_item>
    }
}

% if config.tiny:
// Rows of at most TINY_ROW edges, each by as many lanes, which compare what each of them has.
__kernel KERNEL void orient_tiny_rows(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global const uint *restrict starts,       // [BUCKETS] what is left of each bucket: its end
    __global const uint *restrict ranks,        // [n]
    __global const uint *restrict vertices,     // [n]
    __global offset_t *begins,                  // [n] out
    __global uint *outs,                        // [n] out
    __global uint *degrees,                     // [n] out
    __global uint *rows${"," if config.packed else ")"}                       // [m] out
% if config.packed:
    __global uint2 *heads,                      // [n] out, by rank: first unit, and PACKED_ counts
    __global ushort *packed)                    // [8 (m / 8 + n + 1)] out
% endif
{
    ${lanes.setup()}
    const uint end = starts[1u];            // buckets of more edges have ended there
    const uint part = lane_id() % TINY_ROW, tile = lane_id() - part;
    const lanemask_t mates = (ALL_LANES >> (LANES - TINY_ROW)) << tile;
    uint base = starts[TINY_ROW + 1u] + ((uint)get_group_id(0) * GROUP_LANES + LANE_GROUP) * (LANES / TINY_ROW);
    for (; base < end; base += (uint)get_global_size(0) / TINY_ROW) {
        const uint r = base + lane_id() / TINY_ROW;
        const int there = r < end;
        const uint v = there ? vertices[r] : 0u;
        const offset_t begin = there ? indptr[v] : 0;
        const uint degree = there ? (uint)(indptr[v + 1u] - begin) : 0u;
        const uint x = part < degree ? ranks[indices[begin + part]] : NOTHING;
        uint place = 0u;
        for (uint i = 0u; i < TINY_ROW; ++i) place += lane_shuffle(x, tile + i) < x;
        const uint below = lanemask_count(lane_ballot(x < r) & mates);
        if (part < degree) rows[begin + place] = x;
% if config.packed:
        const uint few = lanemask_count(lane_ballot(x < min(r, PACKED_RANKS)) & mates);
        const uint unit = PACKED_BEGIN(begin, v);
        __global ushort *const words = packed + (size_t)unit * PACKED_UNIT;
        if (x < min(r, PACKED_RANKS)) words[place] = (ushort)x;
        packed_fill(words, few, part, TINY_ROW);
% endif
        if (part == 0u && there) {
% if config.packed:
            heads[r] = (uint2)(unit, few);
% endif
            begins[r] = begin;
            outs[r] = below;
            degrees[r] = degree;
        }
    }
    // Vertices without edges.
    for (uint r = end + (uint)get_global_id(0); r < n; r += (uint)get_global_size(0)) {
% if config.packed:
        heads[r] = (uint2)(0u, 0u);
% endif
        begins[r] = 0;
        outs[r] = 0u;
        degrees[r] = 0u;
    }
}

% endif
// Rows of at most SHORT_ROW edges, each by a SIMD group, which sorts by counting smaller ones. Of a few
// rows at a time a lane each knows where it lies and what there was in it.
__kernel KERNEL void orient_short_rows(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global const uint *restrict starts,       // [BUCKETS] what is left of each bucket: its end
    __global const uint *restrict ranks,        // [n]
    __global const uint *restrict vertices,     // [n]
    __global offset_t *begins,                  // [n] out
    __global uint *outs,                        // [n] out
    __global uint *degrees,                     // [n] out
    __global uint *rows${"," if config.packed else ")"}                       // [m] out
% if config.packed:
    __global uint2 *heads,                      // [n] out, by rank: first unit, and PACKED_ counts
    __global ushort *packed)                    // [8 (m / 8 + n + 1)] out
% endif
{
    ${lanes.setup()}
    __local uint4 kept[GROUP_LANES * SHORT_ROW / 4u];
    __local uint4 *const smaller_by_four = kept + LANE_GROUP * (SHORT_ROW / 4u);
    __local uint *const smaller = (__local uint *)smaller_by_four;
    const uint units = (uint)get_num_groups(0) * GROUP_LANES;
    const uint first = starts[SHORT_ROW + 1u];  // buckets of more edges have ended there
% if config.tiny:
    const uint end = starts[TINY_ROW + 1u];
% else:
    const uint end = n;
% endif
    uint batch = first + ((uint)get_group_id(0) * GROUP_LANES + LANE_GROUP) * BATCH;
    for (; batch < end; batch += units * BATCH) {
        const uint mine = batch + lane_id();
        const int known = lane_id() < BATCH && mine < end;
        const uint my_vertex = known ? vertices[mine] : 0u;
        const offset_t my_begin = known ? indptr[my_vertex] : 0u;
        const uint my_degree = known ? (uint)(indptr[my_vertex + 1u] - my_begin) : 0u;
        uint my_below = 0u;
% if config.packed:
        const uint my_unit = PACKED_BEGIN(my_begin, my_vertex);
        uint my_few = 0u;                       // ranks that are packed
% endif
        for (lanemask_t left = lane_ballot(my_degree != 0u); left; left &= left - 1u) {
            const uint owner = lanemask_first(left);
            const uint r = batch + owner;
            const offset_t begin = SHUFFLE_OFFSET(my_begin, owner);
            const uint degree = lane_shuffle(my_degree, owner);
            uint below = 0u, above = 0u;
% if config.packed:
            uint few = 0u;
% endif
            for (uint k = 0u; k < degree; k += LANES) {
                const uint at = k + lane_id();
                const uint x = at < degree ? ranks[indices[begin + at]] : r;
                const lanemask_t low = lane_ballot(x < r), high = lane_ballot(x > r);
                if (x < r) smaller[below + lanemask_count(low & lane_mask_lt())] = x;
                if (x > r) rows[begin + degree - 1u - above - lanemask_count(high & lane_mask_lt())] = x;
% if config.packed:
                few += lanemask_count(lane_ballot(x < min(r, PACKED_RANKS)));
% endif
                below += lanemask_count(low);
                above += lanemask_count(high);
            }
            const uint fours = (below + 3u) / 4u;
            for (uint k = below + lane_id(); k < 4u * fours; k += LANES) smaller[k] = NOTHING;
            lane_converge();
% if config.packed:
            __global ushort *const words = packed + (size_t)lane_shuffle(my_unit, owner) * PACKED_UNIT;
% endif
            for (uint k = lane_id(); k < below; k += LANES) {
                const uint x = smaller[k];
                uint place = 0u;
                for (uint i = 0u; i < fours; ++i) {
                    const uint4 others = smaller_by_four[i];
                    place += (others.s0 < x) + (others.s1 < x) + (others.s2 < x) + (others.s3 < x);
                }
                rows[begin + place] = x;
% if config.packed:
                if (x < PACKED_RANKS) words[place] = (ushort)x;
% endif
            }
% if config.packed:
            packed_fill(words, few, lane_id(), LANES);
            if (lane_id() == owner) my_few = few;
% endif
            if (lane_id() == owner) my_below = below;
            lane_converge();
        }
        if (known) {
% if config.packed:
            heads[mine] = (uint2)(my_unit, my_few);
% endif
            begins[mine] = my_begin;
            outs[mine] = my_below;
            degrees[mine] = my_degree;
        }
    }
}

// The others, each by a work-group, which sorts by setting bits, a window of ranks at a time.
__kernel KERNEL void orient_long_rows(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    __global uint *starts,                      // [BUCKETS + 1] in/out: the last is the next row, 0 on entry
    __global const uint *restrict ranks,        // [n]
    __global const uint *restrict vertices,     // [n]
    __global offset_t *begins,                  // [n] out
    __global uint *outs,                        // [n] out
    __global uint *degrees,                     // [n] out
    __global uint *rows${"," if config.packed else ")"}                       // [m] out
% if config.packed:
    __global uint2 *heads,                      // [n] out, by rank: first unit, and PACKED_ counts
    __global ushort *packed)                    // [8 (m / 8 + n + 1)] out
% endif
{
    ${lanes.setup()}
    __local uint bits[WORDS];
    __local uint sums[GROUP_LANES + 1u];
    __local uint claimed, above;
% if config.packed:
    __local uint near;                          // ranks of a row that may be packed, if it has others
% endif
    const uint lid = (uint)get_local_id(0);
    const uint end = starts[SHORT_ROW + 1u];
    for (uint i = lid; i < WORDS; i += GROUP_SIZE) bits[i] = 0u;
    for (;;) {
        group_barrier();
        if (lid == 0u) {
            claimed = atomic_inc(&starts[BUCKETS]);
            above = 0u;
% if config.packed:
            near = NOTHING;
% endif
        }
        group_barrier();
        const uint r = claimed;
        if (r >= end) break;
        const uint v = vertices[r];
        const offset_t begin = indptr[v];
        const uint degree = (uint)(indptr[v + 1] - begin);
        uint below = 0u;
% if config.packed:
        const uint unit = PACKED_BEGIN(begin, v);
        __global ushort *const mine = packed + (size_t)unit * PACKED_UNIT;
        uint dense = 0u, blocks = 0u, few = 0u; // ranks that are bits, their blocks, and ranks that are words
% endif
        for (uint window = 0u; window == 0u || window < r; window += WINDOW) {
            for (uint k = lid; k < degree; k += GROUP_SIZE) {
                const uint x = ranks[indices[begin + k]];
                if (x < r && x - window < WINDOW) atomic_or(&bits[(x - window) >> 5], 1u << (x & 31u));
                if (x > r && window == 0u) rows[begin + degree - 1u - atomic_inc(&above)] = x;
            }
            group_barrier();
% if config.packed:
            if (window == 0u) {                 // all that may be packed are in it
                for (; blocks < BLOCKS; ++blocks) {
                    uint low = 0u;
                    for (uint w = lane_id(); w < BLOCK_WORDS; w += LANES)
                        low += (uint)popcount(bits[blocks * BLOCK_WORDS + w]);
                    low = lane_reduce_add(low);
                    // Bits may take more room than words: that of ranks which are not packed.
                    if (low < BLOCK_LEAST || (blocks + 1u) * BLOCK_PLACES + (degree - above - dense - low) > degree) break;
                    dense += low;
                }
            }
% endif
            // Each SIMD group has a stretch of words; lanes take them in turn.
            const uint words = r - window < WINDOW ? (r - window + 31u) / 32u : WORDS;
            const uint stretch = (words + GROUP_LANES - 1u) / GROUP_LANES;
            const uint word0 = min(LANE_GROUP * stretch, words), word1 = min(word0 + stretch, words);
            uint count = 0u;
            for (uint w = word0 + lane_id(); w < word1; w += LANES) count += popcount(bits[w]);
            count = lane_reduce_add(count);
            if (lane_id() == 0u) sums[LANE_GROUP] = count;
            group_barrier();
            uint place = below;
            for (uint i = 0u; i < GROUP_LANES; ++i) {
                place += i < LANE_GROUP ? sums[i] : 0u;
                below += sums[i];
            }
            for (uint w = word0; w < word1; w += LANES) {
                const uint at = w + lane_id();
                uint word = at < word1 ? bits[at] : 0u;
                const uint scanned = lane_scan_inclusive_add((uint)popcount(word));
                uint put = place + scanned - (uint)popcount(word);
                place += lane_broadcast(scanned, LANES - 1u);
                if (word) bits[at] = 0u;
% if config.packed:
                const int as_bits = window == 0u && at < blocks * BLOCK_WORDS;
                if (as_bits && at < word1) ((__global uint *)mine)[at] = word;
                if (window == 0u && at == LAST_WORD && at < word1) near = put + (uint)popcount(word & LAST_MASK);
% endif
                for (; word; word &= word - 1u) {
                    const uint x = window + at * 32u + (uint)popcount(~word & (word - 1u));
% if config.packed:
                    if (window == 0u && !as_bits && x < PACKED_RANKS) mine[put + blocks * BLOCK_PLACES - dense] = (ushort)x;
% endif
                    rows[begin + put++] = x;
                }
            }
            group_barrier();
% if config.packed:
            if (window == 0u) {
                for (uint w = words + lid; w < blocks * BLOCK_WORDS; w += GROUP_SIZE) ((__global uint *)mine)[w] = 0u;
                few = min(near, below) - dense;
                packed_fill(mine + blocks * BLOCK_PLACES, few, lid, GROUP_SIZE);
            }
% endif
        }
        if (lid == 0u) {
% if config.packed:
            heads[r] = (uint2)(unit, PACKED_COUNTS(few, dense, blocks));
% endif
            begins[r] = begin;
            outs[r] = below;
            degrees[r] = degree;
        }
    }
}

// What was found of each edge, to both places where the graph stores it: each place looks its edge up
// in the row of the greater rank, which is short. A SIMD group takes SPREAD places at a time and finds
// the vertices they are of between those of its first and its last.
__kernel KERNEL void orient_spread(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global const uint *restrict ranks,        // [n]
    __global const offset_t *restrict begins,   // [n]
    __global const uint *restrict outs,         // [n]
    __global const uint *restrict rows,         // [m]
    __global const uint *restrict found,        // [m] by place in rows
    __global uint *spread)                      // [m] out, by place in indices
{
    ${lanes.setup()}
    const offset_t m = indptr[n];
    const offset_t units = (offset_t)get_num_groups(0) * GROUP_LANES;
    offset_t place = ((offset_t)get_group_id(0) * GROUP_LANES + LANE_GROUP) * SPREAD;
    for (; place < m; place += units * SPREAD) {
        const offset_t end = min(place + SPREAD, m);
        const uint low = vertex_of(indptr, 0u, n, place), high = vertex_of(indptr, low, n, end - 1u) + 1u;
        for (offset_t e = place + lane_id(); e < end; e += LANES) {
            const uint a = RANK(vertex_of(indptr, low, high, e)), b = RANK(indices[e]);
            const uint u = max(a, b), v = min(a, b);
            const offset_t begin = begins[u];
            spread[e] = found[begin + lower_bound(rows + begin, outs[u], v)];
        }
    }
}
