<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
<%namespace name="list" file="/frontier/list.mako"/>\
<%namespace name="union" file="/components/union_find.mako"/>\
// Minimum spanning forest after Boruvka: every tree takes the least edge that leaves it, all at once.
//
// Edges are ordered by key, and by their places among equal keys: a bid is both in one word, no two are
// the same, and so is the forest. A list holds the edges between different trees, by their roots.
// A round offers each edge to both roots, then joins by those that were the least of either; edges that
// have come to lie within a tree drop out of the next list.
//
// A band of keys at a time is put on the list, the lightest first: most of the heavier edges lie within a
// tree by then and are never listed.
//
// The tree of a hub makes no offers: soon it is at most edges, whose bids would all meet in one word, and
// it is joined by those of its neighbours, since of two trees one at least is another.
//
// Races: offers lower a root's word by atomics, and reading it before is only to spare some: it may be
// stale, which is to say larger. Words of two rounds take turns, so that a round may clear those of the
// next. Joining is that of union_find.mako.
<%
    types = "" if unweighted else "__global const uint *restrict keys,         // [m] in the order of weights"
%>\
${lanes.vocabulary()}
${memory.vocabulary()}

typedef uint offset_t;
${units.functions()}
#define NO_BID (~0ul)
#define BID(entry) upsample((entry).z, (entry).w)
#define KEY(e) ${"(e)" if unweighted else "keys[e]"}

${union.functions()}
% if packed:
static inline void offer(volatile __global ulong *bids, const uint root, const uint4 entry) {
    if (BID(entry) < load_relaxed_ulong(bids + root)) atom_min(bids + root, BID(entry));
}
% else:
// The upper words first, which are the keys; see forest_settle.
static inline void offer(volatile __global ulong *bids, const uint root, const uint4 entry) {
    volatile __global uint *const key = (volatile __global uint *)(bids + root) + 1;
    if (entry.z < load_relaxed(key)) atomic_min(key, entry.z);
}

static inline void offer_place(volatile __global ulong *bids, const uint root, const uint4 entry) {
    volatile __global uint *const words = (volatile __global uint *)(bids + root);
    if (words[1] == entry.z) atomic_min(words, entry.w);
}
% endif

// Before a band: every vertex knows its root, and no bids are left.
${lanes.kernel(group_size)} forest_begin(
    const uint n,
    const uint first,                           // whether nothing has been joined yet
    __global uint *parent,                      // [n] in/out
    __global ulong *restrict bids,              // [n] out
    __global ulong *restrict next_bids)         // [n] out
{
    <%share:each_item count="n">
        parent[item] = first ? item : root_above(parent, item);
        bids[item] = next_bids[item] = NO_BID;
    </%share:each_item>
}

## An edge between vertices of two trees, if it is that, is offered to both.
<%def name="offered(u, v)">
if (mine) {
    entry.x = find_root(parent, ${u});
    entry.y = find_root(parent, ${v});
    mine = entry.x != entry.y;
}
if (mine) {
    if (entry.x != greatest) offer(bids, entry.x, entry);
    if (entry.y != greatest) offer(bids, entry.y, entry);
}
</%def>
// The first round of a band: what is to be on the list is found in the graph.
${lanes.kernel(group_size)} forest_collect(
    __global const uint *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,      // [m]
    ${types}
    const uint n,
    const uint m,
    const uint least,                           // keys of the band
    const uint most,
    const uint capacity,
    const uint hub,
    __global uint *parent,                      // [n] in/out
    volatile __global ulong *bids,              // [n] in/out
    __global uint4 *next,                       // [capacity] out: two roots, key, place
    volatile __global uint *lengths)            // [rounds] in/out: of the list of this round
{
    ${lanes.setup()}
    ${list.setup("uint4", group_size)}
    const uint greatest = root_above(parent, hub);
    <%units:each_unit_together sums="indptr" rows="n" total="m">
        const uint v = indices[unit];
        int mine = active && row ${"!=" if directed else "<"} v;
        uint4 entry = (uint4)(row, v, 0u, unit);
        if (mine) {
            entry.z = KEY(unit);
            mine = entry.z >= least && entry.z <= most;
        }
        ${offered("row", "v")}
        ${list.push("mine", "entry", "next", "lengths", "capacity")}
    </%units:each_unit_together>
    ${list.finish("next", "lengths", "capacity")}
}

// Another round: the edges of the last one that still join two trees.
${lanes.kernel(group_size)} forest_offer(
    __global const uint4 *restrict edges,       // [capacity]
    const uint round,
    const uint capacity,
    const uint hub,
    __global uint *parent,                      // [n] in/out
    volatile __global ulong *bids,              // [n] in/out
    __global uint4 *next,                       // [capacity] out
    volatile __global uint *lengths)            // [rounds] in/out
{
    ${lanes.setup()}
    ${list.setup("uint4", group_size)}
    const uint greatest = root_above(parent, hub);
    const uint count = min(lengths[round - 1u], capacity);
    <%share:each_tile count="count">
        int mine = first + lane_id() < count;
        uint4 entry = edges[mine ? first + lane_id() : 0u];
        ${offered("entry.x", "entry.y")}
        ${list.push("mine", "entry", "next", "lengths + round", "capacity")}
    </%share:each_tile>
    ${list.finish("next", "lengths + round", "capacity")}
}
% if not packed:

// Among the edges whose key is the least of a root, their places.
${lanes.kernel(group_size)} forest_settle(
    __global const uint4 *restrict edges,       // [capacity]
    const uint round,
    const uint capacity,
    const uint hub,
    __global const uint *restrict lengths,      // [rounds]
    __global const uint *restrict parent,       // [n]
    volatile __global ulong *bids)              // [n] in/out
{
    const uint greatest = root_above(parent, hub);
    const uint count = min(lengths[round], capacity);
    <%share:each_item count="count">
        const uint4 entry = edges[item];
        if (entry.x != greatest) offer_place(bids, entry.x, entry);
        if (entry.y != greatest) offer_place(bids, entry.y, entry);
    </%share:each_item>
}
% endif

// Join by the edges that are the least of a root.
${lanes.kernel(group_size)} forest_join(
    __global const uint4 *restrict edges,       // [capacity]
    const uint round,
    const uint capacity,
    const uint most_chosen,
    const uint hub,
    __global const uint *restrict lengths,      // [rounds]
    __global const ulong *restrict bids,        // [n]
    __global ulong *restrict next_bids,         // [n] out, where the next round bids
    __global uint *parent,                      // [n] in/out
    __global uint *chosen,                      // [n] in/out: places of the forest's edges
    volatile __global uint *chosen_length)      // [1] in/out
{
    ${lanes.setup()}
    ${list.setup("uint", group_size)}
    // Found while trees are joined, this may be the greatest tree of the next round already: what is left
    // in the words of such is the bid of an edge that has been joined, and nobody has it any more.
    const uint greatest = root_above(parent, hub);
    const uint count = min(lengths[round], capacity);
    <%share:each_tile count="count">
        const int active = first + lane_id() < count;
        const uint4 entry = edges[active ? first + lane_id() : 0u];
        int mine = 0;
        if (active) {
            mine = bids[entry.x] == BID(entry) || bids[entry.y] == BID(entry);
            if (entry.x != greatest) next_bids[entry.x] = NO_BID;
            if (entry.y != greatest) next_bids[entry.y] = NO_BID;
            if (mine) join(parent, entry.x, entry.y);
        }
        ${list.push("mine", "entry.w", "chosen", "chosen_length", "most_chosen")}
    </%share:each_tile>
    ${list.finish("chosen", "chosen_length", "most_chosen")}
}
