<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="radix" file="/grid/radix.mako"/>\
// One pass of a stable radix sort of keys, and of a value that goes with each.
//
// No races: an element's place is the number of elements of lower digits, and of those of its own digit
// that come before it.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", index)}
<%group:operator name="count" type="uint" identity="0u" args="a, b">${a} + ${b}</%group:operator>
${radix.names()}

__kernel LANES_KERNEL_ATTRIBUTE
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void sort_count(
    __global const ${key} *restrict keys,       // [n]
    const ${index} n,
    const ${index} chunk,                       // elements of a work-group
    const uint shift,                           // bits below the digit
    __global ${index} *restrict counts)         // [DIGITS * groups] out
{
    ${radix.count(index, "keys", "n", "chunk", "counts")}
}

__kernel LANES_KERNEL_ATTRIBUTE
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void sort_offsets(
    __global ${index} *restrict counts,         // [DIGITS * groups] in/out: counts, then their scan
    const uint groups,
    __global ${index} *restrict totals)         // [DIGITS] out: elements of each digit
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${radix.offsets(index, "counts", "groups", "totals")}
}

__kernel LANES_KERNEL_ATTRIBUTE
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void sort_scatter(
    __global const ${key} *restrict keys,       // [n]
% if value:
    __global const ${value} *restrict values,   // [n]
% endif
    const ${index} n,
    const ${index} chunk,
    const uint shift,
    __global const ${index} *restrict counts,   // [DIGITS * groups], scanned
    __global const ${index} *restrict totals,   // [DIGITS]
    __global ${key} *restrict sorted${"," if value else ")"}         // [n] out
% if value:
    __global ${value} *restrict moved)          // [n] out
% endif
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${radix.scatter(index, key, value, items, "keys", "values", "n", "chunk", "counts", "totals", "sorted", "moved")}
}
