<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="gather" file="/visited/gather.mako"/>
// The frontier's building blocks one by one: each pushed entry exactly once and none beyond the
// queue's end, each bit of a bitmap exactly once.
//
// Race: counters are atomic; nothing else is written by two work-items.
${group.words()}
${queue.declarations()}
${visited.declarations()}
${stage.declarations()}

// What the kernel below starts with: all groups are members of one stage.
<%def name="begin(length)">
    ${lanes.setup()}
    const uint member = (uint)get_group_id(0), slot = 0;
    stage_t now = stage_first(0u);
    now.members = (uint)get_num_groups(0);
    now.length = ${length};
</%def>

${group.kernel()} check_gather(
    __global const word_t *restrict before,     // [words]
    __global const word_t *restrict after,      // [words]
    const uint words,
    const uint n,                               // room in the queue
    const uint small,                           // whether SIMD groups flush by themselves
    __global uint *restrict seen,               // [32 * words] in/out: how often each vertex came
    __global entry_t *restrict pushed,          // [n] out
    volatile __global uint *state)
{
    ${begin("words")}
    ${queue.setup()}
    group_barrier();
    ${queue.begin_stage()}
    <%gather:each_added before="before" after="after" words="words">
        if (active) atomic_inc(seen + v);
        found_edges += active;
        ${queue.push("active", "MAKE_ENTRY(v, v, 1u)", "pushed")}
    </%gather:each_added>
    ${queue.end_stage("pushed", "small")}
}

% if config.frontier.update.name == "registers":
// Each lane pushes as many entries as it is given, one after another.
${group.kernel()} check_registers(
    __global const uint *restrict indptr,       // unused
    __global const uint *restrict lengths,      // [work-items]
    const uint rounds,
    const uint n,                               // room in the queue
    __global entry_t *restrict pushed,          // [n] out
    volatile __global uint *state)
{
    ${begin("rounds")}
    ${queue.setup()}
    group_barrier();
    ${queue.begin_stage()}
    for (uint round = 0; round < rounds; ++round) {
        const int pushing_one = round < lengths[get_global_id(0)];
        ${queue.push("pushing_one", "MAKE_ENTRY((uint)get_global_id(0) * 256u + round, round, 1u)", "pushed")}
    }
    ${queue.end_stage("pushed", "1")}
}
% endif
