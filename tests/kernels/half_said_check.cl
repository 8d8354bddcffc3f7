<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="swept" file="/grid/swept.mako"/>\
// Group 1 looks back at tile 0, which has said one word of its second value and overwritten its elements; group 0
// stands for that tile and says the other word after a while.
//
// The race is what is looked at: until group 0 goes on, nothing in memory tells what tile 0 combines to.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", "ulong")}
${memory.vocabulary()}
${swept.words("ulong")}
#define TILE GROUP_SIZE

__kernel LANES_KERNEL_ATTRIBUTE
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void half_said_check(
    __global const ulong *values,               // [GROUP_SIZE] overwritten
    const ulong whole,                          // what tile 0 combines to
    const uint stamp,
    const uint pause,                           // loads until group 0 goes on
    const uint poll_limit,
    volatile __global ulong *state,             // [STATE_HEAD + 4] in/out
    __global ulong *restrict found)             // [1] out: what group 1 finds
{
    ${lanes.setup()}\
    ${group.setup()}\
    const uint lid = (uint)get_local_id(0), number = (uint)get_group_id(0);
    const ulong all = number ? 1u : whole;
    for (uint i = 0u; number == 0u && i < pause; ++i) load_relaxed_ulong(state);
    ${swept.hand("add", "ulong", "uint", 1, "values[i]", in_place="1")}
    if (number && lid == 0u) *found = prefix;
}
