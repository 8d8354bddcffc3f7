<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
// Claiming vertices by itself: each work-item finds one, in a graph of which some are reached.
#define UNREACHED (-1)
${group.words()}
${visited.declarations()}

${group.kernel()} check_claims(
    __global const uint *restrict vertices,     // [work-items]
    const int level,
    volatile __global int *labels,              // [n] in, out
    __global word_t *the_visited,               // [words] in, out
    __global uint *restrict claims)             // [work-items] out
{
    const uint v0 = vertices[get_global_id(0)];
    const int active0 = 1;
    ${visited.look("may_claim0", "v0", "active0", "labels", "UNREACHED")}
    ${visited.claim("claimed0", "v0", "may_claim0", "labels", "UNREACHED", "level")}
    claims[get_global_id(0)] = (uint)claimed0;
}
