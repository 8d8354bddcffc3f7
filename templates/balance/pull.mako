## pull: offer each unvisited vertex its in-neighbours until one is accepted.
##
## Body defs     accept(u): an expression, whether in-neighbour u ends the search for v
##               found(v, u): what to do then, by one lane
##               listed(active, v): where `lists` is an expression and holds, what to do with each found one
##               by all lanes; on several lanes only
##               stored(w), optional: what follows the storing of word w, which may be beyond tile_end
## In scope      in_indptr, in_indices, unreachable, from_visited (read), to_visited (written), found_count,
##               found_edges; n, where `reads_fewer` is asked; where it is rendered with `likely`, on several lanes
##               also likely: so many in-neighbours of each vertex, all of them where it has no more
## Called by     all work-items, in uniform control flow
## Barriers      none; lane collectives only in lane-uniform flow
## Local memory  one word per lane
## Result        to_visited = from_visited plus the found ones; found_count and found_edges of
##               each lane are increased
## Shape         a SIMD group takes up to LANES words of the bitmap, numbers the unvisited vertices in
##               them by a scan of their counts and gives each lane one of those: lanes stay busy
##               however few are left. A vertex is probed by its lane first; a longer row is
##               finished by all lanes together. Where `rounds`, an expression, is given, each SIMD group takes fewer
##               words more than half as many times: one time more than others costs the less.
##               On one lane it is a loop over the clear bits of a word.

## Words that a SIMD group takes at least; and those ahead that a loop asks for.
<%!
    FEWEST_WORDS, WORDS_AHEAD = 4, 2

    def tried_first(context):
        """How many in-neighbours of each vertex the caller has that are tried before its row."""
        return context.get("likely", 0) or 0
%>

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="gather" file="/visited/gather.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>

## The rule by edges: an expression, whether pulling reads fewer edges than the frontier's `edges`, where
## so many are `unexplored`; clgraph.engine.strategies.pull.ByEdges has it for the host.
<%def name="reads_fewer(edges, unexplored)">${edges} > ${unexplored} / ${config.pull.alpha}u + n / ${config.pull.floor}u</%def>

<%def name="setup()">
% if not lanes.module.one_lane(context):
__local word_t pulled[${config.group_size}];
% endif
</%def>

<%def name="each_unvisited(words, lists=None, rounds=None)">
% if lanes.module.one_lane(context):
<%tiles:each_tile count="${words}" size="${config.pull_tile}">
    for (uint w = tile_begin; w < tile_end; ++w) {
        ${prefetch_word(f"w + {WORDS_AHEAD}u", words)}
        ${pull_word(caller.accept, caller.found)}${caller.stored("w") if hasattr(caller, "stored") else ""}
    }
</%tiles:each_tile>
% else:
// A SIMD group takes as few words as leave none of the others without any: of vertices that find no
// one, each in-neighbour is a wait that only other SIMD groups fill.
uint words_together = ${config.lanes}u;
while (words_together > ${min(FEWEST_WORDS, config.lanes)}u && ${words} <= GROUP_LANES * now.members * (words_together / 2u)${f" * {rounds}" if rounds else ""}) words_together /= 2u;
% if rounds:
if (${rounds} > 1u) {
    // As many turns, but all of one length.
    const uint in_turn = GROUP_LANES * now.members, turns = max((${words} + in_turn * words_together - 1u) / (in_turn * words_together), 1u);
    words_together = max((${words} + in_turn * turns - 1u) / (in_turn * turns), 1u);
}
% endif
<%tiles:each_tile count="${words}" size="words_together">
    const uint w = tile_begin + lane_id();
    const word_t before = w < tile_end ? from_visited[w] : 0;
    const word_t todo = w < tile_end ? ~(before | unreachable[w]) : 0;
    ${gather.rank("todo")}
    __local word_t *const added = pulled + LANE_GROUP * LANES;
    added[lane_id()] = 0;
    lane_converge();
    for (uint first = 0; first < total; first += LANES) {
        ${gather.take("todo")}
        % if tried_first(context):
        const ${"uint" if tried_first(context) == 1 else f"uint{tried_first(context)}"} tried = likely[v];
        % endif
        const offset_t row_begin = active ? ${rows.in_begin("v")} : 0, row_end = active ? ${rows.in_past("v")} : 0;
        ${probe(caller.accept, caller.found)}
    }
    lane_converge();
    if (w < tile_end) to_visited[w] = before | added[lane_id()];${caller.stored("w") if hasattr(caller, "stored") else ""}
    found_count += (uint)popcount(added[lane_id()]);
    % if lists:
    if (${lists}) {
        for (word_t fresh = added[lane_id()]; lane_any(fresh != 0); fresh &= fresh - 1) {
            const int is_new = fresh != 0;
            const uint new_v = is_new ? (w << WORD_SHIFT) + word_first(fresh) : 0u;
            ${caller.listed("is_new", "new_v")}
        }
    }
    % endif
    lane_converge();
</%tiles:each_tile>
% endif
</%def>

## Ask for the rows that a word further on will read: the branches of pull_word would come to each
## too late to have several on their way.
<%def name="prefetch_word(word, words)">
for (word_t todo = ${word} < ${words} ? ~(from_visited[${word}] | unreachable[${word}]) : 0; todo; todo &= todo - 1)
    prefetch_global(in_indices + in_indptr[((${word}) << WORD_SHIFT) + word_first(todo)]);
</%def>

## The unvisited vertices of one word on one lane. Each is offered four in-neighbours without a
## branch that depends on them, which decides most of them; the others' rows are walked after that.
<%def name="pull_word(accept, found)">
const word_t before = from_visited[w];
word_t added = 0, unfinished = 0;
uint parents[WORD_BITS];
for (word_t todo = ~(before | unreachable[w]); todo; todo &= todo - 1) {
    const uint k = word_first(todo), v = (w << WORD_SHIFT) + k;
    const offset_t row = ${rows.in_begin("v")};
    const uint degree = (uint)(${rows.in_past("v")} - row);
    const uint u0 = in_indices[row];
    % for k in (1, 2, 3):
    const uint u${k} = in_indices[row + (degree > ${k}u ? ${k}u : degree - 1u)];
    % endfor
    % for k in range(4):
    const uint hit${k} = (uint)${accept(f"u{k}")};
    % endfor
    const uint hit = hit0 | hit1 | hit2 | hit3;
    parents[k] = hit0 ? u0 : hit1 ? u1 : hit2 ? u2 : u3;
    added |= (word_t)hit << k;
    unfinished |= (word_t)(~hit & (degree > 4u)) << k;
    found_edges += hit ? degree : 0u;
}
for (; unfinished; unfinished &= unfinished - 1) {
    const uint k = word_first(unfinished), v = (w << WORD_SHIFT) + k;
    const offset_t row_begin = ${rows.in_begin("v")}, row_end = ${rows.in_past("v")};
    for (offset_t e = row_begin + 4; e < row_end; ++e) {
        const uint u = in_indices[e];
        if (${accept("u")}) {
            parents[k] = u;
            added |= (word_t)1 << k;
            found_edges += (edges_t)(row_end - row_begin);
            break;
        }
    }
}
to_visited[w] = before | added;
found_count += word_count(added);
for (; added; added &= added - 1) {
    const uint k = word_first(added), v = (w << WORD_SHIFT) + k;
    ${found("v", "parents[k]")}
}
</%def>

## One vertex per lane: config.pull.probes neighbours by the lane itself, four in flight at a time,
## then all lanes on what is left of each unfinished row.
<%def name="probe(accept, found)">
int hit = 0;
uint parent = 0;
offset_t e = row_begin;
<% first = tried_first(context) %>\
% if first:
if (active) {
    % for k in range(first):
    <% u = "tried" if first == 1 else f"tried.s{k}" %>\
    ${f"if (!hit) " if k else ""}{
        hit = ${accept(u)};
        parent = ${u};
    }
    % endfor
    if (row_end - row_begin <= ${first}u) e = row_end;
}
% endif
for (uint probes = 0; probes < ${config.pull.probes}u; probes += 4) {
    if (!hit && e < row_end) {
        const offset_t last_edge = row_end - 1;
        const uint u0 = in_indices[e];
        % for k in (1, 2, 3):
        const uint u${k} = in_indices[min(e + ${k}, last_edge)];
        % endfor
        % for k in range(4):
        const int hit${k} = ${accept(f"u{k}")};
        % endfor
        hit = hit0 | hit1 | hit2 | hit3;
        parent = hit0 ? u0 : hit1 ? u1 : hit2 ? u2 : u3;
        e += 4;
    }
}
lanemask_t unfinished = lane_ballot(active && !hit && e < row_end);
while (unfinished) {
    const uint owner_lane = lanemask_first(unfinished);
    unfinished &= unfinished - 1;
    const offset_t long_begin = SHUFFLE_OFFSET(e, owner_lane), long_end = SHUFFLE_OFFSET(row_end, owner_lane);
    for (offset_t at = long_begin; at < long_end; at += ${config.pull_batch}u * LANES) {
        // Past the end the last in-neighbour is tried again, which asks for no branch.
        % for k in range(config.pull_batch):
        const uint u${k} = in_indices[min(at + ${k * config.lanes}u + lane_id(), long_end - 1)];
        % endfor
        int accepted = 0;
        uint u = u0;
        % for k in range(config.pull_batch):
        if (!accepted && ${accept(f"u{k}")}) {
            accepted = 1;
            u = u${k};
        }
        % endfor
        const lanemask_t accepting = lane_ballot(accepted);
        if (accepting) {
            const uint found_u = lane_shuffle(u, lanemask_first(accepting));
            if (lane_id() == owner_lane) {
                hit = 1;
                parent = found_u;
            }
            break;
        }
    }
}
if (hit) {
    atomic_or(&added[owner], WORD_BIT(v));
    found_edges += (edges_t)(row_end - row_begin);
    ${found("v", "parent")}
}
</%def>
