<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="sides" file="/triangles/sides.mako"/>
// Triangles x < v < u, by number, each at its edge from u to v, straight from the rows of the graph:
// a few work-items a vertex u, which take its edges in turn. For graphs of low degree. The first edge
// of a row has no x before it.
//
// What is counted of x and of v goes to tallies of the row of u in local memory, so that vertices take
// at most one global atomic for an edge that closes triangles. They are added to zeros: each run leaves
// zeros for the next one in `spare`.
//
// Supports of edges: each edge intersects whole rows, four places at a time, and its support is
// stored at both of its places. That finds each triangle three times, and needs neither atomics nor
// zeros to begin with, nor a pass that copies.
//
// Races: none that shows; sums are integers.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}
#define INTERSECT_STEP()
${intersect.functions()}
${intersect.block_functions("offset_t")}

#define TALLIES ${config.tallies}u      // edges of a row counted in local memory
#define SPAN ${config.span}u            // work-items of a row
#define ADD(sum, x) ${"atom_add(&(sum), (ulong)(x))" if config.sum_t == "ulong" else "atomic_add(&(sum), (x))"}

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void triangles_rows(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m] ascending in each row
    const uint first,                           // rows from `first` to `end`
    const uint end,
% if config.width > 1:
    const offset_t m,
% endif
    const uint anew,                            // whether partial sums begin here
    __global ulong *partial${"," if config.per != "total" else ")"}                    // [SIMD groups] in/out: triangles found
% if config.per == "vertex":
    __global ${config.sum_t} *spare,                      // [n] out, 0
    __global ${config.sum_t} *found)                      // [n] in/out
% elif config.per == "edge":
    __global uint *found)                       // [m] out
% elif config.per == "list":
    __global uint *cursor,                      // [1] in/out, 0 on entry
    const uint room,
    __global uint *found)                       // [3 * room] out
% elif config.per == "sides":
    ${sides.arguments()}
% endif
{
    ${lanes.setup()}
    ulong total = 0ul;
% if config.per == "vertex":
% if config.flush == "row":
    // One tally a row, whose work-items add to it.
    __local uint tallies[(TALLIES + 1u) * (${config.group_size} / SPAN)];
    __local uint *const tally = tallies + get_local_id(0) / SPAN * (TALLIES + 1u);
    for (uint i = get_local_id(0) % SPAN; i < TALLIES; i += SPAN) tally[i] = 0u;
    lane_converge();
% else:
    __local uint tallies[TALLIES * ${config.group_size}];
    __local uint *const tally = tallies + get_local_id(0);
    for (uint i = 0u; i < TALLIES; ++i) tally[i * ${config.group_size}u] = 0u;
% endif
% endif
    const ulong slots = (ulong)(end - first) * SPAN;
% if config.together:
    // A thread's rows lie side by side.
    const ulong share = (slots + get_global_size(0) - 1u) / get_global_size(0);
    const ulong slots_end = min((get_global_id(0) + 1u) * share, slots);
    for (ulong slot = get_global_id(0) * share; slot < slots_end; ++slot) {
% elif config.flush != "own":
    for (ulong base = get_global_id(0) - lane_id(); base < slots; base += get_global_size(0)) {
        const ulong slot = base + lane_id();
% else:
    for (ulong slot = get_global_id(0); slot < slots; slot += get_global_size(0)) {
% endif
        const uint u = first + (uint)(slot / SPAN);
% if config.per == "vertex":
% if config.flush != "own":
        const int there = slot < slots;
        if (there && slot % SPAN == 0u) spare[u] = 0;
% else:
        if (slot % SPAN == 0u) spare[u] = 0;
% endif
% endif
% if config.flush != "own":
        const offset_t row = there ? indptr[u] : 0;
        const uint degree = there ? (uint)(indptr[u + 1] - row) : 0u;
% else:
        const offset_t row = indptr[u];
        const uint degree = (uint)(indptr[u + 1] - row);
% endif
        __global const uint *const a = indices + row;
% if config.per == "vertex":
        uint of_u = 0u, tallied = 0u;
% endif
        for (uint k = (uint)(slot % SPAN)${" + 1u" if config.per != "edge" else ""}; k < degree; k += SPAN) {
            const uint v = a[k];
            if (v >= u) break;
            uint both = 0u;
            const offset_t other = indptr[v];
            const uint nb = (uint)(indptr[v + 1] - other);
            __global const uint *const b = indices + other;
% if config.per == "edge":
            uint mirror;                        // the edge's place in the row of v
            both = common(indices, m, row, degree, other, nb, u, &mirror);
            found[row + k] = both;
            if (mirror < nb) found[other + mirror] = both;
% elif config.per == "total" and config.width > 1:
            uint below;
            both = common(indices, m, row, k, other, nb, u, &below);
% else:
            <%intersect:each_match way="merge" a="a" b="b" na="k" nb="nb" part="0u" parts="1u" args="i, j">
                ++both;
% if config.per == "vertex":
% if config.flush == "row":
                if (${i} < TALLIES) atomic_inc(&tally[${i}]);
% else:
                if (${i} < TALLIES) {
                    ++tally[${i} * ${config.group_size}u];
                    tallied = max(tallied, ${i} + 1u);
                }
% endif
                else ADD(found[a[${i}]], 1u);
% elif config.per == "list":
                const uint slot = atomic_inc(cursor);
                if (slot < room) vstore3((uint3)(a[${i}], v, u), slot, found);
% elif config.per == "sides":
                ${sides.put("numbered[u] + k", f"numbered[u] + {i}", f"numbered[v] + {j}")}
% endif
            </%intersect:each_match>
% endif
% if config.per == "vertex":
% if config.flush == "row":
            if (both) tallied = min(k + 1u, TALLIES);
            if (both && k < TALLIES) atomic_add(&tally[k], both);
% else:
            if (both && k < TALLIES) {
                tally[k * ${config.group_size}u] += both;
                tallied = k + 1u;
            }
% endif
            else if (both) ADD(found[v], both);
            of_u += both;
% endif
            total += both;
        }
% if config.per == "vertex":
% if config.flush == "own":
        if (of_u) ADD(found[u], of_u);
        for (uint i = 0u; i < tallied; ++i) {
            const uint met = tally[i * ${config.group_size}u];
            if (met) ADD(found[a[i]], met);
            tally[i * ${config.group_size}u] = 0u;
        }
% else:
        // The work-items of a row, which lie side by side in a SIMD group, add up what each has tallied.
        lane_converge();
        const uint part = (uint)(slot % SPAN);
        for (uint step = 1u; step < SPAN; step *= 2u) {
            of_u += lane_shuffle(of_u, lane_id() ^ step);
            tallied = max(tallied, lane_shuffle(tallied, lane_id() ^ step));
        }
        if (of_u && part == 0u) ADD(found[u], of_u);
        for (uint i = part; i < tallied; i += SPAN) {
% if config.flush == "row":
            const uint met = tally[i];
            tally[i] = 0u;
% else:
            uint met = 0u;
            for (uint q = 0u; q < SPAN; ++q) {
                __local uint *const one = tally - part + q + i * ${config.group_size}u;
                met += *one;
                *one = 0u;
            }
% endif
            if (met) ADD(found[a[i]], met);
        }
        lane_converge();
% endif
% endif
    }
    lane_converge();
    total = lane_reduce_add_ulong(total);
    const uint sum = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    if (lane_id() == 0u) partial[sum] = total + (anew ? 0ul : partial[sum]);
}
