## parts_steps: what a device of several does in a level of a search, by all its work-items.
##
## beginning     nobody is reached but the source
## expansion     the edges of the frontier: each found vertex to its owner's bin, or a bit and, if asked
##               for, a place in a list
## pulling       owned vertices look for an in-neighbour that was known before this level; what `put`
##               gives, if anything, is done with each word that was looked at; with a level they
##               have distances, too
## merging       what is new, by an expression that gives the merged word `w`, becomes the next frontier
## In scope      the arguments of bfs_parts_expand, bfs_parts_pull and bfs_parts_merge; now, member, slot
## Barriers      those of balancers and queues, in uniform control flow
##
## The owner of a candidate is its number modulo the number of bins, and its number there the quotient.

<%namespace name="share" file="/grid/items.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="bins" file="/frontier/bins.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>
<%namespace name="gather" file="/visited/gather.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
<%namespace name="visiting" file="/bfs/visit.mako"/>

<%def name="owned()">
const uint bin = CANDIDATE_VERTEX(leaving) % bin_count;
const candidate_t ready = MAKE_CANDIDATE(CANDIDATE_VERTEX(leaving) / bin_count, CANDIDATE_PARENT(leaving));
</%def>

<%def name="beginning(root, state_words)">
    const int here = own_source < n;
    const offset_t row = here ? indptr[own_source] : 0;
    const uint degree = here ? (uint)(indptr[own_source + 1] - row) : 0u;
    const int is_hub = here && degree >= ${config.hub_degree or 2**32 - 1}u;
    {
    <%share:each_item count="n">
        distances[item] = item == own_source ? 0 : UNREACHED;
    </%share:each_item>
    }
    {
    <%share:each_item count="tree">
        predecessors[item] = item == ${root} ? (int)source : UNREACHED;
    </%share:each_item>
    }
    {
    <%share:each_item count="words">
        found[item] = item == source >> WORD_SHIFT ? WORD_BIT(source) : 0;
        % if exchange == "bits":
        reached[item] = found[item];
        % endif
    </%share:each_item>
    }
    {
    <%share:each_item count="${state_words}">
        state[item] = item == NEXT ? here && !is_hub : item == NEXT_HUBS && is_hub;
    </%share:each_item>
    }
    % if exchange == "bits":
    if (get_global_id(0) == 0) listed[0] = 0;
    % endif
    if (get_global_id(0) == 0 && here) (is_hub ? hubs : frontier)[0] = MAKE_ENTRY(own_source, row, degree);
</%def>

## Targets of edges, as a parameter: on the device, or where they are in host memory; and the array that it is.
<%def name="targets(name)">\
% if getattr(problem, "addressed", False):
const ulong ${name}_address,\
% else:
__global const uint *restrict ${name},\
% endif
</%def>

<%def name="take_targets(name)">
% if getattr(problem, "addressed", False):
__global const uint *const ${name} = (__global const uint *)${name}_address;
% endif
</%def>

<%def name="row_names()">
% if problem.named:
#define ROW_NAME(u_) ((u_) < line_count ? (u_) * own_step + own_first : names[(u_) - line_count])
% else:
#define ROW_NAME(u_) ((u_) * own_step + own_first)
% endif
</%def>

<%def name="visit_edges(count)">
    % for k in range(count):
    % if config.frontier.visited == "plain":
    int claimed${k} = active${k};
    % else:
    ${visited.look(f"may_claim{k}", f"v{k}", f"active{k}", "", "")}
    % endif
    % endfor
    % if config.frontier.visited != "plain":
    % for k in range(count):
    ${visited.claim_bit(f"claimed{k}", f"v{k}", f"may_claim{k}")}
    % endfor
    % endif
    % for k in range(count):
    ${duplicates.at_lookup(f"claimed{k}", f"v{k}")}
    % if exchange == "candidates":
    ${bins.push(f"claimed{k}", f"MAKE_CANDIDATE(v{k}, ROW_NAME(u{k}))", owned)}
    % else:
    % if problem.predecessors:
    if (claimed${k}) predecessors[v${k}] = (int)ROW_NAME(u${k});
    % endif
    if (lists && claimed${k}) listed[1u + atomic_inc(listed)] = v${k};
    % endif
    % endfor
</%def>

<%def name="expansion()">
    __global word_t *const the_visited = found;
    now.length = state[NEXT + slot * SLOT_STRIDE];
    now.hubs = state[NEXT_HUBS + slot * SLOT_STRIDE];
    uint tile_size = LANES;
    while (tile_size > 1 && now.length < (ulong)tile_size * GROUP_LANES * now.members) tile_size >>= 1;
    ${advance.each_edge("frontier", "now.length", visit_edges)}
    % if config.hub_degree:
    ${advance.each_hub_edge("hubs", "now.hubs", visit_edges)}
    % endif
</%def>

<%def name="pulling(put=None, level=None)">
    __global const word_t *const from_visited = reached + first_word;
    __global word_t *const to_visited = found + first_word;
    const uint words = own_words;
    uint found_count = 0;
    edges_t found_edges = 0;
    <%pull:each_unvisited words="words">
    <%def name="accept(u)">((reached[${u} >> WORD_SHIFT] >> (${u} & WORD_MASK)) & 1)</%def>
    <%def name="stored(w)">${put(w) if put else ""}</%def>
    <%def name="found(v, u)">
        % if level:
        distances[${v}] = (int)(${level});
        % endif
        % if problem.predecessors:
        predecessors[(first_word << WORD_SHIFT) + ${v}] = (int)${u};
        % endif
    </%def>
    </%pull:each_unvisited>
</%def>

<%def name="merging(word, level)">
    ${queue.begin_stage()}
    const int eager = 0;
    uint found_hubs = 0;
    <%gather:each_bit words="own_words" word="${word}">
        offset_t row0 = 0;
        uint degree0 = 0;
        const uint v0 = v;
        const int claimed0 = active;
        if (claimed0) distances[v0] = (int)${level};
        ${visiting.enqueue(1, False, visiting.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE", counts_edges=True)}
        % if counts_hubs:
        found_hubs += claimed0 && degree0 > hub_floor;
        % endif
    </%gather:each_bit>
    % if counts_hubs:
    found_hubs = lane_reduce_add(found_hubs);
    if (lane_id() == 0 && found_hubs) atomic_add(state + FOUND_HUBS, found_hubs);   // of all levels
    % endif
    ${queue.end_stage("queue_to", "0")}
</%def>
