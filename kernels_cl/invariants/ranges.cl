<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/group/group.mako"/>
<%namespace name="conditions" file="/rows/conditions.mako"/>
// Smallest and largest number of some rows of a trace, in a few segments of it.
//
// No races: a work-group writes the ranges of its own segments.

${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("min", "float")}
${group.named("max", "float")}
${group.named("or", "uint")}
${conditions.vocabulary("numeric", width)}

${lanes.kernel(group_size)} mine_ranges(
    __global const VALUES *restrict rows,       // [variables, stride]
    const ulong stride,
    const ulong from,                           // vectors of a row: those from here
    const ulong to,                             // to here
    const uint count,                           // of rows to look at
    const uint segments,                        // of each row
    __global float4 *restrict ranges)           // [count, segments] out: smallest, largest, and in z
{                                               // 1 where a number is NaN; then [count] in: the rows
    ${lanes.setup()}
    ${group.setup()}
    const __global uint *chosen = (const __global uint *)(ranges + (ulong)count * segments);
    const ulong segment_length = (to - from + segments - 1) / segments;
    for (ulong task = get_group_id(0); task < (ulong)count * segments; task += get_num_groups(0)) {
        const __global VALUES *restrict row = rows + chosen[task / segments] * stride;
        const ulong segment_begin = from + (task % segments) * segment_length;
        const ulong segment_end = min(segment_begin + segment_length, to);
        VALUES least = (VALUES)(INFINITY), most = (VALUES)(-INFINITY);
        TRUTHS unordered = (TRUTHS)(0);
        for (ulong at = segment_begin + get_local_id(0); at < segment_end; at += GROUP_SIZE) {
            const VALUES x = row[at];
            least = x < least ? x : least;
            most = x > most ? x : most;
            unordered |= x != x;
        }
        float lowest = INFINITY, highest = -INFINITY;
% for part in range(width):
        lowest = min(lowest, least.s${"0123456789abcdef"[part]});
        highest = max(highest, most.s${"0123456789abcdef"[part]});
% endfor
        lowest = group_reduce_min(lowest);
        highest = group_reduce_max(highest);
        const uint broken = group_reduce_or((uint)any(unordered));
        if (get_local_id(0) == 0) ranges[task] = (float4)(lowest, highest, broken ? 1.0f : 0.0f, 0.0f);
    }
}
