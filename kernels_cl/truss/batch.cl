<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
<%namespace name="maintain" file="/truss/maintain.mako"/>\
// Truss numbers of a dynamic graph, with an order of equal ones: from one version's places to the next
// one's, and the edges that a batch sets in motion.
//
// Races: an edge is listed by whoever marks it first, so the order of lists differs from run to run.
// What follows does not depend on it.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}
${units.functions()}
${maintain.functions()}
#define SOURCE(key) ((uint)((key) >> bits))
#define TARGET(key) ((uint)((key) & ((1ul << bits) - 1ul)))

// Lengths of rows, to be scanned.
${group.kernel()} batch_rows(
    __global const uint *restrict used,         // [n]
    const uint n,
    __global offset_t *restrict sums)           // [n + 1] out, the last 0
{
    <%share:each_item count="n + 1u">
        sums[item] = item == n ? 0u : used[item];
    </%share:each_item>
}

// For each edge of a batch, in one of its directions, the length of its shorter row, to be scanned; and
// their sum, which may be too much for that.
${group.kernel()} batch_lengths(
    __global const ulong *restrict keys,        // [count]
    const uint count,
    const uint bits,
    __global const uint *restrict used,         // [n]
    __global ulong *restrict pending,           // [1] in/out, 0 on entry
    __global offset_t *restrict sums)           // [count + 1] out, the last 0
{
    ${lanes.setup()}
    ulong lengths = 0ul;
    <%share:each_item count="count + 1u">
        uint length = 0u;
        if (item < count) {
            const uint u = SOURCE(keys[item]), v = TARGET(keys[item]);
            if (u < v) length = min(used[u], used[v]);
        }
        sums[item] = length;
        lengths += length;
    </%share:each_item>
    ${lanes.add_up("lengths", "pending", wide=True)}
}

// The keys of edges that stay, 0 of others; whose row a place is in; no marks and no counts. And the
// sum over all edges of the lengths of their shorter rows.
${group.kernel()} batch_carry(
    __global const offset_t *restrict sums,     // [n + 1] of the rows as they are now
    const uint n,
    const offset_t total,
    __global const uint *restrict old_pointer,  // [known]
    __global const uint *restrict old_used,     // [known]
    __global const uint *restrict old_indices,
    __global const ulong *restrict old_keys,    // by place
    const uint known,                           // vertices before
    __global const uint *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global ulong *restrict keys_here,         // by place, out
    __global uint *restrict sources,              // by place, out
    __global uint *restrict marks,              // by place, out
    __global uint *restrict counts,             // by place, out
    __global ulong *restrict work)              // [1] in/out, 0 on entry
{
    ${lanes.setup()}
    ulong lengths = 0ul;
    <%units:each_unit sums="sums" rows="n" total="total">
        const offset_t i = unit - sums[row], place = pointer[row] + i;
        const uint x = indices[place], length = row < known ? old_used[row] : 0u;
        ulong key = 0ul;
        if (length) {
            const offset_t old = old_pointer[row];
            // Most rows are as they were.
            uint at = min((uint)i, length - 1u);
            if (old_indices[old + at] != x) at = lower_bound(old_indices + old, length, x);
            if (at < length && old_indices[old + at] == x) key = old_keys[old + at];
        }
        keys_here[place] = key;
        sources[place] = row;
        marks[place] = counts[place] = 0u;
        if (row < x) lengths += min(used[row], used[x]);
    </%units:each_unit>
    ${lanes.add_up("lengths", "work", wide=True)}
}

// Edges that join, with the number that their ends' rows allow at most, on trial.
${group.kernel()} batch_join(
    __global const ulong *restrict keys,        // [count]
    const uint count,
    const uint bits,
    const uint order,                           // before that of all others
    __global const uint *restrict pointer,      // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global ulong *restrict keys_here,         // by place, in/out
    __global uint *restrict marks,              // by place, in/out: the least that the bound may be
    __global uint *restrict joined,             // [edges] out
    __global uint *restrict queue,              // [edges] out, the same
    __global uint *restrict listed)             // [1] in/out, 0 on entry
{
    <%share:each_item count="count">
        const uint u = SOURCE(keys[item]), v = TARGET(keys[item]);
        if (u < v) {
            const uint place = place_in_row(pointer, used, indices, u, v);
            const ulong most = MAKE_KEY(min(used[u], used[v]) + 1u, order) | CANDIDATE;
            keys_here[place] = most;
            keys_here[place_in_row(pointer, used, indices, v, u)] = most;
            marks[place] = 2u;
            const uint at = atomic_inc(listed);
            joined[at] = place;
            queue[at] = place;
        }
    </%share:each_item>
}

// Edges that stay of triangles that a batch takes away, where the triangle was one of those that their
// numbers need.
${group.kernel()} batch_leave(
    __global const ulong *restrict keys,        // [count]
    const uint count,
    const uint bits,
    __global const offset_t *restrict sums,     // [count + 1] of shorter rows
    const offset_t total,
    __global const uint *restrict old_pointer,  // [n]
    __global const uint *restrict old_used,     // [n]
    __global const uint *restrict old_indices,
    __global const ulong *restrict old_keys,    // by place
    __global const uint *restrict pointer,  // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global uint *restrict marks,              // by place, in/out
    __global uint *restrict queue,              // [edges] out
    __global uint *restrict listed,             // [1] in/out, 0 on entry
    __global ulong *restrict pending)           // [1] in/out, 0 on entry: their shorter rows
{
    ${lanes.setup()}
    ulong lengths = 0ul;
    <%units:each_unit sums="sums" rows="count" total="total">
        const uint a = SOURCE(keys[row]), b = TARGET(keys[row]);
        const uint u = old_used[a] <= old_used[b] ? a : b, v = a ^ b ^ u;
        const uint f = (uint)(old_pointer[u] + (unit - sums[row])), w = old_indices[f];
        if (w != u && w != v) {
            const uint g = place_in_row(old_pointer, old_used, old_indices, v, w);
            if (g != ~0u) {
                const uint gone = NUMBER(old_keys[place_in_row(old_pointer, old_used, old_indices, a, b)]);
                const uint of_f = NUMBER(old_keys[f]), of_g = NUMBER(old_keys[g]);
                for (uint side = 0u; side < 2u; ++side) {
                    const uint x = side ? v : u, mine = side ? of_g : of_f, other = side ? of_f : of_g;
                    if (mine > gone || mine > other) continue;
                    const uint place = place_in_row(pointer, used, indices, min(x, w), max(x, w));
                    if (place != ~0u && atomic_max(&marks[place], 1u) == 0u) {
                        queue[atomic_inc(listed)] = place;
                        lengths += min(used[x], used[w]);
                    }
                }
            }
        }
    </%units:each_unit>
    ${lanes.add_up("lengths", "pending", wide=True)}
}

// Numbers of stored edges, row after row, from keys by place.
${group.kernel()} batch_pack(
    __global const offset_t *restrict sums,     // [n + 1]
    const uint n,
    const offset_t total,
    __global const uint *restrict pointer,      // [n]
    __global const ulong *restrict keys_here,   // by place
    __global uint *restrict numbers)            // [total] out
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="n" total="total">
        numbers[unit] = NUMBER(keys_here[pointer[row] + (unit - sums[row])]);
    </%units:each_unit>
}

// Keys by place, from the numbers of stored edges and when they were removed; and the sum over all
// edges of the lengths of their shorter rows.
${group.kernel()} batch_unpack(
    __global const offset_t *restrict sums,     // [n + 1]
    const uint n,
    const offset_t total,
    __global const uint *restrict pointer,      // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global const uint *restrict numbers,      // [total]
    __global const uint *restrict removals,     // [total]
    const uint first,                           // order of the first that was removed
    __global ulong *restrict keys_here,         // by place, out
    __global ulong *restrict work)              // [1] in/out, 0 on entry
{
    ${lanes.setup()}
    ulong lengths = 0ul;
    <%units:each_unit sums="sums" rows="n" total="total">
        const uint number = numbers[unit];
        const offset_t place = pointer[row] + (unit - sums[row]);
        keys_here[place] = number ? MAKE_KEY(number, first + removals[unit]) : 0ul;
        const uint x = indices[place];
        if (row < x) lengths += min(used[row], used[x]);
    </%units:each_unit>
    ${lanes.add_up("lengths", "work", wide=True)}
}
