<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
// What a peeling begins with: all items there, or those that another run has left; no triangle claimed.
//
// No races: every word is one lane's.

${lanes.vocabulary()}
${memory.vocabulary()}
${stage.constants(control)}

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void truss_begin(
    __global const uint *restrict initial,  // [n] counts, where all begin anew
    const uint n,
    const uint anew,                        // whether they do
    const uint left,                        // items that are there
    const ulong edges,                      // lengths of all rows together
    const uint claim_words,
    __global uint *restrict counts,         // [n] in/out
    __global uchar *restrict status,        // [n] in/out
    __global uint *restrict numbers,        // [n] in/out
    __global uint *restrict claims,         // [claim_words] out
    __global uint *restrict control)        // out
{
    ${lanes.setup()}
    if (anew) {
        <%share:each_item count="n">
            counts[item] = initial[item];
            status[item] = (uchar)0;
            numbers[item] = 0u;
        </%share:each_item>
    }
    {
        <%share:each_item count="claim_words">
            claims[item] = 0u;
        </%share:each_item>
    }
    if (get_global_id(0) == 0) {
        for (uint word = 0u; word < ${control_words}u; ++word) control[word] = 0u;
        control[LEFT_ITEMS] = left;
        control[LISTED] = n;
        control[LEAST] = 0xffffffffu;
        *(__global ulong *)(control + LEFT_EDGES) = edges;
    }
}
