<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="radix" file="/grid/radix.mako"/>\
<%namespace name="alone" file="/grid/radix_alone.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
// One pass of a stable radix sort of keys, and of a value that goes with each.
//
// No races but words that say how far work-groups are: an element's place is the number of elements of
// lower digits, and of those of its own digit that come before it.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", index)}
<%group:operator name="count" type="uint" identity="0u" args="a, b">${a} + ${b}</%group:operator>
${memory.vocabulary()}
${radix.names()}
#define ALL_BEFORE ((${index})1 << (8 * sizeof(${index}) - 1))

% if lanes.module.one_lane(context):
${lanes.kernel(group_size)} sort_count(
    __global const ${key} *restrict keys,       // [n]
    const ${index} n,
    const ${index} chunk,                       // elements of a work-group
    const uint shift,                           // bits below the digit
    __global ${index} *restrict counts)         // [DIGITS * groups] out
{
    ${alone.count(index, "keys", "n", "chunk", "counts")}
}

${lanes.kernel(group_size)} sort_offsets(
    __global ${index} *restrict counts,         // [DIGITS * groups] in/out: counts, then their scan
    const uint groups,
    __global ${index} *restrict totals)         // [DIGITS] out: elements of each digit
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${alone.offsets(index, "counts", "groups", "totals")}
}

${lanes.kernel(group_size)} sort_scatter(
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
    ${alone.scatter(index, key, value, "keys", "values", "n", "chunk", "counts", "totals", "sorted", "moved")}
}
% else:
// How often each digit of `passes` passes is there.
${lanes.kernel(group_size)} sort_histogram(
    __global const ${key} *restrict keys,       // [n]
    const ${index} n,
    const ${index} chunk,
    const uint first_shift,                     // bits below the first digit
    const uint passes,
    __global ${index} *restrict totals)         // [passes * DIGITS] in/out, 0 on entry
{
    ${radix.histogram(index, key, "keys", "n", "chunk", "passes", "totals")}
}

// A compiler that is told how many registers there are (see clgraph.device.load) would take no notice if it
// were told the size.
__kernel LANES_KERNEL_ATTRIBUTE
% if not limited:
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
% endif
void sort_sweep(
    __global const ${key} *restrict keys,       // [n]
% if value:
    __global const ${value} *restrict values,   // [n]
% endif
    const ${index} n,
    const uint shift,
    const uint pass,
    const uint poll_limit,                      // until a group counts what another does not say
    volatile __global ${index} *state,          // in/out: totals, tickets, words of all tiles for this pass
                                                // and for the next, in turn
    __global ${key} *restrict sorted${"," if value else ")"}         // [n] out
% if value:
    __global ${value} *restrict moved)          // [n] out
% endif
{
    ${lanes.setup()}\
    ${group.setup()}\
    volatile __global ${index} *const totals = state + pass * DIGITS;
    volatile __global uint *const ticket = (volatile __global uint *)(state + TICKETS) + pass;
    const size_t tiles = get_num_groups(0);
    volatile __global ${index} *const words = state + WORDS + (pass & 1u) * tiles * DIGITS;
    volatile __global ${index} *const other_words = state + WORDS + (~pass & 1u) * tiles * DIGITS;
    ${radix.sweep(index, key, value, items, looks, "keys", "values", "n", "totals", "words", "other_words", "ticket", "sorted", "moved")}
}
% endif
