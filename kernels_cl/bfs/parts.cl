<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="candidates" file="/frontier/edges.mako"/>
<%namespace name="bins" file="/frontier/bins.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="steps" file="/bfs/parts_steps.mako"/>
// Breadth-first search over several devices: how one of them expands its part of a frontier.
//
// A device owns some of the vertices, with their distances and rows of edges, and numbers them from 0;
// targets of edges are numbered as in the whole graph. What it finds is either put in a bin for the owner
// of each (bfs/parts_contract.cl takes it from there) or marked in a bitmap of the whole graph
// (bfs/parts_bits.cl). Between launches the host moves bins or bitmaps.
//
// Races: whoever is found is looked up in a bitmap first, which says "not yet" too often. An atomic
// then lets one finder of this device win; without it (a mask) several may, and the owner decides.

${group.words()}
${queue.declarations()}
${candidates.declarations()}
${visited.declarations()}
${stage.declarations()}
#define UNREACHED (${UNREACHED})
${steps.row_names()}

${group.kernel()} bfs_parts_begin(
    __global const offset_t *restrict indptr,       // [n + 1]
    const uint n,                                   // vertices of this device
    const uint words,                               // of a bitmap of the whole graph
    const uint tree,                                // entries of `predecessors`, 0 where there is none
    const uint source,
    const uint own_source,                          // the source's number here, n where it is another's
    const uint root,                                // the source's entry of `predecessors`
    const uint state_words,
    __global int *distances,                        // [n] out
    __global int *predecessors,                     // [tree] out
    __global word_t *found,                         // [words] out
    % if exchange == "bits":
    __global word_t *reached,                       // [words] out
    __global uint *listed,                          // out: its first word
    % endif
    __global entry_t *frontier,                     // [n + slack] out
    __global entry_t *hubs,
    __global uint *state)                           // [state_words] out: see stage.mako
{
    ${steps.beginning("root", "state_words")}
}

${group.kernel()} bfs_parts_expand(
    __global const offset_t *restrict indptr,       // [n + 1]
    ${steps.targets("indices")}
    const uint own_step,                            // row u of this device is of vertex u * own_step + own_first
    const uint own_first,
    % if problem.named:
    const uint line_count,                          // rows for which that holds; those behind have names
    __global const uint *restrict names,            // [n - line_count]
    % endif
    __global const entry_t *frontier,
    __global const entry_t *hubs,
    __global word_t *found,                         // [words] in/out
    % if exchange == "candidates":
    __global candidate_t *bins,                     // [bin_begins[bin_count]] out
    __global const uint *restrict bin_begins,       // [bin_count + 1]
    const uint bin_count,
    % else:
    __global int *predecessors,                     // [vertices of the graph] out, where found; or one
    __global uint *listed,                          // in/out: how many, and which were found
    const uint lists,                               // whether that is wanted
    % endif
    volatile __global uint *state,
    const uint slot)                                // whose counters say how long the frontier is
{
    ${lanes.setup()}
    ${advance.setup()}
    ${duplicates.setup()}
    ${steps.take_targets("indices")}
    % if exchange == "candidates":
    ${bins.setup()}
    ${bins.begin()}
    % endif
    ${stage.only()}
    % if exchange == "candidates":
    // The other slot counts what the next launch appends to the next frontier.
    if (get_global_id(0) == 0) {
        ${stage.clear_slot("(slot ^ 1u)")}
    }
    % endif
    ${steps.expansion()}
    % if exchange == "candidates":
    ${bins.end(steps.owned)}
    % endif
}
