<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/grid/group.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
<%namespace name="maintain" file="/truss/maintain.mako"/>\
// Supports of the edges of a dynamic graph, one counter for each at the place that it goes by, and what
// becomes of them when a batch of edges leaves.
//
// A triangle that loses one edge costs its other two a unit, one that loses two costs the third a unit,
// which both find: the end of the third that is smaller takes it off. One that loses three costs nobody.
// The batch is a graph of its own: its keys are sorted by source and target, and `first` says where the keys
// of each source begin.
//
// Races: counters are changed by atomics, and what they end with is a sum.
${lanes.vocabulary()}
${group.declarations()}
${find.functions()}
${units.functions()}
${maintain.functions()}
#define SOURCE(key) ((uint)((key) >> bits))
#define TARGET(key) ((uint)((key) & ((1ul << bits) - 1ul)))

// Where the keys of each vertex begin: the rows of the graph of a batch.
${group.kernel()} supports_first(
    __global const ulong *restrict keys,        // [count] ascending, of both directions
    const uint count,
    const uint bits,
    const uint n,
    __global uint *restrict first)              // [n + 1] out
{
    <%share:each_item count="n + 1u">
        first[item] = item == n ? count : key_bound(keys, 0u, count, (ulong)item << bits);
    </%share:each_item>
}

// Supports of edges that stay.
${group.kernel()} supports_carry(
    __global const offset_t *restrict sums,     // [n + 1] of the rows as they are now
    const uint n,
    const offset_t total,
    __global const uint *restrict old_pointer,  // [n]
    __global const uint *restrict old_used,     // [n]
    __global const uint *restrict old_indices,
    __global const uint *restrict old_supports, // by place
    __global const uint *restrict pointer,      // [n]
    __global const uint *restrict indices,
    __global uint *restrict supports)           // by place, out
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="n" total="total">
        const offset_t place = pointer[row] + (unit - sums[row]);
        const uint old = place_in_row(old_pointer, old_used, old_indices, row, indices[place]);
        supports[place] = old == ~0u ? 0u : old_supports[old];
    </%units:each_unit>
}

// What a batch that has left takes from the supports of others: a SIMD group takes an edge u < v.
${group.kernel()} supports_subtract(
    __global const ulong *restrict keys,        // [count] ascending, of both directions
    const uint count,
    const uint bits,
    __global const uint *restrict first,        // [n + 1]
    __global const uint *restrict pointer,      // [n] of the graph without the batch
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global uint *restrict supports)           // by place, in/out
{
    ${lanes.setup()}
    const uint stride = (uint)(get_global_size(0) / LANES);
    for (uint item = (uint)(get_global_id(0) / LANES); item < count; item += stride) {
        const uint u = SOURCE(keys[item]), v = TARGET(keys[item]);
        if (u >= v) continue;
        // With both others there.
        const uint shorter = used[u] <= used[v] ? u : v, longer = u ^ v ^ shorter;
        for (uint i = lane_id(); i < used[shorter]; i += LANES) {
            const uint near = pointer[shorter] + i, x = indices[near];
            const uint far = x == u || x == v ? ~0u : place_in_row(pointer, used, indices, longer, x);
            if (far != ~0u) {
                atomic_dec(&supports[place_of_edge(pointer, used, indices, shorter, x, near)]);
                atomic_dec(&supports[place_of_edge(pointer, used, indices, longer, x, far)]);
            }
        }
        // With another one that has left too, at either end.
        for (uint end = 0u; end < 2u; ++end) {
            const uint stays = end ? v : u, left = end ? u : v;
            for (uint i = first[left] + lane_id(); i < first[left + 1u]; i += LANES) {
                const uint x = TARGET(keys[i]);
                if (x == left || stays >= x) continue;
                const uint place = place_in_row(pointer, used, indices, stays, x);
                if (place != ~0u) atomic_dec(&supports[place]);
            }
        }
    }
}

// All supports, counted: the elements of the shorter row are looked up in the longer.
${group.kernel()} supports_count(
    __global const offset_t *restrict sums,     // [n + 1]
    const uint n,
    const offset_t total,
    __global const uint *restrict pointer,      // [n]
    __global const uint *restrict used,         // [n]
    __global const uint *restrict indices,
    __global uint *restrict supports)           // by place, out
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="n" total="total">
        const uint place = pointer[row] + (uint)(unit - sums[row]), v = indices[place];
        uint found = 0u;
        if (row < v) {
            const uint shorter = used[row] <= used[v] ? row : v, longer = row ^ v ^ shorter;
            for (uint i = 0u; i < used[shorter]; ++i) {
                const uint x = indices[pointer[shorter] + i];
                found += x != row && x != v && place_in_row(pointer, used, indices, longer, x) != ~0u;
            }
        }
        supports[place] = found;
    </%units:each_unit>
}

// Edges with too few triangles, in whatever order.
${group.kernel()} supports_under(
    __global const offset_t *restrict sums,     // [n + 1]
    const uint n,
    const offset_t total,
    __global const uint *restrict pointer,      // [n]
    __global const uint *restrict indices,
    __global const uint *restrict supports,     // by place
    const uint least,
    __global uint *restrict src,                // [edges] out
    __global uint *restrict dst,                // [edges] out
    __global uint *restrict found)              // [1] in/out, 0 on entry
{
    ${lanes.setup()}
    <%units:each_unit sums="sums" rows="n" total="total">
        const uint place = pointer[row] + (uint)(unit - sums[row]), v = indices[place];
        if (row < v && supports[place] < least) {
            const uint at = atomic_inc(found);
            src[at] = row;
            dst[at] = v;
        }
    </%units:each_unit>
}
