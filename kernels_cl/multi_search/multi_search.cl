<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="entries" file="/frontier/queue.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="snippets" file="/search/snippets.mako"/>
<%namespace name="queue" file="/search/queue.mako"/>
<%namespace name="aside" file="/search/aside.mako"/>
<%namespace name="levels" file="/search/levels.mako"/>
<%namespace name="back" file="/search/back.mako"/>
<%namespace name="all_edges" file="/search/all_edges.mako"/>
// Many searches at once: each work-group runs one after another, from sources it takes off a counter.
//
// What a search does at a vertex or an edge is the user's code; queues, balance and barriers are not.
// No group waits for another, so any number of them may be resident.
//
// Races: none between groups, but what the user's code does to arrays that all searches share. Within
// a group several work-items may visit edges to one vertex together: FIRST, CLAIM and ADD are atomic
// there.

${lanes.vocabulary()}
${memory.vocabulary()}
${adding.vocabulary()}
${group.declarations()}
${entries.declarations()}
% for name, index in status_words.items():
#define STATUS_${name.upper()} ${index}
% endfor
#define NO_STAMP 0xffffffffu
% if hooks.get("back_vertex"):
${lane_scan.functions("back_sum", problem.sum_type, "0", "a + b")}
% endif

${snippets.declarations()}

${group.kernel()} multi_search(
    __global const offset_t *restrict indptr,       // [n + 1]
${rows.lengths()}\
    __global const uint *restrict indices,          // [m]
    __global const uint *restrict edge_sources,            // [m] where all edges are read, else one element
    __global const uint *restrict sources,          // [searches]
    const uint n,
    const ulong m,
    const uint searches,
    const uint first_search,                        // this launch runs [first_search, end_search)
    const uint end_search,
    const uint threshold,                           // out-degree from which a row is long
    const uint capacity,                            // entries of a group's queue
    const uint max_levels,
    __global uint *all_queues,                      // [groups, capacity], or [groups, 2, capacity]
    __global uint *all_offsets,                     // [groups, 2 n + 4] where levels are kept
    __global uint *all_visited,                     // [groups, words] where marks are used
    __global uint *all_stamps,                      // [groups, n] where all edges are read
% if hooks.get("again"):
    __global uint *all_aside,                       // [groups, 2, capacity]
% endif
% for state in states:
    __global ${state.ctype} *all_${state.known_as},     // [searches or groups, size], or [size]
    const ulong size_${state.name},
    const ${state.ctype} fill_${state.name},
% endfor
% for given in arguments:
    ${f"__global const {given.ctype} *restrict" if given.is_array else f"const {given.ctype}"} argument_${given.name},
% endfor
    volatile __global uint *status)                 // see multi_search_run.py
{
    ${lanes.setup()}
    const uint lid = (uint)get_local_id(0);
    const ulong group_index = get_group_id(0);
    % if config.queued:
    __global uint *const queues = all_queues + group_index * capacity * ${1 if config.keep_levels else 2}u;
    ${queue.setup("queues")}
    % if hooks.get("again"):
    ${aside.setup("(all_aside + group_index * capacity * 2u)")}
    % endif
    % else:
    __global uint *const stamps = all_stamps + group_index * n;
    ${all_edges.setup()}
    % endif
    % if config.keep_levels:
    __global uint *const offsets = all_offsets + group_index * (2 * (ulong)n + 4);
    % endif
    % if problem.visited:
    const uint words = (n >> 5) + 1;
    __global uint *const visited = all_visited + group_index * words;
    % endif
    % if config.one_item:
    uint taken_search;
    % else:
    __local uint taken_search;
    % endif
    for (;;) {
        if (lid == 0) taken_search = atomic_inc(status + STATUS_TAKEN);
        group_barrier();
        if (taken_search >= end_search - first_search) break;
        const uint search = first_search + taken_search, source = sources[search];
        uint level = 0, frontier_left = 0;
        % for state in states:
        __global ${state.ctype} *const state_${state.name} = all_${state.known_as}${{"search": " + search * size_", "group": " + group_index * size_", "run": ""}[state.per]}${state.name if state.per != "run" else ""};
        % if state.per != "run":
        for (ulong x = lid; x < size_${state.name}; x += GROUP_SIZE) state_${state.name}[x] = fill_${state.name};
        % endif
        % endfor
        % if problem.visited:
        for (uint x = lid; x < words; x += GROUP_SIZE) visited[x] = x == source >> 5 ? 1u << (source & 31u) : 0u;
        % endif
        group_barrier_global();
        {
            const uint frontier_size = 1;
            % if problem.keep_levels:
            const uint levels = 0;
            % endif
            ${snippets.call("init")}
        }
        {
            % if problem.keep_levels:
            const uint levels = 0;
            % endif
            % if config.queued:
            ${levels.run()}
            % else:
            ${all_edges.run()}
            % endif
        }
        if (frontier_left && lid == 0) status[STATUS_CUT_SHORT] = 1;
        % if problem.keep_levels:
        const uint levels = level;
        % if hooks.get("back_vertex"):
        ${back.run()}
        level = levels;
        % endif
        % endif
        {
            const uint frontier_size = 0;
            ${snippets.call("finalize")}
        }
        group_barrier_global();
    }
}
