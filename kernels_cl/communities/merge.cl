<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="table" file="/rows/tally.mako"/>\
<%namespace name="level" file="/communities/level.mako"/>\
// A graph whose vertices are the communities, or parts of them, of another: where work-items are threads,
// each of which has a sum for every new vertex.
//
// A thread takes all members of a new vertex, sums their edges by where they lead, and writes that row to
// where there is room; rows are put in order then. No races: what is not a thread's own is atomic.
${level.declarations()}
<% (kind,) = kinds %>\

// New vertices of all, twice: the keys are sorted, and the vertices with them.
__kernel KERNEL void merge_members(
    const uint n,
    __global const uint *restrict labels,       // [n]
    __global const uint *restrict numbers,      // [n] new vertex of a label
    __global uint *restrict new_of,             // [n] out
    __global uint *restrict keys,               // [n] out
    __global uint *restrict members,            // [n] out: all
    __global uint *restrict cursor)             // [2] out: rows taken, and room for edges
{
    <%share:each_item count="n">
        new_of[item] = keys[item] = numbers[labels[item]];
        members[item] = item;
        if (item < 2u) cursor[item] = 0u;
    </%share:each_item>
}

// Where the members of each new vertex begin; it has one at least.
__kernel KERNEL void merge_begins(
    const uint n,
    __global const uint *restrict keys,         // [n] sorted
    __global uint *restrict begins)             // [new n] out
{
    <%share:each_item count="n">
        if (item == 0u || keys[item] != keys[item - 1u]) begins[keys[item]] = item;
    </%share:each_item>
}

// What each new vertex holds, and its edges, in the order in which its members have met them.
__kernel KERNEL void merge_rows(
${table.parameters()}\
${level.rows()}\
    const uint n,
    const uint new_n,
    __global const uint *restrict new_of,       // [n]
    __global const uint *restrict members,      // [n] by new vertex
    __global const uint *restrict begins,       // [new n]
    __global const sum_t *restrict strengths,   // [n]
    __global const sum_t *restrict loops,       // [n]
    __global sum_t *restrict new_strengths,     // [new n] out
    __global sum_t *restrict new_loops,         // [new n] out
    __global uint *restrict lengths,            // [new n] out: of rows
    __global uint *restrict places,             // [new n] out: where rows are
    __global uint *restrict targets,            // [m] out
    __global sum_t *restrict target_weights)    // [m] out
{
    ${lanes.setup()}
    ${table.use(kind)}
    <%table:each_row count="new_n" kind="${kind}">
        const uint members_end = row_slot + 1u < new_n ? begins[row_slot + 1u] : n;
        sum_t strength = 0, loop = 0;
        // Sums are one more than they should be: so that edges which weigh nothing are met only once, and
        // the new vertex itself is none that others lead to.
        sums[row_slot] = 1;
        for (uint at = begins[row_slot]; at < members_end; ++at) {
            const uint v = members[at];
            strength += strengths[v];
            loop += loops[v];
            const offset_t row_end = indptr[v + 1];
            for (offset_t e = indptr[v]; e < row_end; ++e) {
                const uint u = indices[e], to = new_of[u];
                const sum_t w = u == v ? 0 : WEIGHT(e), known = sums[to];
                keys[key_count] = to;
                key_count += known == 0;
                sums[to] = known + w + (known == 0);
            }
        }
        new_strengths[row_slot] = strength;
        new_loops[row_slot] = loop + sums[row_slot] - 1;
        sums[row_slot] = 0;
        const uint place = atomic_add(row_claims + row_claim + 1u, key_count);
        lengths[row_slot] = key_count;
        places[row_slot] = place;
        for (uint i = 0u; i < key_count; ++i) {
            const uint to = keys[i];
            targets[place + i] = to;
            target_weights[place + i] = sums[to] - 1;
            sums[to] = 0;
        }
        key_count = 0u;
    </%table:each_row>
}

// Rows by new vertex.
__kernel KERNEL void merge_ordered(
    const uint n,                               // new vertices
    __global const uint *restrict begins,       // [n] of rows
    const uint edge_count,
    __global const uint *restrict places,       // [n] where they are now
    __global const uint *restrict targets,
    __global const sum_t *restrict target_weights,
    __global uint *restrict indptr,             // [n + 1] out
    __global uint *restrict indices,            // out
    __global sum_t *restrict weights)           // out
{
    <%share:each_item count="n">
        const uint begin = begins[item], end = item + 1u < n ? begins[item + 1u] : edge_count;
        const uint from = places[item];
        for (uint i = 0u; i < end - begin; ++i) {
            indices[begin + i] = targets[from + i];
            weights[begin + i] = target_weights[from + i];
        }
        indptr[item] = begin;
        if (item + 1u == n) indptr[n] = end;
    </%share:each_item>
}
