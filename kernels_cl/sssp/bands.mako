## bands: delta-stepping by lane groups: first the edges that stay in a band, then those that lead on.
##
## RELAX         of each vertex of the frontier the edges that end at HIGH or below. Rows are in order
##               of cut weights, ROW_CUTS to a row, so those edges are a row's first ones
## HEAVY         the other edges of all that the band has settled; or, where these are more than are
##               left, PULLS: whoever lies beyond looks along its own in-edges for a settled vertex
## SPLIT         the band's vertices that were reached before it began
##
## Rows          of more than config.row_limit edges are in a list piece by piece, so that no lane
##               group has much more to do than another, and lists hold n + m / row_limit entries
## Found         vertices that fell are collected without a look at their rows, which is then taken for
##               all lanes together; bit 31 says that the vertex came into the band, bit 30 that
##               another lane queues it
## Offers        setup, work, alone, admit: bodies of /grid/stage.mako, and what START needs
## In scope      the kernel's arguments, now, slot; in work the queues and piles of the stage
## Races         a vertex that falls while it is expanded is queued again, so the key that was read
##               when its row was cut does no harm
##
## Reference     V. Chakaravarthy, F. Checconi, F. Petrini, Y. Sabharwal, "Scalable single source
##               shortest path algorithms for massively parallel systems", IPDPS 2014

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="lower" file="/visited/lower.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>

<%def name="setup()">
__local uint found_vertices[${2 * config.group_size}];
__local key_t row_keys[${config.group_size}];
</%def>

<%def name="alone()"></%def>

<%def name="begin_found()">
    __local uint *const found_here = found_vertices + LANE_GROUP * (2 * LANES);
    uint found = 0;   // uniform over the lanes
    uint settled_edges = 0;
</%def>

<%def name="work()">
    const uint part = 0, parts = 1;
    __local key_t *const keys_here = row_keys + LANE_GROUP * LANES;
    const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
    % if "relax" in stages:
    if (now.mode == RELAX) {
        const key_t high = (key_t)BOARD_ULONG(HIGH), bound = min(high, (key_t)limit);
        const int whole = high >= KEY_NONE - 1;   // nothing lies beyond
        uint edges_seen = 0;
        ${relaxing.begin()}
        ${begin_found()}
        <%tiles:each_tile count="now.length" size="tile_size">
            ${take_rows("queue_from", light_part)}
            ${advance.tile_edges("buffer", "0", "rows_here", relax_light)}
            lane_converge();
        </%tiles:each_tile>
        if (found) ${flush("found")}
        ${relaxing.end()}
        ${end_settling()}
        ${count_edges()}
        ${queue.end_stage("queue_to", "1")}
    }
    % endif
    % if "heavy" in stages:
    if (now.mode == HEAVY) {
        const key_t high = (key_t)BOARD_ULONG(HIGH);
        uint edges_seen = 0;
        ${relaxing.begin()}
        ${begin_far()}
        % if config.heavy == "switching":
        if (PULLS) {
            // Whoever is at the lower bound or below was settled before this band, but for the sources.
            const key_t low = (key_t)BOARD_ULONG(LOW);
            const int first_band = low == 0;
            ${pull()}
        } else
        % endif
        {
            const int whole = 0;
            <%tiles:each_tile count="now.length" size="tile_size">
                ${take_rows("settled", heavy_part)}
                ${advance.tile_edges("buffer", "0", "rows_here", relax_heavy)}
                lane_converge();
            </%tiles:each_tile>
        }
        ${pile.end_stage("pile_here", "pile_count")}
        ${publish_least()}
        ${relaxing.end()}
        ${count_edges()}
    }
    % endif
    % if "split" in stages:
    if (now.mode == SPLIT) {
        const key_t low = (key_t)BOARD_ULONG(LOW), high = (key_t)BOARD_ULONG(HIGH);
        ${begin_far()}
        ${begin_found()}
        <%tiles:each_tile count="now.length" size="LANES">
            const uint place = tile_begin + lane_id();
            const int active = place < tile_end;
            const uint v0 = active ? pile_here[place] : 0u;
            const key_t key = active ? KEY_AT(v0) : KEY_ZERO;
            const int fell = active && key > low && key <= high, stays = active && key > high;
            if (stays) least = min(least, key);
            ${collect("fell", "v0 | 0x80000000u")}
            ${pile.push("stays", "v0", "pile_other", "other_count")}
        </%tiles:each_tile>
        if (found) ${flush("found")}
        ${end_settling()}
        ${pile.end_stage("pile_other", "other_count")}
        ${publish_least()}
        ${queue.end_stage("queue_to", "1")}
    }
    % endif
</%def>

<%def name="begin_far()">
    ${pile.begin_stage()}
    key_t least = KEY_NONE;   // of what this lane put aside or left there
</%def>

<%def name="publish_least()">
    // Most groups find a smaller one there already.
    const key_t least_here = REDUCE_MIN_KEY(least);
    if (lane_id() == 0 && least_here < BOARD_ULONG(LEAST)) atom_min((volatile __global ulong *)(board + LEAST), (ulong)least_here);
</%def>

<%def name="count_edges()">
    const uint seen_here = lane_reduce_add(edges_seen);
    if (lane_id() == 0 && seen_here) atomic_add(state + NEXT_EDGES_HIGH + slot * SLOT_STRIDE, seen_here);
</%def>

<%def name="end_settling()">
    {
        const uint settled_here = lane_reduce_add(settled_edges);
        if (lane_id() == 0 && settled_here) atom_add((volatile __global ulong *)(board + SETTLED_EDGES), (ulong)settled_here);
    }
</%def>

## Up to LANES rows of a list into local memory, each cut by its vertex's key; what stands for the
## vertex is a place in keys_here.
<%def name="take_rows(list, part_of_row)">
    const uint rows_here = tile_end - tile_begin;
    {
        const int has_row = lane_id() < rows_here;
        const entry_t listed = ${list}[tile_begin + (has_row ? lane_id() : 0u)];
        const uint u = ENTRY_VERTEX(listed);
        const key_t from = FRESH_KEY_AT(u);
        offset_t begin = ENTRY_BEGIN(listed);
        uint degree = ENTRY_DEGREE(listed);
        if (!whole) {
            const ushort8 ends = row_ends[u];
            const uint before = (uint)(begin - indptr[u]);   // edges of the row that are in earlier pieces
            ${part_of_row()}
        }
        if (has_row) {
            buffer[lane_id()] = MAKE_ENTRY(lane_id(), begin, degree);
            keys_here[lane_id()] = from;
        }
    }
    lane_converge();
</%def>

## Edges up to the first cut that leads out of the band; 65535 is no place.
<%def name="light_part()">
    uint end = 65535u;
    % for k in reversed(range(row_cuts)):
    if (key_add(from, cut_weights[${k}]) > high) end = ends.s${k};
    % endfor
    if (end < 65535u) degree = end > before ? min(degree, end - before) : 0u;
</%def>

## Edges from the last cut on that does not.
<%def name="heavy_part()">
    uint skipped = 0;
    % for k in range(row_cuts):
    if (key_add(from, cut_weights[${k}]) <= high) skipped = ends.s${k};
    % endfor
    skipped = skipped > before ? min(degree, skipped - before) : 0u;
    begin += skipped;
    degree -= skipped;
</%def>

<%def name="relax_light(count)">
    % for k in range(count):
    key_t to${k} = KEY_NONE, before${k} = KEY_ZERO;
    if (active${k}) {
        const weight_t weight = WEIGHT_AT(e${k});
        before${k} = KEY_AT(v${k});
        to${k} = key_add(keys_here[u${k}], weight);
    }
    % if keys.guarded:
    beyond |= whole && active${k} && to${k} >= KEY_NONE;
    % endif
    edges_seen += (uint)active${k};
    const int falls${k} = active${k} && to${k} < before${k} && to${k} <= bound;
    % endfor
    % for k in range(count):
    ${lower.lower(f"lowered{k}", f"was{k}", f"v{k}", f"falls{k}", f"to{k}", "now.level")}
    % endfor
    % for k in range(count):
    const int fresh${k} = lowered${k} && ${lower.first(f"v{k}", f"was{k}", "now.level", "high")};
    const int comes${k} = lowered${k} && CELL_KEY(was${k}) > high;
    ${collect(f"(fresh{k} || comes{k})", f"v{k} | (uint)comes{k} << 31 | (uint)!fresh{k} << 30")}
    % endfor
</%def>

<%def name="relax_heavy(count)">
    % for k in range(count):
    key_t to${k} = KEY_NONE, before${k} = KEY_ZERO;
    if (active${k}) {
        const weight_t weight = WEIGHT_AT(e${k});
        before${k} = KEY_AT(v${k});
        to${k} = key_add(keys_here[u${k}], weight);
    }
    % if keys.guarded:
    beyond |= active${k} && to${k} >= KEY_NONE;
    % endif
    edges_seen += (uint)active${k};
    const int falls${k} = active${k} && to${k} < before${k} && to${k} <= (key_t)limit;
    % endfor
    % for k in range(count):
    ${put_aside(k, f"v{k}")}
    % endfor
</%def>

## Whatever the band gives beyond it is above HIGH: all that ends there was relaxed before.
<%def name="put_aside(k, vertex)">
    ${lower.lower(f"lowered{k}", f"was{k}", vertex, f"falls{k}", f"to{k}", "now.level")}
    if (lowered${k}) least = min(least, to${k});
    ${pile.push(f"lowered{k} && CELL_KEY(was{k}) == KEY_NONE", vertex, "pile_here", "pile_count")}
</%def>

<%def name="pull()">
    __local uint *const found_here = found_vertices + LANE_GROUP * (2 * LANES);
    uint found = 0;
    <%tiles:each_tile count="n" size="LANES">
        const uint looking = tile_begin + lane_id();
        const int looks = looking < tile_end && KEY_AT(looking) > high && in_indptr[looking + 1] > in_indptr[looking];
        const lanemask_t keeping = lane_ballot(looks);
        if (looks) found_here[found + lanemask_count(keeping & lane_mask_lt())] = looking;
        found += lanemask_count(keeping);
        lane_converge();
        if (found > LANES) {
            ${look("LANES")}
        }
    </%tiles:each_tile>
    if (found) {
        ${look("found")}
    }
</%def>

## The last `count` vertices that were found to lie beyond look along their edges.
<%def name="look(count)">
    const uint rows_here = ${count};
    found -= rows_here;
    if (lane_id() < rows_here) {
        const uint u = found_here[found + lane_id()];
        const offset_t begin = in_indptr[u];
        buffer[lane_id()] = MAKE_ENTRY(u, begin, (uint)(in_indptr[u + 1] - begin));
    }
    lane_converge();
    __global const uint *const indices = in_indices;
    ${advance.tile_edges("buffer", "0", "rows_here", look_along)}
    lane_converge();
</%def>

<%def name="look_along(count)">
    edges_seen += ${" + ".join(f"(uint)active{k}" for k in range(count))};
    % for k in range(count):
    key_t from${k} = active${k} ? KEY_AT(v${k}) : KEY_NONE, to${k} = KEY_NONE;
    int falls${k} = (from${k} > low || first_band) && from${k} <= high;
    if (falls${k}) {
        to${k} = key_add(from${k}, in_edges[e${k}]);
        % if keys.guarded:
        beyond |= to${k} >= KEY_NONE;
        % endif
        falls${k} = to${k} < KEY_AT(u${k}) && to${k} <= (key_t)limit;
    }
    % endfor
    % for k in range(count):
    ${put_aside(k, f"u{k}")}
    % endfor
</%def>

<%def name="collect(fell, word)">
{
    const lanemask_t finding = lane_ballot(${fell});
    if (finding) {
        if (${fell}) found_here[found + lanemask_count(finding & lane_mask_lt())] = ${word};
        found += lanemask_count(finding);
        if (found > LANES) {
            lane_converge();
            ${flush("LANES")}
        }
    }
}
</%def>

<%def name="flush(count)">
{
    lane_converge();
    const uint taken = ${count};
    found -= taken;
    const uint word = lane_id() < taken ? found_here[found + lane_id()] : 0u;
    ${admit("lane_id() < taken", "!(word & 0x40000000u)", "word >> 31", "word & 0x3fffffffu")}
    lane_converge();
}
</%def>

## A vertex into the next frontier and, where it `comes` into the band, on the list of settled ones.
<%def name="admit(active, queued, comes, vertex)">
{
    const uint admitted = ${vertex};
    offset_t row = 0;
    uint degree = 0;
    if (${active}) {
        row = indptr[admitted];
        degree = (uint)(indptr[admitted + 1] - row);
    }
    int kept = degree > 0 && (${queued}), settles = degree > 0 && (${comes});
    if (kept) found_edges += degree;
    if (settles) settled_edges += degree;
    ${relaxing.in_pieces("kept", "settles", "admitted", "row", "degree")}
    const lanemask_t keeping = lane_ballot(kept), settling = lane_ballot(settles);
    uint queue_at = 0, settled_at = 0;
    // The first lane and the last reserve at the same time; where there is one lane, it does both.
    if (lane_id() == 0 && keeping) {
        ${queue.reserve("lanemask_count(keeping)", "reserved")}
        queue_at = reserved;
    }
    if (lane_id() == LANES - 1 && settling) {
        ${relaxing.reserve_settled("lanemask_count(settling)", "reserved")}
        settled_at = reserved;
    }
    const uint queue_base = lane_broadcast(queue_at, 0), settled_base = lane_broadcast(settled_at, LANES - 1);
    const entry_t entry = MAKE_ENTRY(admitted, row, degree);
    if (kept && queue_base != NO_SPACE) queue_to[queue_base + lanemask_count(keeping & lane_mask_lt())] = entry;
    if (settles && settled_base != NO_SPACE) settled[settled_base + lanemask_count(settling & lane_mask_lt())] = entry;
}
</%def>
