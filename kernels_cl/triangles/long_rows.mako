## long_rows: rows of more than SHORT_ROW ranks sorted by a work-group each, by setting bits.
##
## kernel()      orient_long_rows
## In scope      takes: what each kernel takes; config.packed: whether rows are packed too
## Local memory  WINDOW bits

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>

<%def name="kernel()">\
// The others, each by a work-group, which sorts by setting bits, a window of ranks at a time.
${group.kernel()} orient_long_rows(
${signature.parameters(takes["long_rows"], last=True)}\
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
                const uint x = ranks[indices[${row_at.stored("begin", "v")} + k]];
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
</%def>
