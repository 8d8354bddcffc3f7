<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
// Dropping duplicates by itself: lanes hold a vertex each, all at the same time.
${group.words()}

${group.kernel()} check_duplicates(
    __global const uint *restrict vertices,     // [rounds * work-items]
    const uint rounds,
    __global uint *restrict kept)               // [rounds * work-items] out
{
    ${lanes.setup()}
    ${duplicates.setup()}
    for (uint round = 0; round < rounds; ++round) {
        const uint at = round * (uint)get_global_size(0) + (uint)get_global_id(0);
        const uint v = vertices[at];
        int alive = 1;
        ${duplicates.at_lookup("alive", "v")}
        kept[at] = (uint)alive;
    }
}
