<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
// A batch of edges: keys that sort them by row, and which of them are wanted.
//
// No races but counters, which are added to.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}

// A key is the source above the target. `largest` gets the greatest id: keys are right if it fits.
${group.kernel()} batch_keys(
    __global const uint *restrict src,          // [count]
    __global const uint *restrict dst,          // [count]
    const uint count,
    const uint bits,                            // of a target
    const uint both,                            // whether each edge gives a key either way
    const uint backwards,                       // whether the last edge comes first
    __global ulong *restrict keys,              // [count or 2 * count] out
% if carried:
    __global uint *restrict order,              // [as keys] out: which edge a key is of
% endif
    __global uint *restrict largest)            // [1] in/out, 0 on entry
{
    ${lanes.setup()}
    uint most = 0u;
    <%share:each_item count="count">
        const uint from = backwards ? count - 1u - item : item;
        const ulong u = src[from], v = dst[from];
        most = max(most, max((uint)u, (uint)v));
        const size_t at = both ? 2ul * item : item;
        keys[at] = u << bits | v;
        if (both) keys[at + 1] = v << bits | u;
% if carried:
        order[at] = from;
        if (both) order[at + 1] = from;
% endif
    </%share:each_item>
    most = lane_reduce_max(most);
    if (lane_id() == 0u && most) atomic_max(largest, most);
}

// The first of equal keys is wanted if its edge is there, or if it is not.
${group.kernel()} batch_mark(
    __global const ulong *restrict keys,        // [count] ascending
    const uint count,
    const uint bits,
    const uint both,
    const uint want,                            // 0: those not there, 1: those there, 2: all
% if ordered:
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,        // the rows, ascending
    __global offset_t *restrict place,          // [count] out, of those there: where in the rows
% else:
    __global const uchar *restrict there,       // [count] whether the edge is there
% endif
    __global uchar *restrict mask,              // [count] out
    __global uint *restrict tally)              // [3] in/out, 0 on entry: different edges; wanted ones; keys of these
{
    ${lanes.setup()}
    uint different = 0u, wanted = 0u, kept = 0u;
    <%share:each_item count="count">
        const ulong key = keys[item];
        const int first = item == 0u || keys[item - 1u] != key;
        int flag = first;
        const uint u = (uint)(key >> bits), v = (uint)(key & ((1ul << bits) - 1ul));
        if (first) {
% if ordered:
            const offset_t begin = pointer[u];
            const uint length = used[u], at = lower_bound(indices + begin, length, v);
            const int found = length && at < length && indices[begin + at] == v;
            if (found) place[item] = begin + at;
% else:
            const int found = there[item];
% endif
            flag = want == 2u || found == (int)want;
            const uint counts = !both || u <= v;
            different += counts;
            wanted += flag && counts;
        }
        mask[item] = (uchar)flag;
        kept += (uint)flag;
    </%share:each_item>
    different = lane_reduce_add(different);
    wanted = lane_reduce_add(wanted);
    if (lane_id() == 0u && different) atomic_add(&tally[0], different);
    kept = lane_reduce_add(kept);
    if (lane_id() == 0u && wanted) atomic_add(&tally[1], wanted);
    if (lane_id() == 0u && kept) atomic_add(&tally[2], kept);
}

// Where rows begin: `mask` gets the first key of each source, `places` all places.
${group.kernel()} batch_targets(
    __global const ulong *restrict keys,        // [count] ascending
    const uint count,
    const uint bits,
    __global uchar *restrict mask,              // [count] out
    __global uint *restrict places)             // [count] out
{
    <%share:each_item count="count">
        mask[item] = item == 0u || keys[item - 1u] >> bits != keys[item] >> bits;
        places[item] = item;
    </%share:each_item>
}

// Which of any edges are there.
${group.kernel()} batch_has(
    __global const uint *restrict src,          // [count]
    __global const uint *restrict dst,          // [count]
    const uint count,
    const uint n,
    __global const offset_t *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global uchar *restrict there)             // [count] out
{
    <%share:each_item count="count">
        const uint u = src[item], v = dst[item];
        int found = 0;
        if (u < n) {
            __global const uint *row = indices + pointer[u];
            const uint length = used[u];
% if ordered:
            const uint at = lower_bound(row, length, v);
            found = length && at < length && row[at] == v;
% else:
            for (uint at = 0u; at < length && !found; ++at) found = row[at] == v;
% endif
        }
        there[item] = (uchar)found;
    </%share:each_item>
}

// Values of edges that are there, at the places where they are.
${group.kernel()} batch_write(
    __global const uchar *restrict mask,        // [count] of keys
    __global const offset_t *restrict place,    // [count]
    __global const uint *restrict order,        // [count]
    const uint count,
    __global const ${value} *restrict values,   // by edge of the batch
    const uint stride,                          // from one edge's value to the next
    const uint offset,                          // of the first
    __global ${value} *restrict field)          // in/out
{
    <%share:each_item count="count">
        if (mask[item]) field[(ulong)place[item] * stride + offset] = values[order[item]];
    </%share:each_item>
}

// One field of records that are made of several.
${group.kernel()} batch_join(
    __global const ${value} *restrict values,   // [count]
    const uint count,
    const uint stride,
    const uint offset,
    __global ${value} *restrict records)        // [count * stride] out: every stride-th
{
    <%share:each_item count="count">
        records[(ulong)item * stride + offset] = values[item];
    </%share:each_item>
}
