<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="steps" file="/bfs/parts_steps.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>
// Breadth-first search over several devices that exchange a bit for each vertex: the levels of a device
// that has all of a narrow frontier, by one work-group, in one launch.
//
// It goes on until a level finds a vertex of another device, which is then expanded and not merged
// (bfs_parts_merge does that once the others know of it), until a frontier has many edges or none, or
// a level is reached. What was found since the others last heard of anything is in `listed` as long
// as there is room, and in `found` in any case.
//
// Races: none beside those of bfs/parts.cl; each vertex is listed once, by who set its bit in `found`.

${group.words()}
${queue.declarations()}
${visited.declarations()}
${stage.declarations()}
#define UNREACHED (${UNREACHED})
${steps.row_names()}
% for name, place in note_words.items():
#define ${name} ${place}u
% endfor

${group.kernel()} bfs_parts_alone(
    __global const offset_t *restrict indptr,       // [n + 1]
    ${steps.targets("indices")}
    const uint own_step,
    const uint own_first,
    const uint n,                                   // vertices of this device
    const uint first_word,                          // of this device's vertices in a bitmap
    const uint own_words,
    __global word_t *reached,                       // [words] in/out
    __global word_t *found,                         // [words] in/out
    __global uint *listed,                          // [1 + room] in/out: how many, and which
    const uint room,                                // at least most_edges
    __global int *distances,                        // [n] in/out
    __global int *predecessors,                     // [vertices of the graph] out, where found; or one
    __global entry_t *frontier,                     // [n + slack] in/out
    __global entry_t *hubs,
    const uint hub_floor,
    volatile __global uint *state,
    __global uint *notes,                           // [NOTE_VERTICES + past_level - first_level] out
    const uint first_level,                         // of the frontier, which has an edge
    const uint past_level,
    const uint first_edges,
    const uint most_edges,                          // of a frontier
    const uint left_out)                            // whether something is not in `listed` any more
{
    ${lanes.setup()}
    ${advance.setup()}
    ${duplicates.setup()}
    ${queue.setup()}
    ${steps.take_targets("indices")}
    __local uint leaves;
    __global entry_t *const queue_to = frontier;
    __global entry_t *const hubs_to = hubs;
    const uint lid = (uint)get_local_id(0);
    const uint member = 0, lists = 1;
    stage_t now = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    now.members = 1;
    if (lid == 0) leaves = 0;
    uint level = first_level, count = listed[0], lost = left_out, vertices = 1;
    edges_t edges = first_edges;
    ulong explored = 0;
    group_barrier_global();   // all have read how many are listed; counters of the group are cleared
    while (level < past_level && vertices && edges <= most_edges) {
        if (count + (uint)edges > room) {
            count = 0;
            lost = 1;
            if (lid == 0) listed[0] = 0;
            group_barrier_global();
        }
        {
            const uint slot = level & 1u;
            ${steps.expansion()}
        }
        group_barrier_global();
        const uint listed_before = count;
        count = load_relaxed((volatile __global uint *)listed);
        for (uint at = listed_before + lid; at < count; at += GROUP_SIZE)
            if ((listed[1u + at] >> WORD_SHIFT) - first_word >= own_words) leaves = 1;
        group_barrier();
        if (leaves) break;
        if (lid == 0) {
            const uint slot = level & 1u;
            ${stage.clear_slot("slot")}
        }
        ++level;
        const uint slot = level & 1u;
        {
            ${queue.begin_stage()}
            const int eager = 0;
            uint found_hubs = 0;
            const uint fresh = count - listed_before;
            <%tiles:each_tile count="fresh" size="LANES">
                const uint at = tile_begin + lane_id();
                const int claimed0 = at < tile_end;
                const uint v = listed[1u + listed_before + (claimed0 ? at : tile_begin)];
                const uint v0 = v - (first_word << WORD_SHIFT);
                offset_t row0 = 0;
                uint degree0 = 0;
                if (claimed0) {
                    distances[v0] = (int)level;
                    WORD_OR(&reached[v >> WORD_SHIFT], WORD_BIT(v));
                }
                ${visiting.enqueue(1, False, visiting.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE", counts_edges=True)}
                % if counts_hubs:
                found_hubs += claimed0 && degree0 > hub_floor;
                % endif
            </%tiles:each_tile>
            % if counts_hubs:
            found_hubs = lane_reduce_add(found_hubs);
            if (lane_id() == 0 && found_hubs) atomic_add(state + FOUND_HUBS, found_hubs);   // of all levels
            % endif
            ${queue.end_stage("queue_to", "0")}
        }
        group_barrier_global();
        vertices = load_relaxed(state + NEXT + slot * SLOT_STRIDE) + load_relaxed(state + NEXT_HUBS + slot * SLOT_STRIDE);
        edges = *(volatile __global edges_t *)(state + NEXT_EDGES + slot * SLOT_STRIDE);
        explored += edges;
        if (lid == 0) notes[NOTE_VERTICES + (level - 1u - first_level)] = vertices;
    }
    if (lid == 0) {
        notes[NOTE_LEVEL] = level;
        notes[NOTE_LEAVES] = leaves;
        notes[NOTE_LISTED] = count;
        notes[NOTE_LEFT_OUT] = lost;
        notes[NOTE_EDGES] = (uint)edges;
        notes[NOTE_EDGES + 1u] = (uint)((ulong)edges >> 32);
        notes[NOTE_EXPLORED] = (uint)explored;
        notes[NOTE_EXPLORED + 1u] = (uint)(explored >> 32);
    }
}
