## bands: delta-stepping by SIMD groups: first the edges that stay in a band, then those that lead on.
##
## RELAX         of each vertex of the frontier the edges that end at HIGH or below. Rows are in order
##               of cut weights, ROW_CUTS to a row, so those edges are a row's first ones
## HEAVY         what leads on from all that the band has settled: /sssp/beyond.mako
## SPLIT         the band's vertices that were reached before it began
##
## Rows          of more than config.row_limit edges are in a list piece by piece, so that no lane
##               group has much more to do than another, and lists hold n + m / row_limit entries
## Found         vertices that were decreased are collected without a look at their rows, which is then taken for
##               all lanes together, AT_ONCE a lane: each such look waits for rows, then for places; bit 31 says that
##               the vertex came into the band, bit 30 that another lane queues it
## Offers        setup, work, by_one_group, admit: bodies of /grid/stage.mako, and what START needs
## In scope      the kernel's arguments, now, slot; in work the queues and piles of the stage
## Races         a vertex that improves while it is expanded is queued again, so the key that was read
##               when its row was cut does no harm
##
## Reference     V. Chakaravarthy, F. Checconi, F. Petrini, Y. Sabharwal, "Scalable single source
##               shortest path algorithms for massively parallel systems", IPDPS 2014

## Of lists up to FEW rows each SIMD group adds up what it has seen by itself: few do, and nobody waits.
## So many of the source's first edges, which are among its lightest, say how far the first band has to reach.
<%! AT_ONCE, FEW, ASKED = 2, 512, 8 %>

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="rows" file="/sssp/band_rows.mako"/>
<%namespace name="beyond" file="/sssp/beyond.mako"/>

<%def name="setup()">
__local uint found_vertices[${(AT_ONCE + 1) * config.group_size}];
__local key_t row_keys[${config.group_size}];
__local uint group_settled, group_seen;
if (get_local_id(0) == 0) group_settled = group_seen = 0;
</%def>

<%def name="by_one_group()"></%def>

## A first band in which no edge of the only source ends would take three stages for that source alone.
<%def name="widen_first()">
const offset_t first_edge = indptr[source];
const uint asked = min((uint)(indptr[source + 1] - first_edge), ${ASKED}u);
key_t lightest = KEY_NONE;
for (uint k = 0; k < asked; ++k) lightest = min(lightest, key_add(KEY_ZERO, WEIGHT_AT(first_edge + k)));
if (asked && lightest > (key_t)CONTROL_ULONG(HIGH)) CONTROL_ULONG(HIGH) = key_raise(lightest, delta);
</%def>

<%def name="found_by_lanes()">found_vertices + LANE_GROUP * (${AT_ONCE + 1} * LANES)</%def>

<%def name="begin_found()">
    __local uint *const found_here = ${found_by_lanes()};
    uint found = 0;   // uniform over the lanes
    uint settled_edges = 0;
</%def>

<%def name="work()">
    const uint part = 0, parts = 1;
    __local key_t *const keys_here = row_keys + LANE_GROUP * LANES;
    const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
    % if "relax" in stages:
    if (now.mode == RELAX) {
        const key_t high = (key_t)CONTROL_ULONG(HIGH), bound = min(high, (key_t)limit);
        const int whole = high >= KEY_NONE - 1;   // nothing lies beyond
        uint edges_seen = 0;
        ${relaxing.begin()}
        ${begin_found()}
        ${rows.shares("now.length")}
        <%tiles:each_tile count="now.length * shares" size="tile_size">
            const uint share = tile_begin & (shares - 1), first_row = shares > 1 ? tile_begin / shares : tile_begin;
            const uint rows_here = shares > 1 ? 1 : tile_end - tile_begin;
            ${rows.take("queue_from", rows.light, "share")}
            ${advance.tile_edges("buffer", "0", "rows_here", relax_light)}
            lane_converge();
        </%tiles:each_tile>
        if (found) ${flush("found")}
        ${relaxing.end()}
        if (now.length <= ${FEW}u) {
            ${relaxing.end_settling()}
            ${rows.count_edges()}
        } else {
            ${end_by_group("edges_seen")}
        }
        ${queue.end_stage("queue_to", f"now.length <= {FEW}u")}
    }
    % endif
    % if "heavy" in stages:
    if (now.mode == HEAVY) {
        ${beyond.relax(found_by_lanes)}
    }
    % endif
    % if "split" in stages:
    if (now.mode == SPLIT) {
        const key_t low = (key_t)CONTROL_ULONG(LOW), high = (key_t)CONTROL_ULONG(HIGH);
        ${relaxing.begin_aside()}
        ${begin_found()}
        <%relaxing:each_on_pile>
            ${collect("improved", "v0 | 0x80000000u")}
        </%relaxing:each_on_pile>
        if (found) ${flush("found")}
        if (now.length <= ${FEW}u) {
            ${relaxing.end_settling()}
        } else {
            ${end_by_group("0u")}
        }
        ${relaxing.end_aside("pile_other", "other_count")}
        ${queue.end_stage("queue_to", f"now.length <= {FEW}u")}
    }
    % endif
</%def>

## As relaxing.end_settling, and edges that were `seen`, with one atomic each for a work-group: those of all
## SIMD groups would wait for each other.
<%def name="end_by_group(seen)">
    {
        const uint settled_here = lane_reduce_add(settled_edges), seen_here = lane_reduce_add(${seen});
        if (lane_id() == 0 && settled_here) atomic_add(&group_settled, settled_here);
        if (lane_id() == 0 && seen_here) atomic_add(&group_seen, seen_here);
        group_barrier();
        if (get_local_id(0) == 0) {
            if (group_settled) atom_add((volatile __global ulong *)(control_block + SETTLED_EDGES), (ulong)group_settled);
            if (group_seen) atomic_add(state + NEXT_EDGES_HIGH + slot * SLOT_STRIDE, group_seen);
            group_settled = group_seen = 0;
        }
    }
</%def>

<%def name="relax_light(count)">
    % for k in range(count):
    ${relaxing.relax_edge(k, f"active{k}", f"keys_here[u{k}]", f"v{k}", "bound", may_exceed="whole && ")}
    edges_seen += (uint)active${k};
    % endfor
    % for k in range(count):
    ${keys_at.decrease(f"decreased{k}", f"was{k}", f"v{k}", f"improves{k}", f"to{k}", "now.level")}
    % endfor
    % for k in range(count):
    const int fresh${k} = decreased${k} && ${keys_at.first(f"v{k}", f"was{k}", "now.level", "high")};
    const int comes${k} = decreased${k} && CELL_KEY(was${k}) > high;
    ${collect(f"(fresh{k} || comes{k})", f"v{k} | (uint)comes{k} << 31 | (uint)!fresh{k} << 30")}
    % endfor
</%def>

<%def name="collect(improved, word)">
${collected.collect(improved, word, "found_here", "found", f"{AT_ONCE}u * LANES", lambda: flush(f"{AT_ONCE}u * LANES"))}
</%def>

<%def name="flush(count)">
{
    lane_converge();
    const uint taken = ${count};
    found -= taken;
    __local const uint *const words = found_here + found;
    % for k in range(AT_ONCE):
    const uint word${k} = ${k}u * LANES + lane_id() < taken ? words[${k}u * LANES + lane_id()] : 0u;
    const int active${k} = ${k}u * LANES + lane_id() < taken, queued${k} = !(word${k} & 0x40000000u), comes${k} = (int)(word${k} >> 31);
    const uint vertex${k} = word${k} & 0x3fffffffu;
    % endfor
    ${admit(AT_ONCE)}
    lane_converge();
}
</%def>

## Of each lane `count` vertices vertex0, ... where active0, ...: into the next frontier where queued0 and, where
## it comes0 into the band, on the list of settled ones.
<%def name="admit(count)">
{
    % for k in range(count):
    offset_t row${k} = 0;
    uint degree${k} = 0;
    if (active${k}) {
        row${k} = indptr[vertex${k}];
        degree${k} = (uint)(indptr[vertex${k} + 1] - row${k});
    }
    % endfor
    % for k in range(count):
    int kept${k} = degree${k} > 0 && queued${k}, settles${k} = degree${k} > 0 && comes${k};
    if (kept${k}) found_edges += degree${k};
    if (settles${k}) settled_edges += degree${k};
    % endfor
    % for k in range(count):
    if (lane_any(degree${k} > ${config.row_limit}u)) {
        ${relaxing.in_pieces(f"kept{k}", f"settles{k}", f"vertex{k}", f"row{k}", f"degree{k}")}
    }
    % endfor
    uint keeping = 0, settling = 0;
    % for k in range(count):
    keeping += lanemask_count(lane_ballot(kept${k}));
    settling += lanemask_count(lane_ballot(settles${k}));
    % endfor
    uint queue_at = 0, settled_at = 0;
    // The first lane and the last reserve at the same time; where there is one lane, it does both.
    if (lane_id() == 0 && keeping) {
        ${queue.reserve("keeping", "reserved")}
        queue_at = reserved;
    }
    if (lane_id() == LANES - 1 && settling) {
        ${relaxing.reserve_settled("settling", "reserved")}
        settled_at = reserved;
    }
    queue_at = lane_broadcast(queue_at, 0);
    settled_at = lane_broadcast(settled_at, LANES - 1);
    const int has_room = queue_at != NO_SPACE, has_list = settled_at != NO_SPACE;
    % for k in range(count):
    {
        const lanemask_t queues = lane_ballot(kept${k}), lists = lane_ballot(settles${k});
        const entry_t entry = MAKE_ENTRY(vertex${k}, row${k}, degree${k});
        if (kept${k} && has_room) queue_to[queue_at + lanemask_count(queues & lane_mask_lt())] = entry;
        if (settles${k} && has_list) settled[settled_at + lanemask_count(lists & lane_mask_lt())] = entry;
        queue_at += lanemask_count(queues);
        settled_at += lanemask_count(lists);
    }
    % endfor
}
</%def>
