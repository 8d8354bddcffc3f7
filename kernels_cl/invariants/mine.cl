<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/group/group.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="conditions" file="/rows/conditions.mako"/>
<%namespace name="expression" file="/invariants/expression.mako"/>
// Which conditions on a tuple of variables fail at some instant of a trace, for many tuples.
//
// A trace is a matrix of `stride` vectors a row, a row for each variable; instants after the last one
// repeat it, so every vector is whole. An entry is a tuple with the conditions it is to be tried on.
//
// Race: work-groups that look at different instants of the same tuple set bits of failed[e] together,
// atomically, and read it to spare work. A bit is never cleared, so what they read may only lack bits,
// and a condition that failed is at most tried again.

${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("or", "uint")}
${memory.vocabulary()}
${conditions.vocabulary(family.kind, width)}
#define AS_TRUTHS(x) as_int${width}(x)
${expression.vocabulary(family.kind, tolerance)}
#define ENTRY(e) (((const __global uint4 *)failed)[(count + 3) / 4 + (e)])
<%! POINTERS = ("first", "second", "third") %>

<%def name="point_to_rows()">
% for name, component in zip(POINTERS[:family.arity], "xyz"):
const __global VALUES *restrict ${name} = rows + entry.${component} * stride;
% endfor
</%def>

<%def name="try_conditions(begin, end)">
<%conditions:failing rows="${POINTERS[:family.arity]}" begin="${begin}" end="${end}" wanted="wanted" bits="bits" count="${len(family.atoms)}">
    <%def name="holds(k)">${expression.text(family.atoms[k], tolerance)}</%def>
</%conditions:failing>
</%def>

// A work-group for each segment of an entry's rows: it votes after 1, 1, 2, 4, ... vectors of each
// work-item, and leaves when everything wanted has failed, by its own account or another group's.
${lanes.kernel(group_size)} mine_entries(
    __global const VALUES *restrict rows,       // [variables, stride]
    const ulong stride,
    const ulong from,                           // vectors of a row: those from here
    const ulong to,                             // to here
    const uint count,
    const uint segments,                        // of each entry
    volatile __global uint *failed)             // [count, padded to fours] in/out; then the entries,
{                                               // [count, 4]: variables and wanted conditions
    ${lanes.setup()}
    ${group.setup()}
    const ulong segment_length = (to - from + segments - 1) / segments;
    for (ulong task = get_group_id(0); task < (ulong)count * segments; task += get_num_groups(0)) {
        const uint e = (uint)(task / segments);
        const uint4 entry = ENTRY(e);
        ${point_to_rows()}
        const ulong segment_begin = from + (task % segments) * segment_length;
        const ulong segment_end = min(segment_begin + segment_length, to);
        uint wanted = entry.w;
        ulong length = GROUP_SIZE;
        for (ulong begin = segment_begin; begin < segment_end && wanted;) {
            const ulong end = min(begin + length, segment_end);
            uint bits = 0;
            ${try_conditions("begin", "end")}
            if (get_local_id(0) == 0) bits |= load_relaxed(failed + e);
            const uint all = group_reduce_or(bits);
            if (get_local_id(0) == 0 && (all & wanted)) atomic_or(failed + e, all);
            wanted &= ~all;
            if (begin != segment_begin) length = min(2 * length, (ulong)GROUP_SIZE * ${longest_step}u);
            begin = end;
        }
    }
}

// A work-group for each slice of the trace: every tuple is tried on it before the next slice, so that
// the nearest cache or registers have the rows that tuples share.
${lanes.kernel(group_size)} mine_tiles(
    __global const VALUES *restrict rows,       // [variables, stride]
    const ulong stride,
    const ulong from,                           // vectors of a row: those from here
    const ulong to,                             // to here
    const uint count,
    const uint slice,                           // vectors
    volatile __global uint *failed)             // [count, padded to fours] in/out; then the entries,
{                                               // [count, 4]: variables and wanted conditions
    ${lanes.setup()}
    for (ulong begin = from + (ulong)get_group_id(0) * slice; begin < to; begin += (ulong)get_num_groups(0) * slice) {
        const ulong end = min(begin + slice, to);
        <%conditions:sweep rows="rows" stride="stride" begin="begin" end="end" entries="ENTRY" failed="failed" tuples="count" places="${family.arity}" count="${len(family.atoms)}">
            <%def name="holds(k)">${expression.text(family.atoms[k], tolerance)}</%def>
        </%conditions:sweep>
    }
}
