<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="sides" file="/triangles/sides.mako"/>
// Triangles x < v < u, by number, each at its edge from u to v, straight from the rows of the graph:
// a few work-items a vertex u, which take its edges in turn. For graphs of low degree. The first edge
// of a row has no x before it.
//
// Supports of edges grow at the place in the row of the greater end; `triangles_mirror` then copies
// them to the other place, where the edge has triangles at all.
//
// Races: none that shows; sums are integers.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}
#define INTERSECT_STEP()
${intersect.functions()}

#define SPAN ${config.span}u            // work-items of a row

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void triangles_rows(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m] ascending in each row
    const uint first,                           // rows from `first` to `end`
    const uint end,
    const uint anew,                            // whether partial sums begin here
    __global ulong *partial${"," if config.per != "total" else ")"}                    // [SIMD groups] in/out: triangles found
% if config.per == "vertex":
    __global ulong *found)                      // [n] in/out
% elif config.per == "edge":
    __global uint *found)                       // [m] in/out, places of smaller ends only
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
    const ulong slots = (ulong)(end - first) * SPAN;
% if config.together:
    // A thread's rows lie side by side.
    const ulong share = (slots + get_global_size(0) - 1u) / get_global_size(0);
    const ulong slots_end = min((get_global_id(0) + 1u) * share, slots);
    for (ulong slot = get_global_id(0) * share; slot < slots_end; ++slot) {
% else:
    for (ulong slot = get_global_id(0); slot < slots; slot += get_global_size(0)) {
% endif
        const uint u = first + (uint)(slot / SPAN);
        const offset_t row = indptr[u];
        const uint degree = (uint)(indptr[u + 1] - row);
        __global const uint *const a = indices + row;
% if config.per == "vertex":
        uint of_u = 0u;
% endif
        for (uint k = (uint)(slot % SPAN) + 1u; k < degree; k += SPAN) {
            const uint v = a[k];
            if (v >= u) break;
            uint both = 0u;
            const offset_t other = indptr[v];
            const uint nb = (uint)(indptr[v + 1] - other);
            __global const uint *const b = indices + other;
            <%intersect:each_match way="merge" a="a" b="b" na="k" nb="nb" part="0u" parts="1u" args="i, j">
                ++both;
% if config.per == "vertex":
                atom_inc(&found[a[${i}]]);
% elif config.per == "edge":
                atomic_inc(&found[row + ${i}]);
                atomic_inc(&found[other + ${j}]);
% elif config.per == "list":
                const uint slot = atomic_inc(cursor);
                if (slot < room) vstore3((uint3)(a[${i}], v, u), slot, found);
% elif config.per == "sides":
                ${sides.put("numbered[u] + k", f"numbered[u] + {i}", f"numbered[v] + {j}")}
% endif
            </%intersect:each_match>
% if config.per == "vertex":
            if (both) {
                atom_add(&found[v], (ulong)both);
                of_u += both;
            }
% elif config.per == "edge":
            if (both) atomic_add(&found[row + k], both);
% endif
            total += both;
        }
% if config.per == "vertex":
        if (of_u) atom_add(&found[u], (ulong)of_u);
% endif
    }
    lane_converge();
    total = lane_reduce_add_ulong(total);
    const uint sum = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    if (lane_id() == 0u) partial[sum] = total + (anew ? 0ul : partial[sum]);
}
% if config.per == "edge":

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void triangles_mirror(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m] ascending in each row
    const uint first,                           // rows from `first` to `end`
    const uint end,
    __global uint *found)                       // [m] in/out, 0 at places of greater ends
{
    const ulong slots = (ulong)(end - first) * SPAN;
    for (ulong slot = get_global_id(0); slot < slots; slot += get_global_size(0)) {
        const uint u = first + (uint)(slot / SPAN);
        const offset_t row_end = indptr[u + 1];
        for (offset_t e = indptr[u] + slot % SPAN; e < row_end; e += SPAN) {
            const uint v = indices[e];
            if (v >= u) break;
            const uint both = found[e];
            if (!both) continue;
            const offset_t other = indptr[v];
            found[other + lower_bound(indices + other, (uint)(indptr[v + 1] - other), u)] = both;
        }
    }
}
% endif
