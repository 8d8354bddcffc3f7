<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="system" file="/memory/system.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="grid" file="/grid/barrier.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
<%namespace name="steps" file="/bfs/parts_steps.mako"/>
<%namespace name="mailbox" file="/bfs/parts_mailbox.mako"/>
// Breadth-first search over several devices that exchange a bit for each vertex, without the host:
// one launch on each device runs the levels, and devices read each other's finds in host memory.
//
// Every device has a mailbox there, which it alone writes: what it found at this level (a bitmap of the
// graph, or a list), how much that was, and two words that say of which level these are. A level meets
// twice: when all have put down what they found, and when all have merged it. So nobody writes a
// mailbox that somebody still reads, and all decide alike, each by the counts of all.
//
// A level that pulls makes no queue, but a bitmap of what is new: the next may pull too. Where it pushes the
// queue is made of that first. (Where hubs are counted each level makes one, since that reads degrees.)
//
// Races: none beside those of bfs/parts.cl; a mailbox is read past caches, once its word is there.
// Waiting: by one work-item of each device, bounded; who waits in vain fails the barrier of its groups, and
// does not say at the end that the launch is done.

${lanes.vocabulary()}
${memory.vocabulary()}
${system.vocabulary()}
${clock.vocabulary()}
${group.declarations()}
${queue.declarations()}
${visited.declarations()}
${grid.vocabulary()}
${stage.declarations()}
#define UNREACHED (${UNREACHED})
${steps.row_names()}
${mailbox.declarations()}

${group.kernel()} bfs_parts_levels(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,
    % if config.pull:
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    __global const uint *restrict in_indices,
    __global const word_t *restrict unreachable,    // [own_words] no in-edges, and what lies beyond n
    % if likely:
    __global const uint${likely if likely > 1 else ""} *restrict likely, // [own_n] in-neighbours that are tried first
    % endif
    % if not counts_hubs:
    __global word_t *fresh,                         // [own_words] what the last level that pulled found here
    % endif
    % endif
    const uint own_step,
    const uint own_first,
    const uint n,                                   // vertices of this device
    const uint words,                               // of a bitmap of the graph
    const uint first_word,                          // of this device's vertices
    const uint own_words,
    __global const uint *restrict word_bounds,      // [ranks + 1] first words of each device's vertices
    __global word_t *reached,                       // [words] in/out
    __global word_t *found,                         // [words] in/out
    __global uint *listed,                          // [map] how many, and which
    __global int *distances,                        // [n] in/out
    __global int *predecessors,                     // [vertices of the graph] out, where found; or one
    __global entry_t *frontier,                     // [n + slack] in/out
    __global entry_t *hubs,
    const uint hub_floor,
    volatile __global uint *state,
    const ulong own_box,                            // addresses of mailboxes: this device's,
    % for peer in range(peers):
    const ulong box${peer},                         // and the others', by rank
    % endfor
    const uint rank,
    const uint tree,                                // entries of `predecessors`, 0 where there is none
    const uint n_all,
    const ulong m_all,
    const uint hubs_all,
    const uint first_level,
    const uint past_level,
    const uint first_stamp,                         // of first_level; no launch before had it or a later one
    const uint source,                              // where a search begins, if first_level is 0
    const uint own_source,                          // its number here, n where it is another's
    const uint spin_limit)
{
    ${lanes.setup()}
    ${advance.setup()}
    ${duplicates.setup()}
    ${queue.setup()}
    ${grid.setup()}
    % if config.pull:
    ${pull.setup()}
    % endif
    __global entry_t *const queue_to = frontier;
    __global entry_t *const hubs_to = hubs;
    volatile __global uint *const meeting = state + MEETING;
    volatile __global uint *const box = BOX(own_box);
    const uint member = (uint)get_group_id(0);
    const int leads = get_global_id(0) == 0;
    const ulong map_bytes = (ulong)words * sizeof(word_t);
    stage_t now = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    now.members = (uint)get_num_groups(0);
    % if config.group_size > config.lanes:
    group_barrier();   // counters of the group's own queue are cleared
    % endif
    if (first_level == 0) {
        ${steps.beginning("source", "MEETING")}
        if (!grid_barrier(meeting, spin_limit)) return;
        if (leads && !${mailbox.decided("(uint)here", "degree", "first_stamp", "0u")}) atomic_or(&meeting[GRID_BARRIER_FAILED], 1u);
        if (!grid_barrier(meeting, spin_limit)) return;
    }
    for (uint level = first_level; level < past_level && !load_relaxed(state + ENDED); ++level) {
        const uint stamp = first_stamp + (level - first_level) + 1u;
        const uint pulls = load_relaxed(state + PULLS), lists = load_relaxed(state + LISTS);
        const uint having = load_relaxed(state + HAVING);
        const int sends = pulls || (having >> rank & 1u);
        % if config.pull and not counts_hubs:
        if (!pulls && load_relaxed(state + UNQUEUED)) {
            const uint slot = level & 1u;
            if (leads) {
                ${stage.clear_slot("slot")}
            }
            if (!grid_barrier(meeting, spin_limit)) return;
            ${steps.merging("fresh[w]", "level")}
            if (!grid_barrier(meeting, spin_limit)) return;
        }
        % endif
        // What this device finds.
        {
            % if config.pull:
            if (pulls) {
                % if counts_hubs:
                ${steps.pulling(mailbox.put)}
                % else:
                const uint slot = (level + 1u) & 1u;
                ${steps.pulling(mailbox.put, "level + 1u")}
                ${queue.end_count("found_count")}
                % endif
            } else
            % endif
            if (sends) {
                const uint slot = level & 1u;
                ${steps.expansion()}
            }
        }
        // Put it down for the others; pulled words already are, each as it was stored.
        uint count = 0;
        if (!pulls) {
            if (!grid_barrier(meeting, spin_limit)) return;
            count = lists ? listed[0] : 0u;
            if (sends && lists) {
                <%share:each_item count="count + 1u">
                    BOX_LIST(own_box)[item] = listed[item];
                </%share:each_item>
            } else if (sends) {
                <%share:each_item count="words">
                    BOX_BITS(own_box)[item] = found[item];
                </%share:each_item>
            }
        }
        fence_system();
        if (!grid_barrier(meeting, spin_limit)) return;
        if (leads) {
            const ulong put_bytes = !sends ? 0ul : lists ? 4ul * (count + 1u) : pulls ? own_words * sizeof(word_t) : map_bytes;
            box[BOX_LOG + (level % LOG_LEVELS) * LOG_WORDS + 2] = (uint)put_bytes;
            store_release_system(box + BOX_READY, stamp);
            int all = 1;
            % for peer in range(peers):
            all = all && box_wait(BOX(box${peer}) + BOX_READY, stamp, spin_limit / 4u);
            % endfor
            if (!all) atomic_or(&meeting[GRID_BARRIER_FAILED], 1u);
            // Reads of one word of the host's follow each other, each over the bus: 8 ms if all work-items of
            // an H100 ask. So one asks for all.
            if (lists) {
                % for peer in range(peers):
                state[LISTED + ${peer}u] = load_system(BOX_LIST(box${peer}));
                % endfor
            }
            // Nobody looks at these before the next barrier, nor after it at what they were.
            listed[0] = 0;
            const uint slot = level & 1u;
            ${stage.clear_slot("slot")}
        }
        if (!grid_barrier(meeting, spin_limit)) return;
        if (lists) {
            % for peer in range(peers):
            if (having >> (${peer}u + (${peer}u >= rank)) & 1u) {
                const uint theirs = min(load_relaxed(state + LISTED + ${peer}u), (uint)(map_bytes / 4) - 1u);
                <%share:each_item count="theirs">
                    const uint v = load_system(BOX_LIST(box${peer}) + 1u + item);
                    WORD_OR(&found[v >> WORD_SHIFT], WORD_BIT(v));
                </%share:each_item>
            }
            % endfor
            if (!grid_barrier(meeting, spin_limit)) return;
        }
        // The words that each of the others put down.
        % for peer in range(peers):
        const uint from${peer} = pulls ? word_bounds[${peer}u + (${peer}u >= rank)] : 0u;
        const uint past${peer} = pulls ? word_bounds[${peer}u + (${peer}u >= rank) + 1u]
                               : !lists && (having >> (${peer}u + (${peer}u >= rank)) & 1u) ? words : 0u;
        % endfor
        <%share:each_item count="words">
            if (${"pulls || " if config.pull and not counts_hubs else ""}item - first_word >= own_words) ${mailbox.merged("item")};
        </%share:each_item>
        ${"if (!pulls) " if config.pull and not counts_hubs else ""}{
            const uint slot = (level + 1u) & 1u;
            ${steps.merging(mailbox.merged("first_word + w"), "(level + 1u)")}
        }
        if (!grid_barrier(meeting, spin_limit)) return;
        const uint slot = (level + 1u) & 1u;
        if (leads && !${mailbox.decided("state[NEXT + slot * SLOT_STRIDE] + state[NEXT_HUBS + slot * SLOT_STRIDE]", "*(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE)", "stamp", "level + 1u")}) atomic_or(&meeting[GRID_BARRIER_FAILED], 1u);
        if (!grid_barrier(meeting, spin_limit)) return;
    }
    if (leads && !load_relaxed(meeting + GRID_BARRIER_FAILED)) {
        box[BOX_ENDED] = state[ENDED];
        box[BOX_DECIDED] = state[DECIDED];
        box[BOX_OVERFLOWED] = state[OVERFLOWED];
        store_release_system(box + BOX_DONE, first_stamp);
    }
}
