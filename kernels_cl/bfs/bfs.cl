<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="candidates" file="/frontier/edges.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="bins" file="/balance/bins.mako"/>
<%namespace name="small" file="/bfs/small_frontiers.mako"/>
<%namespace name="form" file="${'/bfs/' + {'vertex': 'vertex_queue', 'status': 'status_array'}.get(context['config'].frontier.name, 'edge_queue') + '.mako'}"/>
// Breadth-first search: hop distances and optionally one shortest-path tree from a source.
// How a level finds the next one, and what its frontier looks like, is in the files of bfs/.
//
// Races: several frontier vertices may reach v together; the claim lets exactly one win, and
// whichever wins is a valid predecessor. Distances of one stage are all the same number.

${lanes.vocabulary()}
${memory.vocabulary()}
${clock.vocabulary()}
${group.declarations()}
${queue.declarations()}
${visited.declarations()}
% if config.frontier.name in ("edge", "two_phase", "hybrid"):
${candidates.declarations()}
% endif
${stage.declarations()}

% if config.frontier.name == "status":
${form.declarations()}
% endif
% if config.hub_bins:
${bins.declarations()}
% endif
#define UNREACHED (${UNREACHED})
% if config.counts:
// Events, words of the state.
% for name, index in counters.items():
#define ${name} ${index}
% endfor
% endif
% for name, number in stage_numbers.items():
#define ${name.upper()} ${number}u
% endfor

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void bfs(
    __global const ${rows.type()} *restrict indptr,       // [n + 1], or a pair for each vertex
    __global const uint *restrict indices,          // [m]
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    __global const uint *restrict in_indices,       // [m]
    __global const word_t *restrict unreachable,    // [words] no in-edges, and what lies beyond n
    const uint n,
    const ulong m,
    const uint max_degree,
    const uint mean_degree,
    const uint source,
    const uint max_level,
    __global int *distances,                        // [n] out
    __global int *predecessors,                     // [n] out, or one element
    __global word_t *visited_even,                  // [words]
    __global word_t *visited_odd,                   // [words]
    __global entry_t *queue_even,                   // [n + slack]
    __global entry_t *queue_odd,                    // [n + slack]
    __global entry_t *hubs_even,                    // [number of hubs + lanes]
    __global entry_t *hubs_odd,
    % if config.hub_bins:
    __global const uint *restrict bin_begins,       // [bins + 1] see bins.mako
    % endif
    % if not config.exact:
    const uint queue_capacity,                      // entries, where they may be more than n
    const uint hub_capacity,
    % endif
    % if config.frontier.name in ("edge", "two_phase", "hybrid"):
    __global candidate_t *candidates_even,          // [candidate_capacity]
    __global candidate_t *candidates_odd,           // [candidate_capacity], or one element
    const uint candidate_capacity,
    % endif
    % if config.frontier.name == "status":
    volatile __global uint *tallies,                // [tally_count] see status_array.mako
    __global uint *group_counts,                    // [4, groups]
    __global uint *share_begins,                    // [4, work-items of a launch]
    __global uint *share_counts,                    // the same
    __global uint *hub_list,                        // [hub_total]
    const uint hub_floor,                           // out-degree above which a vertex is a hub
    const uint hub_total,
    % if config.frontier.bits == 8:
    __global uchar *statuses,                       // [n]
    % endif
    % if config.frontier.generation == "bins":
    __global uint *bins,                            // [4, bin_capacity, work-items of a launch]
    const uint bin_capacity,
    % endif
    % endif
    % if config.balance.scope == "grid":
    __global uint *restrict prefix,                 // [queue + 1] exclusive sums of a frontier's degrees
    __global uint *restrict chunk_items,            // [chunks + 1] see /balance/chunks.mako
    % endif
    __global uint4 *levels,                         // [level_capacity] out: size, edges, mode, time
    const uint level_capacity,
    volatile __global uint *state,                  // see stage.mako
    const uint launch,                              // 0 for a new search, else the how-manieth resumption
    const uint flags,
    const uint patience,
    const uint spin_limit,
    const ulong budget)                             // edges and vertices before a launch must pause
{
    ${lanes.setup()}
    ${stage.setup()}
    ${form.setup()}
    % if config.counts:
    volatile __global uint *const counters = state;
    % endif
    const uint words = (n + WORD_MASK) >> WORD_SHIFT;
    const uint my_modes = ${' | '.join(f'1u << {name.upper()}' for name in stages)};
    % if config.held:
    // What groups find must fit their local memory, if about half of the edges lead to new vertices.
    const uint held_room = (uint)get_num_groups(0) * ${config.limits.solo_capacity}u;
    const uint held_limit = min(${small.module.HELD}u, min(held_room / 2u, held_room / max(mean_degree, 1u) * 2u));
    % endif
    const stage_t first_stage = {0, 0, FILL, 0, 0, 0, 0, 0, 0, 0, 0};
    <%stage:run initial="first_stage">
    <%def name="work()">
        ${form.work()}
    </%def>
    <%def name="decide()">
        ${form.decide()}
    </%def>
    <%def name="settle()">
        ${form.settle()}
    </%def>
    <%def name="alone()">
        ${form.alone()}
    </%def>
    </%stage:run>
}
