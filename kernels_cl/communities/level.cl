<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// Vertices of a level: what they hold, in which order they take turns, and which communities they are in.
//
// No races: whatever several work-items add to is atomic, of whole numbers.
${level.declarations()}

// What each vertex holds, self-loops twice, and the loops alone.
__kernel KERNEL void level_strengths(
${level.rows()}\
    const uint n,
    __global sum_t *restrict strengths,         // [n] out
    __global sum_t *restrict loops)             // [n] out
{
    ${lanes.setup()}
    <%level:each_row>
        sum_t all = 0, looped = 0;
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const sum_t w = WEIGHT(e);
            all += w;
            if (indices[e] == row) looped += w;
        }
        all = lane_reduce_sum(all);
        looped = lane_reduce_sum(looped);
        if (lane_id() == 0u) {
            strengths[row] = all + looped;
            loops[row] = 2 * looped;
        }
    </%level:each_row>
}

// Communities of one vertex each, or as given; totals of theirs. What else is [n] and summed up later
// is emptied here: a launch for all of them takes less than a command for each.
__kernel KERNEL void level_start(
    const uint n,
    const uint given,                           // whether labels are there
    __global const sum_t *restrict strengths,   // [n]
    __global uint *restrict labels,             // [n] in/out
    volatile __global sum_t *totals,            // [n] in/out, 0 on entry
    __global sum_t *restrict slacks,            // [n] out, see move.cl: all choose
    __global sum_t *restrict cuts,              // [n] out: 0, as all that follow
    __global sum_t *restrict next_strengths,    // [n] of the level that is made of this one
    __global sum_t *restrict next_loops,        // [n]
    __global uint *restrict numbers,            // [n]
    __global uint *restrict places,             // [n]
    __global uint *restrict least)              // [n]
{
    <%share:each_item count="n">
        cuts[item] = next_strengths[item] = next_loops[item] = 0;
        numbers[item] = places[item] = least[item] = 0u;
        if (!given) labels[item] = item;
        slacks[item] = (sum_t)-1;
        if (given) sum_add_global(&totals[labels[item]], strengths[item]);
        else totals[item] = strengths[item];
    </%share:each_item>
}

// In which order rows are taken: by their class, and within it by who takes rows of their length.
__kernel KERNEL void level_order(
    __global const offset_t *restrict indptr,   // [n + 1]
    const uint n,
    const uint seed,
    __global uint *restrict keys,               // [n] out
    __global uint *restrict vertices,           // [n] out: all
    volatile __global uint *chunk_counts)       // [classes] in/out, 0 on entry: of hubs
{
    <%share:each_item count="n">
        const uint length = (uint)(indptr[item + 1] - indptr[item]);
        uint bin = 0u;
% for most in bins:
        bin += length > ${most}u;
% endfor
        keys[item] = CLASS_OF(item) * ${len(bins) + 1}u + bin;
        vertices[item] = item;
% if hubs:
        if (bin == ${len(bins)}u && length) atomic_add(&chunk_counts[CLASS_OF(item)], (length - 1u) / ${chunk}u + 1u);
% endif
    </%share:each_item>
}

// Of each turn its first vertex and chunk, its chunks, and vertices by who takes them, see turns.mako.
__kernel KERNEL void level_turns(
    __global const uint *restrict totals,       // [classes * bins] vertices with each key of level_order
    __global const uint *restrict chunk_counts, // [classes]
    __global uint *restrict turns,              // [classes * turn_words] out
    __global uint *restrict counters,           // [counter_words] out: 0, for the first passes
    const uint counter_words)                   // more than classes
{
    <%share:each_item count="counter_words">
        counters[item] = 0u;
        if (item >= ${classes}u) continue;
        uint first_vertex = 0u, first_chunk = 0u;
        for (uint key = 0u; key < item * ${len(bins) + 1}u; ++key) first_vertex += totals[key];
        for (uint turn = 0u; turn < item; ++turn) first_chunk += chunk_counts[turn];
        __global uint *const about = turns + item * ${4 + len(kinds)}u;
        about[0] = first_vertex;
        about[1] = first_chunk;
        about[2] = chunk_counts[item];
        about[3] = 0u;
% for place in range(len(kinds)):
        about[${4 + place}] = totals[item * ${len(bins) + 1}u + ${place}u];
% endfor
    </%share:each_item>
}
% if hubs:

// The chunks of hubs, those of one hub in a row; which hub is before which changes no result.
__kernel KERNEL void level_chunks(
    __global const offset_t *restrict indptr,   // [n + 1]
    const uint n,
    const uint seed,
    __global const uint *restrict turns,        // [classes * turn_words] of level_turns
    volatile __global uint *left,               // [classes] in/out: chunks that have no place yet
    __global uint2 *restrict chunks)            // out: hub, and which of its chunks
{
    <%share:each_item count="n">
        const uint length = (uint)(indptr[item + 1] - indptr[item]);
        if (length > ${bins[-1] if bins else 0}u) {
            const uint turn = CLASS_OF(item), count = (length - 1u) / ${chunk}u + 1u;
            const uint first = turns[turn * ${4 + len(kinds)}u + 1u] + atomic_sub(&left[turn], count) - count;
            for (uint part = 0u; part < count; ++part) chunks[first + part] = (uint2)(item, part);
        }
    </%share:each_item>
}
% endif

// A flag for each label that occurs.
__kernel KERNEL void level_used(
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global uint *restrict used)               // [n] in/out, 0 on entry
{
    <%share:each_item count="n">
        used[labels[item]] = 1u;
    </%share:each_item>
}

// Where the vertices of the first graph are now, or in the end what their communities are.
__kernel KERNEL void level_follow(
    const uint n,                               // of the first graph
    const uint begun,                           // whether places are there; else they are the vertices
    const uint numbered,                        // whether labels are to be numbered
    __global const uint *restrict labels,       // [n of the level]
    __global const uint *restrict numbers,      // by label
    __global uint *restrict places)             // [n] in/out
{
    <%share:each_item count="n">
        const uint label = labels[begun ? places[item] : item];
        places[item] = numbered ? numbers[label] : label;
    </%share:each_item>
}

__kernel KERNEL void level_copy(
    const uint n,
    __global const uint *restrict source,       // [n]
    __global uint *restrict target)             // [n] out
{
    <%share:each_item count="n">
        target[item] = source[item];
    </%share:each_item>
}

// What modularity is made of: edges within communities, and the squares of communities' totals.
__kernel KERNEL void level_quality(
${level.rows()}\
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global const sum_t *restrict loops,       // [n]
    __global const sum_t *restrict totals,      // [n] of communities
    __global ulong *restrict sums)              // [3 * SIMD groups] out: inside; squares' low 32 bits, and the rest
{
    ${lanes.setup()}
    ulong inside = 0, low = 0, high = 0;
    <%level:each_row>
        const uint own = labels[row];
        if (lane_id() == 0u) {
            const ulong total = totals[row], square = total * total;
            inside += loops[row];
            low += square & 0xffffffffu;
            high += square >> 32 | mul_hi(total, total) << 32;
        }
        for (offset_t e = begin + lane_id(); e < row_end; e += LANES) {
            const uint u = indices[e];
            if (u != row && labels[u] == own) inside += WEIGHT(e);
        }
    </%level:each_row>
    inside = lane_reduce_add_ulong(inside);
    if (lane_id() == 0u) {
        __global ulong *const own_sums = sums + get_global_id(0) / LANES * 3;
        own_sums[0] = inside;
        own_sums[1] = low;
        own_sums[2] = high;
    }
}
