<%namespace name="shared" file="/matching/shared.mako"/>\
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="random" file="/random/philox.mako"/>\
<%namespace name="ones" file="/rows/ones.mako"/>\
<%namespace name="blocks" file="/rows/blocks.mako"/>\
<%namespace name="seeding" file="/matching/seeds.mako"/>\
// Scores of pairs of a query vertex and a target vertex, and seeds drawn in proportion to them.
//
// All of it in integers: fixed point of ${one.bit_length() - 1} bits, so that every device draws the same seeds.
// Rows are scanned by blocks: a draw finds its block in the scanned sums and then walks that block.
//
// No races: work-items and work-groups write places of their own.

${shared.prologue()}
${group.vocabulary(group_size)}
${group.named("add", "ulong")}
${random.vocabulary()}
${ones.vocabulary()}
#define BLOCK ${block}u
#define UNIT_BITS 32    // a normalised row sums to 2^32, but for rounding
${shared.likeness()}

// Adds up, level by level, how many of the arcs around a query vertex are among those found around a
// target vertex. A mask is read once for a block of them, whose sums a lane keeps meanwhile; where it
// is empty, as most are at the first level, nothing else is read.
__kernel KERNEL void matching_accumulate(
    const uint n,
    __global const uint *restrict found,            // [levels, words, n]
    __global const uint *restrict masks,            // [sum over rows of levels * words of its query]
    __global const ulong *restrict mask_first,      // [rows]
    __global const uint *restrict row_query,        // [rows]
    __global const uint *restrict query_words,      // [queries + 1]
    const uint rows,
    const uint blocks,                              // of a row
    const uint levels,
    const uint first_word,                          // of this tile
    const uint words,
    __global uint *restrict scores)                 // [rows, n] in/out
{
    ${lanes.setup()}
    for (ulong part = get_group_id(0); part < (ulong)rows * blocks; part += get_num_groups(0)) {
        const uint row = (uint)(part / blocks), begin = (uint)(part % blocks) * BLOCK + lane_id();
        const uint query = row_query[row];
        const uint first = query_words[query], all = query_words[query + 1u] - first;
        const uint low = max(first, first_word), high = min(first + all, first_word + words);
        uint added[BLOCK / LANES];
        for (uint i = 0u; i < BLOCK / LANES; ++i) added[i] = 0u;
        for (uint level = 0u; level < levels; ++level) {
            for (uint w = low; w < high; ++w) {
                const uint mask = masks[mask_first[row] + (ulong)level * all + (w - first)];
                if (!mask) continue;
                __global const uint *const bits = found + ((ulong)level * words + (w - first_word)) * n;
                <%blocks:each_place begin="begin" end="n" size="BLOCK">
                    added[i] += (level + 1u) * ones_of(mask & bits[t]);
                </%blocks:each_place>
            }
        }
        for (uint i = 0u; i < BLOCK / LANES; ++i) {
            const uint t = begin + i * LANES;
            const ulong place = (ulong)row * n + t;
            if (t < n) scores[place] = (first_word ? scores[place] : 0u) + added[i];
        }
    }
}

// From the weighted number of arcs that are matched to the weight of the pair, and sums of blocks.
__kernel KERNEL void matching_weights(
    __global const offset_t *restrict indptr,       // [n + 1]
    const uint n,
${shared.alike()}
    __global const uint *restrict row_degrees,      // [rows]
    __global const uint *restrict weighted_arcs,    // [rows]
    const uint rows,
    const uint blocks,                              // of a row
    const uint label_floor,
    __global uint *restrict scores,                 // [rows, n] in/out
    __global ulong *restrict sums)                  // [rows, blocks] out
{
    ${lanes.setup()}
    ${group.setup()}
    for (ulong part = get_group_id(0); part < (ulong)rows * blocks; part += get_num_groups(0)) {
        const uint row = (uint)(part / blocks), begin = (uint)(part % blocks) * BLOCK;
        const uint arcs = weighted_arcs[row];
        ulong sum = 0ul;
        for (uint t = begin + lane_id(); t < min(begin + BLOCK, n); t += LANES) {
            const ulong place = (ulong)row * n + t, matched = scores[place];
            const uint s = ${shared.similarity("row", "t")};
            const int fits = row_degrees[row] <= indptr[t + 1u] - indptr[t];
% if scoring == "thesis":
            uint weight = s + (fits ? ONE : 0u);
            if (arcs) weight += (uint)(matched * ONE / arcs);
% else:
            uint weight = s ? s : label_floor;
            if (arcs) weight = (uint)(matched * weight / arcs);
            if (!fits) weight = 0u;
% endif
            scores[place] = weight;
            sum += weight;
        }
        const ulong total = group_reduce_add(sum);
        if (lane_id() == 0u) sums[part] = total;
    }
}

% if likeness == "stored":
// From weights to what extension draws by: a high power of how alike neighbourhoods are, and by labels
// whether these are the same, so that an entry costs extension one look into a row that is not in cache.
__kernel KERNEL void matching_likeness(
    const uint n,
${shared.alike()}
    const uint rows,
    const uint label_floor,
    __global uint *restrict scores)                 // [rows, n] in/out
{
    ${lanes.setup()}
    for (ulong part = get_group_id(0); part < rows; part += get_num_groups(0)) {
        const uint row = (uint)part;
        for (uint t = lane_id(); t < n; t += LANES) {
            const ulong place = (ulong)row * n + t;
            const uint score = scores[place], s = ${shared.similarity("row", "t")};
            const uint alike = score ? likeness(score, s ? s : label_floor) : 0u;
% if by_labels:
            scores[place] = alike | (s ? SAME_LABEL : 0u);
% else:
            scores[place] = alike;
% endif
        }
    }
}
% endif

${seeding.kernels()}
