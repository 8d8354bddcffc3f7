<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="candidates" file="/frontier/edges.mako"/>
<%namespace name="bins" file="/balance/bins.mako"/>
<%namespace name="small" file="/bfs/small_frontiers.mako"/>
<%namespace name="sharing" file="/bfs/copies/levels.mako"/>\
<%namespace name="form" file="${'/bfs/' + {'vertex': 'vertex_queue', 'status': 'status_array'}.get(context['config'].frontier.name, 'edge_queue') + '.mako'}"/>
// Breadth-first search: hop distances and optionally one shortest-path tree from a source.
// How a level finds the next one, and what its frontier looks like, is in the files of bfs/.
//
// Races: several frontier vertices may reach v together; the claim lets exactly one win, and
// whichever wins is a valid predecessor. Distances of one stage are all the same number.

${group.words(clocked=True)}
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
${stage.constants(counters)}\
% endif
${stage.constants(stage_numbers, "u")}\
% if copies:
${sharing.declarations()}
% endif

${group.kernel()} bfs(
${signature.parameters()}\
${stage.parameters()}\
{
    ${lanes.setup()}
    ${stage.setup()}
    ${form.setup()}
    % if config.counts:
    volatile __global uint *const counters = state;
    % endif
    const uint words = (n + WORD_MASK) >> WORD_SHIFT;
    const uint my_modes = ${' | '.join(f'1u << {name.upper()}' for name in stages)};
    % if config.group_resident:
    // What groups find must fit their local memory, if about half of the edges lead to new vertices.
    const uint resident_room = (uint)get_num_groups(0) * ${config.limits.single_group_capacity}u;
    const uint resident_limit = min(${small.module.RESIDENT}u, min(resident_room / 2u, resident_room / max(mean_degree, 1u) * 2u));
    % endif
    const stage_t first_stage = stage_first(FILL);
    ${stage.run("first_stage", form.work, form.decide, form.settle, form.by_one_group)}
}
