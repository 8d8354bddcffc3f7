## entries: the entries of rows in blocks, moved to other blocks, found, and closed up over those that go.
##
## kernels()     at file scope of rows.cl, whose names they take
## In scope      ROW(j), listed, fields, ordered; the functions of find.mako and /rows/units.mako

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="units" file="/rows/units.mako"/>

## Rows and where the entries of each begin among all, by which lanes share them out.
<%def name="entries()">\
% if listed:
    __global const uint *restrict rows,         // [count] vertices
% endif
    const uint count,
    const offset_t total,                       // entries of the rows
    __global const offset_t *restrict sums,     // [count + 1]
</%def>\
<%def name="fields_in()">\
    __global const uint *restrict indices,
% for i, kind in enumerate(fields):
    __global const ${kind} *restrict field${i},
% endfor
</%def>\
## They are the last arguments of a kernel.
<%def name="fields_out()">\
    __global uint *restrict new_indices${"," if fields else ")"}
% for i, kind in enumerate(fields):
    __global ${kind} *restrict new_field${i}${"," if i + 1 < len(fields) else ")"}
% endfor
</%def>\
<%def name="move(source, target)">\
const offset_t source = ${source}, target = ${target};
new_indices[target] = indices[source];
% for i in range(len(fields)):
new_field${i}[target] = field${i}[source];
% endfor
</%def>

<%def name="kernels()">\
// Entries of rows as they are, to make room for those of the batch or to close up over them.
${group.kernel()} rows_move(
${entries()}\
    __global const offset_t *restrict pointer,  // [n]
    __global const offset_t *restrict new_pointer,  // [n]
    __global const ulong *restrict keys,        // ascending
    __global const uint *restrict first,        // [count + 1]
    const uint bits,
    const uint way,                             // 0: they stay; 1: keys join them; 2: keys leave
    ${fields_in()}\
    ${fields_out()}\
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
${group.kernel()} rows_join(
    __global const ulong *restrict keys,        // [given] ascending
    const uint given,
    const uint bits,
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const offset_t *restrict new_pointer,  // [n]
    __global const uint *restrict indices,      // as before
% if fields:
    __global const uint *restrict order,        // [given]
% endif
% for i, kind in enumerate(fields):
    __global const ${kind} *restrict value${i}, // by edge of the batch
% endfor
    ${fields_out()}\
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
${group.kernel()} rows_find(
${entries()}\
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
${group.kernel()} rows_alive(
${entries()}\
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
${group.kernel()} rows_filter(
${entries()}\
    __global const offset_t *restrict kept,     // [total + 1] scanned
    __global const offset_t *restrict pointer,  // [n]
    __global const offset_t *restrict new_pointer,  // [n]
    ${fields_in()}\
    ${fields_out()}\
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
${group.kernel()} rows_pack(
${entries()}\
    __global const offset_t *restrict pointer,  // [n]
    ${fields_in()}\
    ${fields_out()}\
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="count" total="total">
        ${move("pointer[ROW(row)] + (unit - sums[row])", "unit")}
    </%units:each_unit>
}
</%def>
