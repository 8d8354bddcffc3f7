<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="key" file="/visited/keys.mako"/>
<%namespace name="lower" file="/visited/lower.mako"/>
<%namespace name="near" file="${context['bodies'].stages}"/>
<%namespace name="rows" file="${context['bodies'].rows}"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="ends" file="/sssp/ends.mako"/>
<%namespace name="deciding" file="${context['bodies'].decisions}"/>
// Shortest paths from one or several sources by relaxing the edges of a frontier.
//
// A vertex whose distance falls to the bound HIGH or below it enters the frontier; one that is first
// reached beyond it is put on the far pile, where it stays until the frontier is empty. Then the
// bound is raised and the pile is SPLIT. Every vertex is in the frontier at most once and on the pile
// at most once, so both hold n.
//
// Races: distances only ever fall, and each fall is an atomic minimum. A vertex of the frontier that
// falls while it is expanded is queued again, so an old distance that was read does no harm.

${lanes.vocabulary()}
${memory.vocabulary()}
${clock.vocabulary()}
${group.declarations()}
${queue.declarations()}
${key.declarations()}
${lower.declarations()}
${stage.declarations()}
% for name, number in stage_numbers.items():
#define ${name.upper()} ${number}u
% endfor
% for name, word in board_words.items():
#define ${name} ${word}
% endfor
% if problem.classes:
#define VERTEX_OF(head_) ((head_) & ${(1 << 30) - 1}u)
#define CLASS_OF(head_) ((head_) >> 30)
% else:
#define VERTEX_OF(head_) (head_)
% endif
${rows.edge_types()}
#define PULLS (now.tile == 7u)   // how the heavy edges of a band are relaxed
#define IN_CHAIN (now.visited)   // which part of TREE this is
% if "heavy" in all_stages and not config.row_limit:
#define LIGHT_END(v_) middles[v_]
% else:
#define LIGHT_END(v_) indptr[(v_) + 1]
% endif
#define BOARD_ULONG(word_) (*(volatile __global ulong *)(board + (word_)))
% if hasattr(deciding, "declarations"):
${deciding.declarations()}
% endif

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void sssp(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m], with the class of an edge in the two highest bits
    __global const edge_t *restrict edges,          // [m] weights, for lone work-items beside heads
    __global const uint *restrict leaves,           // [leaf_count] vertices that are left to the end
    __global const offset_t *restrict leaf_indptr,  // [leaf_count + 1] their edges in leaf_tails
    __global const uint *restrict leaf_tails,
    __global const weight_t *restrict leaf_weights,
    const uint leaf_count,
    const uint n,
    const ulong m,
    const uint max_degree,
    const uint mean_degree,
    const uint source,                              // the only one
    __global const uint *restrict sources,          // [source_count], where there are several
    const uint source_count,
    const uint target,                              // stop when it is settled; n for none
    const ulong limit,                              // largest key that is wanted
    const ulong last_key,                               // largest key that is kept in the end
    const ulong first_high,                         // the bound to begin with
    const weight_t delta,                           // what it is raised by
    const uint max_rounds,                          // more relax stages than this prove nothing but a cycle
    const uint finish,                              // whether a FINISH stage is wanted
    __global cell_t *cells,                         // [n] keys, or keys and stages
    volatile __global uint *stamps,                 // [n] stages, or one element
    __global weight_t *distances,                   // [n] out; may be the cells themselves
    volatile __global int *predecessors,            // [n] out, or one element
    __global entry_t *queue_even,                   // [n + slack]
    __global entry_t *queue_odd,                    // [n + slack]
    __global entry_t *hubs_even,                    // [number of hubs + slack]
    __global entry_t *hubs_odd,
    __global uint *pile_even,                       // [n + slack]
    __global uint *pile_odd,                        // [n + slack]
    % if config.row_limit:
    __global const ushort8 *restrict row_ends,      // [n] edges of each row up to each cut weight, 65535 for more
    __global const weight_t *restrict cut_weights,  // [8] ascending
    % else:
    __global const offset_t *restrict middles,      // [n] first heavy edge of each row, or one element
    % endif
    __global entry_t *settled,                      // [as a queue] of this band, or one element
    % if config.method.heavy == "switching":
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    __global const uint *restrict in_indices,       // [m]
    __global const weight_t *restrict in_edges,     // [m]
    % endif
    volatile __global uint *board,                  // bounds and counters of the search
    __global uint4 *levels,                         // [level_capacity] out: size, edges, mode, time
    const uint level_capacity,
    % if config.method.name == "self-tuning":
    __global key_t *expanded,                       // [n] keys when vertices last entered the frontier
    __global uint2 *far,                            // [n] where they wait, see self_tuning.mako
    volatile __global const ulong *set_point,       // [1] edges per step; these four are patterns of doubles
    const ulong first_degree,                       // edges per vertex
    const ulong first_delta,                        // the length that first_high is the key of
    const ulong unit,                               // least difference of lengths that counts
    % endif
    % if config.method.name == "asynchronous":
    volatile __global ulong *rings,                 // [BUCKETS * RINGS * (ring_mask + 1)], see rings.mako
    volatile __global uint *ring_state,             // [RING_WORDS + 2 * BUCKETS * RINGS]
    const uint ring_mask,                           // a ring's size, a power of two, less one
    const float per_length,                         // 1 / delta
    % endif
    volatile __global uint *state,                  // see stage.mako
    const uint launch,                              // 0 for a new search, else the how-manieth resumption
    const uint flags,
    const uint patience,
    const uint spin_limit,
    const ulong budget)                             // edges and vertices before a launch must pause
{
    ${lanes.setup()}
    ${stage.setup()}
    ${queue.setup()}
    ${pile.setup()}
    ${near.setup()}
    ${advance.setup()}
    % if config.row_limit:
    const uint queue_capacity = n + (uint)(m / ${config.row_limit}u);
    % elif not config.exact:
    const uint queue_capacity = (uint)((ulong)n * ${config.limits.queue_percent}u / 100u);
    % endif
    const uint my_modes = ${' | '.join(f'1u << {name.upper()}' for name in stages)};
    const stage_t first_stage = {0, 0, FILL, 0, 0, 0, 0, 0, 0, 0, 0};
    <%stage:run initial="first_stage">
    <%def name="work()">
        __global entry_t *const queue_from = now.queue ? queue_odd : queue_even;
        __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
        __global entry_t *const hubs_from = now.queue ? hubs_odd : hubs_even;
        __global entry_t *const hubs_to = now.queue ? hubs_even : hubs_odd;
        __global uint *const pile_here = now.visited ? pile_odd : pile_even;
        __global uint *const pile_other = now.visited ? pile_even : pile_odd;
        volatile __global uint *const pile_count = board + (now.visited ? PILE_ODD : PILE_EVEN);
        volatile __global uint *const other_count = board + (now.visited ? PILE_EVEN : PILE_ODD);
        ${queue.begin_stage()}
        ${ends.begin()}
        ${near.work()}
        ${ends.end()}
    </%def>
    <%def name="decide()">
        ${deciding.decide()}
    </%def>
    <%def name="settle()">
        ${deciding.settle()}
    </%def>
    <%def name="alone()">
        ${near.alone()}
    </%def>
    </%stage:run>
}
