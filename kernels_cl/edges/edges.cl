<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
// Rows of a list of edges in any order: keys to sort by, which of them stay, and what rows consist of.
//
// No races but a flag that is only ever set.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}
#define SOURCE(key) ((uint)((key) >> bits))
#define TARGET(key) ((uint)((key) & ((1ul << bits) - 1ul)))

// A key is the source above the target; those of the reverses follow all others.
${group.kernel()} edges_keys(
    __global const uint *restrict src,          // [count]
    __global const uint *restrict dst,          // [count]
    const uint count,
    const uint bits,                            // of a target
    const uint straight,                        // whether edges themselves have keys
    const uint reverse,                         // whether their reverses have
% if carried:
    __global uint *restrict order,              // [count, twice if both] out: which edge a key is of
% endif
    __global ulong *restrict keys)              // [count, twice if both] out
{
    <%share:each_item count="count">
        const ulong u = src[item], v = dst[item];
        const uint at = straight ? count + item : item;
        if (straight) keys[item] = u << bits | v;
        if (reverse) keys[at] = v << bits | u;
% if carried:
        if (straight) order[item] = item;
        // The reverse of a loop is nothing of its own: it is known by its number, and goes.
        if (reverse) order[at] = u == v && straight ? ${hex(2**32 - 1)}u : item;
% endif
    </%share:each_item>
}

// Whether two sorted lists differ.
${group.kernel()} edges_differ(
    __global const ulong *restrict a,           // [count]
    __global const ulong *restrict b,           // [count]
    const uint count,
    __global uint *restrict differ)             // [1] in/out, 0 on entry
{
    <%share:each_item count="count">
        if (a[item] != b[item]) *differ = 1u;
    </%share:each_item>
}

${group.kernel()} edges_mark(
    __global const ulong *restrict keys,        // [count] ascending
% if carried:
    __global const uint *restrict order,        // [count]
% endif
    const uint count,
    const uint bits,
    const uint dedup,                           // whether only the first of equals stays
    const uint loops,                           // 0: none stays; 1: all; 2: every second of equal ones
% if carried:
    __global uint *restrict places,             // [count] out: all
% endif
    __global uchar *restrict mask)              // [count] out
{
    <%share:each_item count="count">
        const ulong key = keys[item];
        int stays = !dedup || item == 0u || keys[item - 1u] != key;
        if (SOURCE(key) == TARGET(key)) {
            if (!loops) stays = 0;
            else if (loops == 2u && !dedup) {
% if carried:
                stays = order[item] != ${hex(2**32 - 1)}u;
% else:
                stays = (item - key_bound(keys, 0u, item, key)) % 2u == 0u;
% endif
            }
        }
        mask[item] = (uchar)stays;
% if carried:
        places[item] = item;
% endif
    </%share:each_item>
}

${group.kernel()} edges_rows(
    __global const ulong *restrict keys,        // [m] ascending
    const uint m,
    const uint bits,
    const uint n,
    __global offset_t *restrict indptr)         // [n + 1] out
{
    <%share:each_item count="n + 1u">
        indptr[item] = item == n ? m : key_bound(keys, 0u, m, (ulong)item << bits);
    </%share:each_item>
}

${group.kernel()} edges_targets(
    __global const ulong *restrict keys,        // [m] ascending
    const uint m,
    const uint bits,
    __global uint *restrict indices)            // [m] out
{
    <%share:each_item count="m">
        indices[item] = TARGET(keys[item]);
    </%share:each_item>
}

% if carried:
// The weight of each edge that stays, or the least of those of its equals.
${group.kernel()} edges_weights(
    __global const ulong *restrict keys,        // [count] ascending, all
    __global const uint *restrict order,        // [count]
    const uint count,
    __global const uint *restrict places,       // [m] of those that stay
    const uint m,
    const uint dedup,
    __global const ${weight} *restrict given,   // by edge given
    __global ${weight} *restrict weights)       // [m] out
{
    <%share:each_item count="m">
        const uint first = places[item];
        ${weight} least = given[order[first]];
        if (dedup)
            for (uint at = first + 1u; at < count && keys[at] == keys[first]; ++at)
                if (order[at] != ${hex(2**32 - 1)}u) least = min(least, given[order[at]]);
        weights[item] = least;
    </%share:each_item>
}
% endif
