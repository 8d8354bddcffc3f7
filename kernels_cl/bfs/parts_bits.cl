<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
<%namespace name="steps" file="/bfs/parts_steps.mako"/>
// Breadth-first search over several devices that exchange a bit for each vertex.
//
// Every device holds two bitmaps of the whole graph: `reached` is what was known to all before this
// level, `found` has beside it what this device finds. Merging the others' makes them equal again.
// A device owns whole words of them, from first_word on.
//
// Races: none; each word is written by one work-item. What other devices' copies write into `found`
// lies outside the words that are pulled into.

${group.words()}
${queue.declarations()}
${visited.declarations()}
${stage.declarations()}
#define UNREACHED (${UNREACHED})

% if config.pull:
${group.kernel()} bfs_parts_pull(
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    ${steps.targets("in_indices")}
    __global const word_t *restrict unreachable,    // [own_words] no in-edges, and what lies beyond n
    % if likely:
    __global const uint${likely if likely > 1 else ""} *restrict likely, // [own_n] in-neighbours that are tried first
    % endif
    const uint first_word,
    const uint own_words,
    __global const word_t *reached,                 // [words]
    __global word_t *found,                         // [words] in/out
    __global int *predecessors,                     // [vertices of the graph] out, where found; or one
    volatile __global uint *state,
    const uint slot)
{
    ${lanes.setup()}
    ${pull.setup()}
    ${steps.take_targets("in_indices")}
    ${stage.only()}
    ${steps.pulling()}
}
% endif

// What others list instead of sending all bits; several may list the same vertex.
${group.kernel()} bfs_parts_mark(
    __global const uint *restrict lists,            // [peers, room]: how many, and which
    const uint room,
    const uint peers,
    __global word_t *found)                         // [words] in/out
{
    for (uint peer = 0; peer < peers; ++peer) {
        __global const uint *const listed = lists + (ulong)peer * room;
        const uint count = min(listed[0], room - 1u);
        <%share:each_item count="count">
            const uint v = listed[1u + item];
            WORD_OR(&found[v >> WORD_SHIFT], WORD_BIT(v));
        </%share:each_item>
    }
}

// The bits of a word that are new to this device; then both bitmaps hold them.
static inline word_t merge_word(const uint w, const uint words, const uint peers,
                                __global const word_t *inbox, __global word_t *reached,
                                __global word_t *found) {
    const word_t before = reached[w];
    word_t merged = found[w];
    for (uint peer = 0; peer < peers; ++peer) merged |= inbox[(ulong)peer * words + w];
    reached[w] = merged;
    found[w] = merged;
    return merged & ~before;
}

${group.kernel()} bfs_parts_merge(
    __global const offset_t *restrict indptr,       // [n + 1]
    ${steps.targets("indices")}
    const uint n,                                   // vertices of this device
    const uint level,                               // distance of what is new
    const uint words,
    const uint first_word,
    const uint own_words,
    __global const word_t *inbox,                   // [peers, words]
    const uint peers,
    __global word_t *reached,                       // [words] in/out
    __global word_t *found,                         // [words] in/out
    __global uint *listed,                          // out: its first word
    __global int *distances,                        // [n] in/out
    __global entry_t *queue_to,                     // [n + slack] out
    __global entry_t *hubs_to,
    const uint hub_floor,                           // out-degree above which a vertex counts as a hub
    volatile __global uint *state,
    const uint slot)                                // whose counters are those of the next frontier
{
    ${lanes.setup()}
    ${queue.setup()}
    ${steps.take_targets("indices")}
    ${stage.only()}
    // The other slot counted the frontier that is behind us, which not every device has expanded.
    if (get_global_id(0) == 0) {
        listed[0] = 0;
        ${stage.clear_slot("(slot ^ 1u)")}
    }
    <%share:each_item count="words">
        if (item - first_word >= own_words) merge_word(item, words, peers, inbox, reached, found);
    </%share:each_item>
    % if config.group_size > config.lanes:
    group_barrier();   // counters of the group's own queue are cleared
    % endif
    ${steps.merging("merge_word(first_word + w, words, peers, inbox, reached, found)", "level")}
}
