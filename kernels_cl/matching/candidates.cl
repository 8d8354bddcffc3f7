<%namespace name="shared" file="/matching/shared.mako"/>\
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
// Which query vertices a target vertex can stand for, and which query arcs the arcs that leave it can;
// bits of both by words, then by target vertices.
//
// No races: every work-item writes words of its own.

${shared.prologue()}

__kernel KERNEL void matching_candidates(
    __global const offset_t *restrict indptr,       // [n + 1]
    const uint n,
${shared.alike()}
    __global const uint *restrict row_degrees,      // [rows]
    const uint node_words,
    __global const uint *restrict word_rows,        // [node_words], first row of each word
    __global const uint *restrict word_sizes,       // [node_words], its rows
    __global uint *restrict candidates)             // [node_words, n] out
{
    ${lanes.setup()}
    <%share:each_tile count="(ulong)node_words * n">
        const ulong item = first + lane_id();
        if (item >= (ulong)node_words * n) continue;
        const uint slot = (uint)(item / n), t = (uint)(item % n), row = word_rows[slot];
        uint bits = 0u;
        for (uint i = 0u; i < word_sizes[slot]; ++i) {
% if exact:
            int fits = ${shared.similarity("row + i", "t")} == ONE;
% else:
            int fits = ${shared.similarity("row + i", "t")} != 0u;
% endif
% if arc_degree_test:
            fits &= row_degrees[row + i] <= indptr[t + 1u] - indptr[t];
% endif
            bits |= (uint)fits << i;
        }
        candidates[item] = bits;
    </%share:each_tile>
}

// The union of the neighbours' bits, from the first words of an array to its others.
__kernel KERNEL void matching_gather(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    const uint n,
    const uint words,
    __global uint *bits)                            // [2, words, n]: the first half in, the other out
{
    ${lanes.setup()}
    <%share:each_tile count="(ulong)words * n">
        const ulong item = first + lane_id();
        if (item >= (ulong)words * n) continue;
        const uint t = (uint)(item % n);
        __global const uint *const word = bits + (item - t);
        uint any = 0u;
        for (offset_t e = indptr[t]; e < indptr[t + 1u]; ++e) any |= word[indices[e]];
        bits[(ulong)words * n + item] = any;
    </%share:each_tile>
}

// An arc leaving t can stand for the query arc (u, v) if t can for u and a neighbour of it can for v.
__kernel KERNEL void matching_arcs(
    const uint n,
    __global const uint *restrict candidates,       // [2, node_words, n], then of the neighbours
    const uint node_words,
    __global const uint *restrict arc_sources,      // [arcs], rows
    __global const uint *restrict query_indices,    // [arcs], rows
    __global const uint *restrict row_words,        // [rows]
    __global const uint *restrict row_bits,         // [rows]
    __global const uint *restrict word_arcs,        // [all words], first arc of each word
    __global const uint *restrict arc_counts,       // [all words], its arcs
    const uint first_word,                          // of this tile
    const uint words,
    __global uint *restrict found)                  // [words, n] out
{
    ${lanes.setup()}
    __global const uint *const around = candidates + (ulong)node_words * n;
    <%share:each_tile count="(ulong)words * n">
        const ulong item = first + lane_id();
        if (item >= (ulong)words * n) continue;
        const uint slot = first_word + (uint)(item / n), t = (uint)(item % n);
        const uint begin = word_arcs[slot];
        uint bits = 0u, source = 0xffffffffu, fits = 0u;
        for (uint i = 0u; i < arc_counts[slot]; ++i) {
            const uint u = arc_sources[begin + i], v = query_indices[begin + i];
            if (u != source) {
                source = u;
                fits = candidates[(ulong)row_words[u] * n + t] >> row_bits[u] & 1u;
            }
            if (fits) bits |= (around[(ulong)row_words[v] * n + t] >> row_bits[v] & 1u) << i;
        }
        found[item] = bits;
    </%share:each_tile>
}
