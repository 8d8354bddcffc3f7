<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
<%namespace name="classes" file="/dynamic/classes.mako"/>\
// Rows in blocks: their new lengths and places, and moving their entries there.
//
// The rows are all vertices, or those that a batch touches. What is read is never written: rows that
// change move to other blocks, so the old ones are whole until nobody needs them.
// No races: an entry's new place is its own.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}
${classes.functions()}
${units.functions()}

#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
#define NOWHERE (~(offset_t)0)
#define ROW(j) ${"rows[j]" if listed else "(j)"}
<%
    row_list = "__global const uint *restrict rows,         // [count] vertices" if listed else ""
%>\

// Where the keys of each row begin.
__kernel KERNEL void rows_first(
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

__kernel KERNEL void rows_list(
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
__kernel KERNEL void rows_lengths(
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
__kernel KERNEL void rows_grow(
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
__kernel KERNEL void rows_shrink(
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
__kernel KERNEL void rows_classes(
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
__kernel KERNEL void rows_place(
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
__kernel KERNEL void rows_copy(
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
__kernel KERNEL void rows_places(
    __global const uint *restrict rows,         // [count]
    const uint count,
    __global const offset_t *restrict pointer,  // [n]
    __global offset_t *restrict places)         // [count] out
{
    <%share:each_item count="count">
        places[item] = pointer[rows[item]];
    </%share:each_item>
}

__kernel KERNEL void rows_set(
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

<%def name="fields_in()">\
    __global const uint *restrict indices,
% for i, kind in enumerate(fields):
    __global const ${kind} *restrict field${i},
% endfor
</%def>\
<%def name="fields_out(last=False)">\
    __global uint *restrict new_indices${"," if fields or not last else ")"}
% for i, kind in enumerate(fields):
    __global ${kind} *restrict new_field${i}${"," if i + 1 < len(fields) or not last else ")"}
% endfor
</%def>\
<%def name="move(source, target)">\
const offset_t source = ${source}, target = ${target};
new_indices[target] = indices[source];
% for i in range(len(fields)):
new_field${i}[target] = field${i}[source];
% endfor
</%def>\

// Entries of rows as they are, to make room for those of the batch or to close up over them.
__kernel KERNEL void rows_move(
    ${row_list}
    const uint count,
    const offset_t total,                       // entries of the rows
    __global const offset_t *restrict sums,     // [count + 1]
    __global const offset_t *restrict pointer,  // [n]
    __global const offset_t *restrict new_pointer,  // [n]
    __global const ulong *restrict keys,        // ascending
    __global const uint *restrict first,        // [count + 1]
    const uint bits,
    const uint way,                             // 0: they stay; 1: keys join them; 2: keys leave
    ${fields_in()}\
    ${fields_out(last=True)}\
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="count" total="total">
        const uint v = ROW(row);
        const offset_t i = unit - sums[row], from = pointer[v] + i;
        const uint key_begin = way ? first[row] : 0u, key_end = way ? first[row + 1u] : 0u;
        uint before = 0u;
        int leaves = 0;
        if (key_begin < key_end${"" if ordered else " && way == 2u"}) {
            const ulong key = (ulong)v << bits | indices[from];
            const uint at = key_bound(keys, key_begin, key_end, key);
            before = at - key_begin;
            leaves = way == 2u && at < key_end && keys[at] == key;
        }
        if (!leaves) {
            ${move("from", "new_pointer[v] + (way == 2u ? i - before : i + before)")}
        }
    </%units:each_unit>
}

// Entries of the batch, to their rows.
__kernel KERNEL void rows_join(
    __global const ulong *restrict keys,        // [given] ascending
    const uint given,
    const uint bits,
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const offset_t *restrict new_pointer,  // [n]
    __global const uint *restrict indices,        // as before
% if fields:
    __global const uint *restrict order,        // [given]
% endif
% for i, kind in enumerate(fields):
    __global const ${kind} *restrict value${i}, // by edge of the batch
% endfor
    ${fields_out(last=True)}\
{
    <%share:each_item count="given">
        const ulong key = keys[item];
        const uint v = (uint)(key >> bits), x = (uint)(key & ((1ul << bits) - 1ul));
        const uint length = used[v];
        // Its number among the keys of its row: most rows get few.
        uint low = item > 32u ? item - 32u : 0u;
        if (keys[low] >> bits == v) low = 0u;
        const uint nth = item - key_bound(keys, low, item, (ulong)v << bits);
        uint before = length;
% if ordered:
        if (length) before = upper_bound(indices + pointer[v], length, x);
% endif
        const offset_t target = new_pointer[v] + nth + before;
        new_indices[target] = x;
% for i in range(len(fields)):
        new_field${i}[target] = value${i}[order[item]];
% endfor
    </%share:each_item>
}

// Which entries of rows a batch names: which keys are there, and where; and which entries are not named.
__kernel KERNEL void rows_find(
    ${row_list}
    const uint count,
    const offset_t total,
    __global const offset_t *restrict sums,     // [count + 1]
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict indices,
    __global const ulong *restrict keys,        // ascending
    __global const uint *restrict first,        // [count + 1]
    const uint bits,
    const uint what,                            // 0: about the keys; 1: about the entries
    __global uchar *restrict there,             // by key, in/out, 0 on entry
    __global offset_t *restrict place,          // by key, out
    __global offset_t *restrict kept)           // [total + 1] out: 1 for entries that are not named
{
    ${lanes.setup()}
    if (get_global_id(0) == 0 && what) kept[total] = 0u;
    <%units:each_unit sums="sums" rows="count" total="total">
        const uint v = ROW(row);
        const offset_t at = pointer[v] + (unit - sums[row]);
        const ulong key = (ulong)v << bits | indices[at];
        const uint key_end = first[row + 1u], found = key_bound(keys, first[row], key_end, key);
        const int named = found < key_end && keys[found] == key;
        if (what) kept[unit] = !named;
        else if (named) {
            there[found] = 1;
            place[found] = at;
        }
    </%units:each_unit>
}

// Which entries have neither end among the dead vertices.
__kernel KERNEL void rows_alive(
    ${row_list}
    const uint count,
    const offset_t total,
    __global const offset_t *restrict sums,     // [count + 1]
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict indices,
    __global const uchar *restrict dead,        // [n]
    const uint both,                            // whether to count an edge at its smaller end only
    __global offset_t *restrict kept,           // [total + 1] out
    __global uint *restrict tally)              // [1] in/out, 0 on entry: those that have
{
    ${lanes.setup()}
    if (get_global_id(0) == 0) kept[total] = 0u;
    uint gone = 0u;
    <%units:each_unit sums="sums" rows="count" total="total">
        const uint v = ROW(row), x = indices[pointer[v] + (unit - sums[row])];
        const int stays = !(dead[v] || dead[x]);
        kept[unit] = stays;
        gone += !stays && (!both || v <= x);
    </%units:each_unit>
    gone = lane_reduce_add(gone);
    if (lane_id() == 0u && gone) atomic_add(tally, gone);
}

// Entries that stay, in their order.
__kernel KERNEL void rows_filter(
    ${row_list}
    const uint count,
    const offset_t total,
    __global const offset_t *restrict sums,     // [count + 1]
    __global const offset_t *restrict kept,     // [total + 1] scanned
    __global const offset_t *restrict pointer,  // [n]
    __global const offset_t *restrict new_pointer,  // [n]
    ${fields_in()}\
    ${fields_out(last=True)}\
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="count" total="total">
        const offset_t before = kept[unit];
        if (kept[unit + 1u] > before) {
            const uint v = ROW(row);
            ${move("pointer[v] + (unit - sums[row])", "new_pointer[v] + (before - kept[sums[row]])")}
        }
    </%units:each_unit>
}

// Rows one after the other.
__kernel KERNEL void rows_pack(
    ${row_list}
    const uint count,
    const offset_t total,
    __global const offset_t *restrict sums,     // [count + 1]
    __global const offset_t *restrict pointer,  // [n]
    ${fields_in()}\
    ${fields_out(last=True)}\
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="count" total="total">
        ${move("pointer[ROW(row)] + (unit - sums[row])", "unit")}
    </%units:each_unit>
}
