<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/group/group.mako"/>
<%namespace name="scan" file="/grid/scan.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
// Number components 0, 1, ... by their smallest members, given a representative of each vertex.
//
// A vertex is the first of its component if it is the smallest member; how many firsts lie before it
// is its component's number, which a scan over all vertices gives.
//
// Race: members of a component lower the same word of `leader` together. The minimum is atomic, and
// reading the word before is only to spare atomics: it may be stale, which is to say larger.

${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", "uint")}
#define COMPONENT_MASK ${0xFFFFFFFF ^ COMPONENT_KNOWN}u

% if smallest:
// Smaller and smaller representatives lead to the smallest member, which alone is its own.
#define FIRST_OF(v) (component[v] & COMPONENT_MASK)
% else:
#define FIRST_OF(v) leader[component[v] & COMPONENT_MASK]
% endif

static inline uint member_of(__global const uint *component, const uint v) {
    uint member = component[v] & COMPONENT_MASK;
    % if smallest:
    for (uint above = component[member] & COMPONENT_MASK; above < member; above = component[member] & COMPONENT_MASK)
        member = above;
    % endif
    return member;
}

${lanes.kernel(group_size)} number_clear(
    const uint n,
    __global uint *leader)                       // [n] out
{
    <%share:each_item count="n">
        const uint v = item;
        leader[v] = n;
    </%share:each_item>
}

${lanes.kernel(group_size)} number_first(
    __global const uint *restrict component,    // [n]
    const uint n,
    volatile __global uint *leader)              // [n] in/out, n on entry
{
    <%share:each_item count="n">
        const uint v = item;
        const uint representative = component[v] & COMPONENT_MASK;
        if (v < leader[representative]) atomic_min(&leader[representative], v);
    </%share:each_item>
}

${lanes.kernel(group_size)} number_fold(
    __global const uint *restrict component,    // [n]
    __global const uint *restrict leader,        // [n]
    const uint n,
    const uint chunk,
    __global uint *totals)                      // [groups] out
{
    ${lanes.setup()}
    ${group.setup()}
    <%scan:chunk_count index="uint" count="n" chunk="chunk" totals="totals">
        <%def name="keep(i)">(FIRST_OF(${i}) == ${i})</%def>
    </%scan:chunk_count>
}

${lanes.kernel(group_size)} number_rank(
    __global const uint *restrict component,    // [n]
    __global const uint *restrict leader,        // [n]
    const uint n,
    const uint chunk,
    __global const uint *restrict totals,       // [groups]
    __global uint *rank,                        // [n] out, of the first vertices
    __global uint *total)                       // [1] out
{
    ${lanes.setup()}
    ${group.setup()}
    // Each group adds up the totals before its own, which takes less time than a launch that scans them.
    uint sum_before = 0;
    for (uint i = (uint)get_local_id(0); i < (uint)get_group_id(0); i += ${group_size}u) sum_before += totals[i];
    const uint firsts_before = group_reduce_add(sum_before);
    <%scan:chunk_keep index="uint" count="n" chunk="chunk" items="${items}" before="firsts_before">
        <%def name="keep(i)">(FIRST_OF(${i}) == ${i})</%def>
        <%def name="store(i, place)">rank[${i}] = ${place};</%def>
    </%scan:chunk_keep>
    if (get_global_id(0) == get_global_size(0) - 1) *total = carry;
}

${lanes.kernel(group_size)} number_labels(
    __global const uint *restrict component,    // [n]
    __global const uint *restrict leader,        // [n]
    __global const uint *restrict rank,         // [n]
    const uint n,
    __global int *labels)                       // [n] out
{
    <%share:each_item count="n">
        const uint v = item;
        labels[v] = (int)rank[${'member_of(component, v)' if smallest else 'FIRST_OF(v)'}];
    </%share:each_item>
}

// All of it by one work-item, for graphs that are smaller than the launches are long.
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void number_by_one_item(
    __global const uint *restrict component,    // [n]
    const uint n,
    __global uint *rank,                        // [n]
    __global uint *total,                       // [1] out
    __global int *labels)                       // [n] out
{
    uint count = 0;
    for (uint v = 0; v < n; ++v) rank[v] = n;
    for (uint v = 0; v < n; ++v) {
        const uint representative = member_of(component, v);
        uint label = rank[representative];
        if (label == n) label = rank[representative] = count++;
        labels[v] = (int)label;
    }
    total[0] = count;
}
