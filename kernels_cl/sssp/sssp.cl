<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="key" file="/visited/keys.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="near" file="${context['bodies'].stages}"/>
<%namespace name="rows" file="${context['bodies'].rows}"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="ends" file="/sssp/ends.mako"/>
<%namespace name="deciding" file="${context['bodies'].decisions}"/>
// Shortest paths from one or several sources by relaxing the edges of a frontier.
//
// A vertex whose distance improves to the bound HIGH or below it enters the frontier; one that is first
// reached beyond it is put on the far pile, where it stays until the frontier is empty. Then the
// bound is raised and the pile is SPLIT. Every vertex is in the frontier at most once and on the pile
// at most once, so both hold n.
//
// Races: distances only ever decrease, each by an atomic minimum. A vertex of the frontier that
// improves while it is expanded is queued again, so an old distance that was read does no harm.

${group.words(clocked=True)}
${queue.declarations()}
${key.declarations()}
${keys_at.declarations()}
${stage.declarations()}
% if config.counts:
// Events, words of the state.
${stage.constants(counters)}\
% endif
${stage.constants(stage_numbers, "u")}\
${stage.constants(control_block_words)}\
% if problem.classes:
#define VERTEX_OF(target_) ((target_) & ${(1 << 30) - 1}u)
#define CLASS_OF(target_) ((target_) >> 30)
% else:
#define VERTEX_OF(target_) (target_)
% endif
${rows.edge_types()}
% if "heavy" in all_stages and not config.row_limit:
#define LIGHT_END(v_) middles[v_]
% else:
#define LIGHT_END(v_) ${row_at.behind("(v_)")}
% endif
#define CONTROL_ULONG(word_) (*(volatile __global ulong *)(control_block + (word_)))
% if hasattr(deciding, "declarations"):
${deciding.declarations()}
% endif

${group.kernel()} sssp(
${signature.parameters()}\
${stage.parameters()}\
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
    % if config.counts:
    volatile __global uint *const counters = state;
    % endif
    const uint my_modes = ${' | '.join(f'1u << {name.upper()}' for name in stages)};
    const stage_t first_stage = stage_first(FILL);
    ${stage.run("first_stage", run_stage, deciding.decide, deciding.settle, near.by_one_group)}
}

<%def name="run_stage()">
        __global entry_t *const queue_from = now.queue ? queue_odd : queue_even;
        __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
        % if config.has_hubs:
        __global entry_t *const hubs_from = now.queue ? hubs_odd : hubs_even;
        __global entry_t *const hubs_to = now.queue ? hubs_even : hubs_odd;
        % endif
        __global uint *const pile_here = now.pile ? pile_odd : pile_even;
        __global uint *const pile_other = now.pile ? pile_even : pile_odd;
        volatile __global uint *const pile_count = control_block + (now.pile ? PILE_ODD : PILE_EVEN);
        volatile __global uint *const other_count = control_block + (now.pile ? PILE_EVEN : PILE_ODD);
        ${queue.begin_stage()}
        ${ends.begin()}
        ${near.work()}
        ${ends.end()}
</%def>
