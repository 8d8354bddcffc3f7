## levels: levels that several devices share, each of which has the whole graph.
##
## A narrow level every device runs for itself, all alike, and nothing is sent. Of a wide one each finds those that are
## its own, a range of whole words of the bitmap: it pulls these, or pushes to these alone, for which it cuts the rows of
## the frontier to the edges that lead there (NARROW; neighbours ascend). Its words go into
## its mailbox in host memory (what is pulled as it is stored, what is pushed when all of it is there: PUT), with
## how many it found and their edges. Whoever decides waits until all have come, and then all take the
## others' words from there (TAKE), after which they know the same again.
##
## A mailbox has room for two levels, in turn: who begins one has heard of all others that they had begun the one
## before, and so had taken the words of the one before that.
##
## Offers        declarations(), setup(), share(s, edges), rounds(), put(w), exchange(), ended(), pulled_part(), pulled()
## In scope      memory and system vocabularies, copies (how many others there are), the kernel's arguments, now; of
##               a stage of vertex_queue.mako also its bitmaps, of `ended` what its decide() has
## Waiting       bounded, by the one work-item that decides; whoever waits in vain, or hears of another level, gives up as
##               if a group were missing, and then every device searches again in stepped mode, where nothing is shared
## Decisions     are to be the same on all devices, so nothing that is a matter of time may have a part in them, such as
##               how long groups keep their frontiers; a level that is shared here and not there is noticed
##
## A level that pushes is shared only where it is bare, so that no device needs a queue of what was found, and where
## entries of the frontier have rows that can be cut.

## A level is shared from so many unvisited vertices (edges, if it pushes) on, and one in so many of the graph's.
<%! PULLS_ONE_IN, PUSHES_ONE_IN = 16, 4 %>
## At a shared level each SIMD group pulls more than half as many times as this, fewer words each: whoever has one time more
## than others is waited for by every device.
<%! ROUNDS = 8 %>

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="system" file="/memory/system.mako"/>
<%namespace name="mailbox" file="/bfs/parts_mailbox.mako"/>

<%def name="declarations()">
${system.vocabulary()}
${mailbox.places()}
% if "narrow" in stages:
// Of the edges [begin, past) of a row, which ascend, the first that leads to v or beyond.
static offset_t first_edge_to(__global const uint *indices, offset_t begin, offset_t past, const uint v) {
    while (begin < past) {
        const offset_t middle = begin + (past - begin) / 2;
        if (indices[middle] < v) begin = middle + 1;
        else past = middle;
    }
    return begin;
}

% endif
// By one work-item, once all groups of this device are through with a shared level: hand over what it found, and
// give what all found together. 0 if one of the others did not come in time, or came with another level.
static int all_found(volatile __global uint *state, const ulong own_box,
                     % for other in range(copies):
                     const ulong box${other},
                     % endfor
                     const uint stamp, const uint place, const uint polls, const uint level, uint *found,
                     ulong *edges) {
    volatile __global uint *const own = BOX(own_box) + place;
    own[BOX_VERTICES] = *found;
    own[BOX_EDGES] = (uint)*edges;
    own[BOX_EDGES + 1] = (uint)(*edges >> 32);
    own[BOX_LEVEL] = level;
    fence_system();   // what other groups put there, too
    store_release_system(BOX(own_box) + BOX_READY, stamp);
    % for other in range(copies):
    {
        volatile __global uint *const box = BOX(box${other});
        uint polled = 0;
        // It may have gone on to the next one meanwhile.
        while ((int)(load_acquire_system(box + BOX_READY) - stamp) < 0) {
            if (++polled == polls || load_relaxed(state + ABORTED)) return 0;
            atomic_inc(state + HEARTBEAT);   // groups that wait for this one wait on
        }
        if (load_system(box + place + BOX_LEVEL) != level) return 0;
        *found += load_system(box + place + BOX_VERTICES);
        *edges += load_system(box + place + BOX_EDGES) | (ulong)load_system(box + place + BOX_EDGES + 1) << 32;
    }
    % endfor
    return 1;
}
</%def>

<%def name="setup()">
__global const offset_t *const every_in_indptr = in_indptr;
__global const word_t *const every_unreachable = unreachable;
% if likely:
__global const uint${likely if likely > 1 else ""} *const every_likely = likely;
% endif
</%def>

## The words that a level pulls here, by the names that a balancer has for all.
<%def name="pulled_part()">
const uint first_word = now.share ? own_word : 0u, part_words = now.share ? own_words : words;
const uint first_vertex = first_word << WORD_SHIFT;
const size_t box_place = ${place()};
__global const word_t *const from_visited = the_visited + first_word;
__global word_t *const to_visited = other_visited + first_word;
__global const word_t *const unreachable = every_unreachable + first_word;
__global const offset_t *const in_indptr = every_in_indptr + first_vertex;
% if likely:
__global const uint${likely if likely > 1 else ""} *const likely = every_likely + first_vertex;
% endif
</%def>

<%def name="rounds()" buffered="True">(now.share ? ${ROUNDS}u : 1u)</%def>

## Whether the level that `s` is about is worth an exchange.
<%def name="share(s, edges)">
    const uint left = ${"reachable - min(reachable, reached)" if config.pull.looks else "n - min(n, reached)"};
    ${s}.share = flags & FLAG_STEPPED || load_relaxed(state + EXCHANGES) + 1u >= ${most_shared}u ? 0u
              : ${s}.mode == PULL ? (uint)(${"!" + s + ".inverts && " if lists_pulled else ""}left > n / ${PULLS_ONE_IN}u + share_from)
              : ${f"(uint)({s}.mode == PUSH && {s}.inverts && (ulong)({edges}) > n / {PUSHES_ONE_IN}u + share_from)" if "narrow" in stages else "0u"};
    % if "narrow" in stages:
    if (${s}.share && ${s}.mode == PUSH) ${s}.mode = NARROW;
    % endif
</%def>

<%def name="put(w)">if (now.share && ${w} < tile_end) BOX_BITS(own_box)[box_place + first_word + ${w}] = to_visited[${w}];</%def>

## Where in a mailbox the words of this level are, or of the one that TAKE is about.
<%def name="place(met='0u')">(size_t)((load_relaxed(state + EXCHANGES) - ${met}) & 1u) * box_words</%def>

<%def name="exchange()">
    % if "narrow" in stages:
    if (now.mode == NARROW) {
        const uint first_own = own_word << WORD_SHIFT, past_own = first_own + (own_words << WORD_SHIFT);
        <%tiles:each_tile count="now.length + now.hubs" size="${tile()}">
            for (uint i = tile_begin + lane_id(); i < tile_end; i += LANES) {
                __global entry_t *const place = i < now.length ? queue_from + i : hubs_from + (i - now.length);
                const entry_t entry = *place;
                const offset_t begin = ENTRY_BEGIN(entry), past = begin + ENTRY_DEGREE(entry);
                const offset_t first = own_word ? first_edge_to(indices, begin, past, first_own) : begin;
                const offset_t behind = own_word + own_words < words ? first_edge_to(indices, first, past, past_own) : past;
                *place = MAKE_ENTRY(ENTRY_VERTEX(entry), first, (uint)(behind - first));
            }
        </%tiles:each_tile>
    }
    % endif
    % if "put" in stages:
    if (now.mode == PUT) {
        const size_t box_place = ${place()} + own_word;
        <%tiles:each_tile count="own_words" size="${tile()}">
            for (uint w = tile_begin + lane_id(); w < tile_end; w += LANES)
                BOX_BITS(own_box)[box_place + w] = the_visited[own_word + w];
        </%tiles:each_tile>
    }
    % endif
    % if "take" in stages:
    if (now.mode == TAKE) {
        const size_t box_place = ${place("1u")};
        __global word_t *const known = ${"now.inverts ? the_visited : " if lists_pulled else ""}other_visited;
        <%tiles:each_tile count="words" size="${tile()}">
            for (uint w = tile_begin + lane_id(); w < tile_end; w += LANES) {
                if (w - own_word < own_words) continue;
                ulong box = box0;
                % for other in range(1, copies):
                if (w >= box_begin${other}) box = box${other};
                % endfor
                known[w] = LOAD_WORD_SYSTEM(BOX_BITS(box) + box_place + w);
            }
        </%tiles:each_tile>
    }
    % endif
</%def>

<%def name="tile()" buffered="True">${f"{config.pull_tile}u" if lanes.module.one_lane(context) else f"{config.lanes}u"}</%def>

## After a stage of a shared level: what it found is kept until all of it is there.
<%def name="ended()">
    volatile __global ulong *const shared_edges = (volatile __global ulong *)(state + SHARED_EDGES);
    if (now.mode == PUT || now.mode == TAKE) {
        found = state[SHARED_FOUND];
        edges = *shared_edges;
    }
    % if "narrow" in stages:
    if (now.mode == NARROW) {
        next.mode = PUSH;
    } else
    % endif
    if (now.mode == PUSH) {
        next.mode = PUT;
    } else if (now.mode != TAKE) {
        const uint exchanges = state[EXCHANGES];
        next.mode = TAKE;
        if (!all_found(state, own_box, ${"".join(f"box{other}, " for other in range(copies))}first_stamp + exchanges,
                       (exchanges & 1u) * COUNTS_STRIDE, box_polls, now.level, &found, &edges)) {
            store_relaxed(state + ABORTED, 1u);
            next.mode = MODE_DONE;
        }
        state[EXCHANGES] = exchanges + 1u;
    }
    state[SHARED_FOUND] = found;
    *shared_edges = edges;
    fence_device();   // what the next stage reads of these
</%def>

<%def name="pulled()" buffered="True">now.mode == PULL${(" || (now.mode == TAKE && !now.inverts)" if lists_pulled else " || now.mode == TAKE")}</%def>
