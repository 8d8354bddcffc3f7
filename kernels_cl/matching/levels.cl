<%namespace name="shared" file="/matching/shared.mako"/>\
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
// Arcs by their distance from a vertex: of the query as masks, of the target as the query arcs that
// they can stand for. One work-group, a SIMD group wide, searches from one vertex after another.
//
// The queries of a batch are one graph: their vertices are rows, their arcs lie one query after the
// other, and each query's bits begin in a word of their own.
//
// Races: several lanes may reach a vertex together, all of which then write the same level (query), or
// of which one wins the bit (target).

${shared.prologue()}
#define FAR 0xffffffffu

// Arcs of level l leave vertices at distance l - 1. A status array is enough: queries are small.
__kernel KERNEL void matching_query_levels(
    __global const uint *restrict query_indptr,     // [rows + 1]
    __global const uint *restrict query_indices,    // [arcs], rows
    const uint rows,
    __global const uint *restrict row_query,        // [rows]
    __global const uint *restrict query_first,      // [queries + 1], rows
    __global const uint *restrict query_words,      // [queries + 1], words of arc bits
    __global const ulong *restrict mask_first,      // [rows]
    const uint levels,
    const uint largest,                             // rows of a query
    __global uint *restrict scratch,                // [groups, largest]
    __global uint *restrict masks,                  // [sum over rows of levels * words] out
    __global uint *restrict weighted_arcs)          // [rows] out, sum over levels of level * arcs
{
    ${lanes.setup()}
    __global uint *const level_of = scratch + (ulong)get_group_id(0) * largest;
    for (uint row = (uint)get_group_id(0); row < rows; row += (uint)get_num_groups(0)) {
        const uint query = row_query[row], first = query_first[query];
        const uint size = query_first[query + 1] - first;
        const uint words = query_words[query + 1] - query_words[query];
        const uint first_arc = query_indptr[first];
        __global uint *const mask = masks + mask_first[row];
        for (uint u = lane_id(); u < size; u += LANES) level_of[u] = first + u == row ? 0u : FAR;
        for (uint i = lane_id(); i < levels * words; i += LANES) mask[i] = 0u;
        lane_converge();
        uint total = 0u;
        for (uint level = 1u; level <= levels; ++level) {
            for (uint u = lane_id(); u < size; u += LANES) {
                if (level_of[u] != level - 1u) continue;
                for (uint e = query_indptr[first + u]; e < query_indptr[first + u + 1u]; ++e) {
                    const uint arc = e - first_arc;
                    atomic_or(&mask[(level - 1u) * words + arc / 32u], 1u << arc % 32u);
                    atomic_min(&level_of[query_indices[e] - first], level);
                    total += level;
                }
            }
            lane_converge();
        }
        const uint sum = lane_reduce_add(total);
        if (lane_id() == 0u) weighted_arcs[row] = sum;
        lane_converge();
    }
}

// By vertices: the query arcs that arcs leaving a vertex can stand for are known, and are united.
// By arcs: every arc that is visited is compared with the query arcs between its ends' candidates.
__kernel KERNEL void matching_target_levels(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    const uint n,
% if by_arcs:
    __global const uint *restrict candidates,       // [node_words, n] bits of rows
    const uint node_words,
    __global const uint *restrict word_rows,        // [node_words], first row of each word
    __global const uint *restrict query_indptr,     // [rows + 1]
    __global const uint *restrict query_indices,    // [arcs], rows
    __global const uint *restrict row_words,        // [rows], of node bits
    __global const uint *restrict row_query,        // [rows]
    __global const uint *restrict query_first,      // [queries + 1], rows
    __global const uint *restrict query_words,      // [queries + 1], words of arc bits
% endif
    const uint levels,
    const uint first_word,                          // of this tile of words of arc bits
    const uint words,
    __global uint *restrict queues,                 // [groups, n]
    __global uint *restrict visited,                // [groups, ceil(n / 32)], 0 on entry and exit
    __global uint *found)                           // [levels, words, n] out; by vertices [0] is in
{
    ${lanes.setup()}
    __local uint tail;
    const uint bitmap_words = (n + 31u) / 32u;
    __global uint *const queue = queues + (ulong)get_group_id(0) * n;
    __global uint *const seen = visited + (ulong)get_group_id(0) * bitmap_words;
    for (uint t = (uint)get_group_id(0); t < n; t += (uint)get_num_groups(0)) {
        if (lane_id() == 0u) {
            queue[0] = t;
            seen[t / 32u] |= 1u << t % 32u;
            tail = 1u;
        }
        lane_converge();
        uint head = 0u, end = 1u;
        for (uint level = 1u; level <= levels; ++level) {
            __global uint *const united = found + (ulong)(level - 1u) * words * n + t;
% if by_arcs:
            for (uint w = lane_id(); w < words; w += LANES) united[(ulong)w * n] = 0u;
            lane_converge();
            for (uint i = head; i < end; ++i) {
                const uint x = queue[i];
                for (offset_t e = indptr[x] + lane_id(); e < indptr[x + 1u]; e += LANES) {
                    const uint y = indices[e];
                    for (uint slot = 0u; slot < node_words; ++slot) {
                        uint left = candidates[(ulong)slot * n + x];
                        while (left) {
                            const uint bit = popcount(~left & (left - 1u));
                            left &= left - 1u;
                            const uint u = word_rows[slot] + bit, query = row_query[u];
                            const uint origin = query_first[query], first_arc = query_indptr[origin];
                            for (uint a = query_indptr[u]; a < query_indptr[u + 1u]; ++a) {
                                const uint v = query_indices[a], arc = a - first_arc;
                                const uint at = candidates[(ulong)row_words[v] * n + y];
                                const uint w = query_words[query] + arc / 32u - first_word;
                                if (w < words && at >> (v - origin) % 32u & 1u) {
                                    atomic_or(&united[(ulong)w * n], 1u << arc % 32u);
                                }
                            }
                        }
                    }
                }
            }
% else:
            for (uint w = lane_id(); level > 1u && w < words; w += LANES) {
                uint bits = 0u;
                for (uint i = head; i < end; ++i) bits |= found[(ulong)w * n + queue[i]];
                united[(ulong)w * n] = bits;
            }
% endif
            for (uint i = head; i < end && level < levels; ++i) {
                const uint x = queue[i];
                for (offset_t e = indptr[x] + lane_id(); e < indptr[x + 1u]; e += LANES) {
                    const uint y = indices[e], bit = 1u << y % 32u;
                    if (!(atomic_or(&seen[y / 32u], bit) & bit)) queue[atomic_inc(&tail)] = y;
                }
            }
            lane_converge();
            head = end;
            end = tail;
            lane_converge();
        }
        for (uint i = lane_id(); i < end; i += LANES) seen[queue[i] / 32u] = 0u;
        lane_converge();
    }
}
