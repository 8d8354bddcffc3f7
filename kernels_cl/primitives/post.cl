<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="system" file="/memory/system.mako"/>\
// A few words of device memory, put down in host memory where somebody polls the last of them.
//
// No races: one work-group; the word that is polled is written when all others can be seen.
${memory.vocabulary()}
${system.vocabulary()}

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void post_words(
    __global const uint *restrict words,
    const uint first,                       // of those that are posted
    const uint count,
    const ulong box,                        // address in host memory of [count + 1] words, out
    __global uint *posts)                   // [1] in/out: launches so far, which the last of these becomes
{
    volatile __global uint *const posted = (volatile __global uint *)box;
    for (uint i = (uint)get_local_id(0); i < count; i += ${group_size}u) posted[i] = words[first + i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        const uint stamp = posts[0] + 1u;
        posts[0] = stamp;
        fence_system();
        store_release_system(posted + count, stamp);
    }
}
