<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
// Every word of the work-group vocabulary for one operator, each group on its own values.
//
// No races: a work-item writes only its own places of the results.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
% if operator == "latest":
// The last value that is not zero: associative, and far from commutative.
<%group:operator name="latest" type="${type}" identity="0" args="a, b">
    ${b} != 0 ? ${b} : ${a}
</%group:operator>
% else:
${group.named(operator, type)}
% endif

${lanes.kernel(group_size)} group_check(
    __global const ${type} *restrict values,    // [n], n = work-items of the launch
    const uint item,                            // whose place in its group to broadcast
    __global ${type} *restrict exclusive,       // [n] out
    __global ${type} *restrict inclusive,       // [n] out
    __global ${type} *restrict totals,          // [3, n] out: of either scan, and reduced
    __global uint *restrict places)             // [n] out
{
    ${lanes.setup()}\
    ${group.setup()}\
    const size_t i = get_global_id(0);
    const size_t n = get_global_size(0);
    const ${type} x = values[i];
    ${type} total;
    exclusive[i] = group_scan_exclusive_${operator}(x, &total);
    totals[i] = total;
    inclusive[i] = group_scan_inclusive_${operator}(x, &total);
    totals[n + i] = total;
    totals[2 * n + i] = group_reduce_${operator}(x);
    places[i] = group_broadcast((uint)i, item);
}
