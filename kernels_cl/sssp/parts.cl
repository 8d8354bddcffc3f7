<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="bins" file="/frontier/bins.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="gather" file="/visited/gather.mako"/>
<%namespace name="key" file="/visited/keys.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>
// Shortest paths over several devices: what one of them does in a round.
//
// A device owns a range of vertices, from whole words of a bitmap on, and has their rows; `best` has the
// shortest length that it knows of for every vertex of the graph. Decreases are noted in a bitmap:
// others' vertices are then sent to their owners, its own that are near enter the frontier, and those
// that are far wait in the bitmap.
//
// Races: keys only ever decrease, by an atomic; whoever decreased one sets the bit after it. A key that
// is read while it decreases is one that the vertex had, and the bit has it read again.

${group.words()}
${queue.declarations()}
${visited.declarations()}
${stage.declarations()}
${key.declarations()}
% if keys.bits == 64:
typedef ulong2 candidate_t;
#define MAKE_CANDIDATE(vertex_, key_) (ulong2)((vertex_), (key_))
% else:
typedef uint2 candidate_t;
#define MAKE_CANDIDATE(vertex_, key_) (uint2)((vertex_), (key_))
% endif
% if config.word_bits == 64:
#define WORD_ANDNOT(p, x) atom_and(p, ~(x))
% else:
#define WORD_ANDNOT(p, x) atomic_and(p, ~(x))
% endif

static inline void decrease(__global key_t *best, __global word_t *changed, const uint v, const key_t to) {
    if (to < best[v] && to < ATOMIC_MIN_KEY((volatile __global key_t *)best + v, to))
        WORD_OR(&changed[v >> WORD_SHIFT], WORD_BIT(v));
}

${group.kernel()} sssp_parts_begin(
    const uint n,                                   // vertices of the graph
    const uint words,                               // of a bitmap of it
    const uint state_words,
    const uint source,                              // n where it is another device's
    __global key_t *best,                           // [n] out
    __global word_t *changed,                       // [words] out
    __global uint *state)                           // [state_words] out
{
    {
    <%share:each_item count="n">
        best[item] = item == source ? KEY_ZERO : KEY_NONE;
    </%share:each_item>
    }
    {
    <%share:each_item count="words">
        changed[item] = source < n && item == source >> WORD_SHIFT ? WORD_BIT(source) : 0;
    </%share:each_item>
    }
    <%share:each_item count="state_words">
        state[item] = 0;
    </%share:each_item>
}

<%def name="relax(count)">
    % for k in range(count):
    if (active${k}) decrease(best, changed, v${k}, key_add(best[first_vertex + u${k}], weights[e${k}]));
    % endfor
</%def>

${group.kernel()} sssp_parts_relax(
    __global const offset_t *restrict indptr,       // [vertices here + 1]
    __global const uint *restrict indices,          // [edges of this device]
    __global const weight_t *restrict weights,      // [edges of this device]
    const uint first_vertex,
    __global const entry_t *frontier,
    __global const entry_t *hubs,
    __global key_t *best,                           // [vertices of the graph] in/out
    __global word_t *changed,                       // [words] in/out
    volatile __global uint *state,
    const uint slot)
{
    ${lanes.setup()}
    ${advance.setup()}
    ${stage.only()}
    now.length = state[NEXT + slot * SLOT_STRIDE];
    now.hubs = state[NEXT_HUBS + slot * SLOT_STRIDE];
    if (get_global_id(0) == 0) {
        ${stage.clear_slot("(slot ^ 1u)")}
    }
    uint tile_size = LANES;
    while (tile_size > 1 && now.length < (ulong)tile_size * GROUP_LANES * now.members) tile_size >>= 1;
    ${advance.each_edge("frontier", "now.length", relax)}
    % if config.hub_degree:
    ${advance.each_hub_edge("hubs", "now.hubs", relax)}
    % endif
}

## Owners have ranges, so the owner is found among their ends.
<%def name="owned()">
uint bin = 0;
while (bin + 1 < bin_count && (uint)leaving.x >= bin_begins[bin + 1]) ++bin;
const candidate_t ready = leaving;
</%def>

// What was decreased here and is another's goes to its owner's bin, with its length.
${group.kernel()} sssp_parts_send(
    const uint words,
    const uint first_word,
    const uint own_words,
    __global const key_t *best,                     // [vertices of the graph]
    __global word_t *changed,                       // [words] in/out
    __global candidate_t *bins,                     // [vertices of the graph] out
    __global const uint *restrict bin_begins,       // [bin_count + 1] the owners' first vertices
    const uint bin_count,
    volatile __global uint *state,
    const uint slot)
{
    ${lanes.setup()}
    ${tiles.setup()}
    ${bins.setup()}
    ${bins.begin()}
    ${stage.only()}
    <%gather:each_bit words="words" word="(w - first_word < own_words ? 0 : changed[w])">
        const candidate_t found = MAKE_CANDIDATE(v, active ? best[v] : KEY_NONE);
        ${bins.push("active", "found", owned)}
    </%gather:each_bit>
    ${bins.end(owned)}
}

// After the bins are sent: others' bits are cleared, and what others found of this device's is taken.
${group.kernel()} sssp_parts_absorb(
    const uint words,
    const uint first_word,
    const uint own_words,
    __global const candidate_t *inbox,              // [received]
    const uint received,
    const uint bin_count,
    __global key_t *best,                           // [vertices of the graph] in/out
    __global word_t *changed,                       // [words] in/out
    __global uint *state)
{
    {
    <%share:each_item count="bin_count">
        state[BIN_LENGTHS + item * BIN_STRIDE] = 0;
    </%share:each_item>
    }
    {
    <%share:each_item count="words">
        if (item - first_word >= own_words) changed[item] = 0;
    </%share:each_item>
    }
    <%share:each_item count="received">
        decrease(best, changed, (uint)inbox[item].x, (key_t)inbox[item].y);
    </%share:each_item>
}

// The owned vertices that were decreased and are near become the frontier; the least of the others is reported.
${group.kernel()} sssp_parts_collect(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,
    const uint n,                                   // vertices of this device
    const uint first_vertex,
    const uint first_word,
    const uint own_words,
    const key_t bound,                              // the largest key that is near
    __global const key_t *best,                     // [vertices of the graph]
    __global word_t *changed,                       // [words] in/out
    __global key_t *least,                          // [1] in/out: of those that are far
    __global entry_t *queue_to,                     // [n + slack] out
    __global entry_t *hubs_to,
    volatile __global uint *state,
    const uint slot)
{
    ${lanes.setup()}
    ${queue.setup()}
    ${stage.only()}
    % if config.group_size > config.lanes:
    group_barrier();   // counters of the group's own queue are cleared
    % endif
    ${queue.begin_stage()}
    const int eager = 0;
    key_t nearest = KEY_NONE;
    <%gather:each_bit words="own_words" word="changed[first_word + w]">
        offset_t row0 = 0;
        uint degree0 = 0;
        const uint v0 = v;
        const key_t length = active ? best[first_vertex + v] : KEY_NONE;
        const int claimed0 = active && length <= bound;
        if (claimed0) WORD_ANDNOT(&changed[first_word + (v >> WORD_SHIFT)], WORD_BIT(v));
        else if (active && length < nearest) nearest = length;
        ${visiting.enqueue(1, False, visiting.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
    </%gather:each_bit>
    nearest = REDUCE_MIN_KEY(nearest);
    if (lane_id() == 0 && nearest != KEY_NONE) ATOMIC_MIN_KEY((volatile __global key_t *)least, nearest);
    ${queue.end_stage("queue_to", "0")}
}
