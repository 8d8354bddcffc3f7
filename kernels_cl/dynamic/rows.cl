<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
<%namespace name="classes" file="/dynamic/classes.mako"/>\
<%namespace name="entries" file="/dynamic/entries.mako"/>\
// Rows in blocks: their new lengths and places, and moving their entries there, see entries.mako.
//
// The rows are all vertices, or those that a batch touches. What is read is never written: rows that
// change move to other blocks, so the old ones are whole until nobody needs them.
// No races: an entry's new place is its own.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}
${classes.functions()}
${units.functions()}

#define NOWHERE (~(offset_t)0)
#define ROW(j) ${"rows[j]" if listed else "(j)"}
<%
    row_list = "__global const uint *restrict rows,         // [count] vertices" if listed else ""
%>\

// Where the keys of each row begin.
${group.kernel()} rows_first(
    __global const ulong *restrict keys,        // [given] ascending
    const uint given,
    const uint bits,
    const uint count,                           // rows
    __global uint *restrict first)              // [count + 1] out
{
    <%share:each_item count="count + 1u">
        first[item] = item == count ? given : key_bound(keys, 0u, given, (ulong)item << bits);
    </%share:each_item>
}

${group.kernel()} rows_list(
    __global const ulong *restrict keys,        // [given] ascending
    const uint given,
    const uint bits,
    const uint count,
    __global uint *restrict first,              // [count + 1] in/out: all but the last is known
    __global uint *restrict rows)               // [count] out
{
    <%share:each_item count="count">
        rows[item] = (uint)(keys[first[item]] >> bits);
        if (item == 0u) first[count] = given;
    </%share:each_item>
}

// Lengths of rows, to be scanned.
${group.kernel()} rows_lengths(
    ${row_list}
    const uint count,
    __global const uint *restrict used,         // [n]
    __global offset_t *restrict sums)           // [count + 1] out, the last 0
{
    <%share:each_item count="count + 1u">
        sums[item] = item == count ? 0u : used[ROW(item)];
    </%share:each_item>
}

// Lengths after the batch.
${group.kernel()} rows_grow(
    ${row_list}
    const uint count,
    __global const uint *restrict used,         // [n]
    __global const uint *restrict first,        // [count + 1]
    const int sign,
    __global uint *restrict lengths)            // [count] out
{
    <%share:each_item count="count">
        const uint change = first[item + 1u] - first[item];
        lengths[item] = used[ROW(item)] + (sign > 0 ? change : -change);
    </%share:each_item>
}

// The same where entries are kept one by one.
${group.kernel()} rows_shrink(
    const uint count,
    __global const offset_t *restrict sums,     // [count + 1]
    __global const offset_t *restrict kept,     // [entries + 1] scanned
    __global uint *restrict lengths)            // [count] out
{
    <%share:each_item count="count">
        lengths[item] = (uint)(kept[sums[item + 1u]] - kept[sums[item]]);
    </%share:each_item>
}

// Size classes, 0 of rows without a block, to be sorted by.
${group.kernel()} rows_classes(
    __global const uint *restrict lengths,      // [count]
    const uint count,
    const uint least,                           // entries of the smallest block
    const uint block_bits,                      // of those of a block array
    __global uint *restrict classes,            // [count] out
    __global uint *restrict vertices)           // [count] out
{
    <%share:each_item count="count">
        const uint length = lengths[item];
        classes[item] = class_of(length, least, block_bits);
        vertices[item] = item;
    </%share:each_item>
}

// Blocks in the order of classes.
${group.kernel()} rows_place(
    __global const uint *restrict classes,      // [count] ascending
    __global const uint *restrict vertices,     // [count] in that order
    const uint count,
    __global const uint *restrict totals,       // [CLASSES] vertices of each class
    __global const offset_t *restrict bases,    // [2, CLASSES] where its first block is; entries of each
    __global offset_t *restrict pointer)        // [n] out
{
    __local uint starts[${CLASSES}];
    // Each sums up those before it: one that did so for all would have its loop unrolled into 125 registers.
    for (uint c = (uint)get_local_id(0); c < ${CLASSES}u; c += ${config.group_size}u) {
        uint before = 0u;
        for (uint k = 0u; k < c; ++k) before += totals[k];
        starts[c] = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    <%share:each_item count="count">
        const uint c = classes[item];
        pointer[vertices[item]] = c ? bases[c] + (item - starts[c]) * bases[${CLASSES}u + c] : NOWHERE;
    </%share:each_item>
}

// Vertices as they are, and new ones without entries.
${group.kernel()} rows_copy(
    __global const offset_t *restrict pointer,  // [known]
    __global const uint *restrict used,         // [known]
    const uint known,
    const uint n,
    __global offset_t *restrict new_pointer,    // [n] out
    __global uint *restrict new_used)           // [n] out
{
    <%share:each_item count="n">
        new_pointer[item] = item < known ? pointer[item] : NOWHERE;
        new_used[item] = item < known ? used[item] : 0u;
    </%share:each_item>
}

% if listed:
// What the host needs to know of rows to move them.
${group.kernel()} rows_places(
    __global const uint *restrict rows,         // [count]
    const uint count,
    __global const offset_t *restrict pointer,  // [n]
    __global offset_t *restrict places)         // [count] out
{
    <%share:each_item count="count">
        places[item] = pointer[rows[item]];
    </%share:each_item>
}

${group.kernel()} rows_set(
    __global const uint *restrict rows,         // [count]
    const uint count,
    __global const offset_t *restrict places,   // [count]
    __global const uint *restrict lengths,      // [count]
    __global offset_t *restrict pointer,        // [n] in/out
    __global uint *restrict used)               // [n] in/out
{
    <%share:each_item count="count">
        pointer[rows[item]] = places[item];
        used[rows[item]] = lengths[item];
    </%share:each_item>
}
% endif

${entries.kernels()}
