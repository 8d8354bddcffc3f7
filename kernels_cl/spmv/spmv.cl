<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="access" file="/rows/access.mako"/>\
// A sparse matrix times a vector: each row sums what its columns hold.
//
// Rows of up to LONG_ROW entries are summed by TILE lanes each, longer ones, which are listed before, by
// a work-group each. No races: a row is written once. An entry's summand depends on nothing but its place
// in the row, so sums are the same in every run, and the same in rows of either layout.
${lanes.vocabulary()}
${group.declarations()}
${access.functions(layout)}
#define TILE ${tile}u
#define LONG_ROW ${LONG_ROW}u
typedef ${value} value_t;
#define ENTRY(e) (${"(value_t)weights[e] * x[targets[e]]" if weighted else "x[targets[e]]"})

// x of the lane `step` above, which is in the same tile.
LANE_FUNCTION value_t from_above(LANE_PARAMS value_t x, uint step) {
% if value == "double":
    return as_double(lane_shuffle_ulong(as_ulong(x), lane_id() ^ step));
% else:
    return as_float(lane_shuffle(as_uint(x), lane_id() ^ step));
% endif
}

LANE_FUNCTION value_t tile_sum(LANE_PARAMS value_t sum) {
% for step in (1 << bit for bit in reversed(range(tile.bit_length() - 1))):
    sum += from_above(LANE_ARGS sum, ${step}u);
% endfor
    return sum;
}

// Rows that are long: a flag for each.
${group.kernel()} spmv_long(
${access.params(layout)}\
    const uint n,
    __global uchar *restrict mask,              // [n] out
    __global uint *restrict vertices)           // [n] out: all
{
    <%share:each_item count="n">
        mask[item] = ROW_LENGTH(item) > LONG_ROW;
        vertices[item] = item;
    </%share:each_item>
}

${group.kernel()} spmv_rows(
${access.params(layout)}\
    __global const uint *restrict targets,
% if weighted:
    __global const ${weight} *restrict weights,
% endif
    const uint n,
    __global const value_t *restrict x,         // [n]
    __global value_t *restrict y)               // [n] out
{
    ${lanes.setup()}
    const uint lane = lane_id() % TILE;
% if layout == "blocks":
    // Where a row of blocks is takes loads from two arrays: where the next one is, is asked for before this one's
    // entries, so that they do not wait in turn. Packed rows, whose places lie side by side, are slower by it.
    const uint no_row = ~0u;
    uint asked = no_row, asked_length = 0u;
    offset_t asked_begin = 0u;
    // Rows in steps that are the same on all lanes of a SIMD group.
    <%share:each_tile_ahead count="((ulong)n * TILE + LANES - 1u) / LANES * LANES">
        const uint row = (uint)((first + lane_id()) / TILE);
        if (asked != row && row < n) {
            asked_begin = ROW_BEGIN(row);
            asked_length = ROW_LENGTH(row);
        }
        const offset_t begin = asked_begin;
        const uint length = row < n ? asked_length : 0u;
        asked = no_row;
        if (ahead + lane_id() < (ulong)n * TILE) {
            asked = (uint)((ahead + lane_id()) / TILE);
            asked_begin = ROW_BEGIN(asked);
            asked_length = ROW_LENGTH(asked);
        }
        value_t sum = 0;
        if (length <= LONG_ROW) {
            for (uint i = lane; i < length; i += TILE) sum += ENTRY(begin + i);
        }
        sum = tile_sum(LANE_ARGS sum);
        if (lane == 0u && row < n && length <= LONG_ROW) y[row] = sum;
    </%share:each_tile_ahead>
% else:
    // Rows in steps that are the same on all lanes of a SIMD group.
    <%share:each_tile count="((ulong)n * TILE + LANES - 1u) / LANES * LANES">
        const uint row = (uint)((first + lane_id()) / TILE);
        value_t sum = 0;
        uint length = 0u;
        if (row < n) {
            // Both before the comparison, so that neither waits for the other.
            const offset_t begin = ROW_BEGIN(row);
            length = ROW_LENGTH(row);
            if (length <= LONG_ROW) {
                for (uint i = lane; i < length; i += TILE) sum += ENTRY(begin + i);
            }
        }
        sum = tile_sum(LANE_ARGS sum);
        if (lane == 0u && row < n && length <= LONG_ROW) y[row] = sum;
    </%share:each_tile>
% endif
}

${group.kernel()} spmv_long_rows(
${access.params(layout)}\
    __global const uint *restrict targets,
% if weighted:
    __global const ${weight} *restrict weights,
% endif
    __global const uint *restrict rows,         // [count]
    const uint count,
    __global const value_t *restrict x,         // [n]
    __global value_t *restrict y)               // [n] out
{
    ${lanes.setup()}
    __local value_t sums[GROUP_SIZE];
    const uint lid = (uint)get_local_id(0);
    for (uint at = (uint)get_group_id(0); at < count; at += (uint)get_num_groups(0)) {
        const uint row = rows[at], length = ROW_LENGTH(row);
        const offset_t begin = ROW_BEGIN(row);
        value_t sum = 0;
        for (uint i = lid; i < length; i += GROUP_SIZE) sum += ENTRY(begin + i);
        sums[lid] = sum;
        group_barrier();
        for (uint step = GROUP_SIZE / 2u; step; step >>= 1) {
            if (lid < step) sums[lid] += sums[lid + step];
            group_barrier();
        }
        if (lid == 0u) y[row] = sums[0];
        group_barrier();
    }
}
