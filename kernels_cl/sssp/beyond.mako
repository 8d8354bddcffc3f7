## beyond: what leads out of a band, once no one in it improves any more.
##
## Push          the edges that the band left, of all that it has settled
## Pull          where these are more than are left (now.pulls): whoever lies beyond looks along its own
##               in-edges for a settled vertex. All of one vertex are one SIMD group's, so the least length is found
##               in local memory and stored. Where every edge has its like the other way, one whose neighbours are
##               all settled can reach nobody and has its distance: it is not put aside, but done with
##
## back(array)   an array of the transpose, which an undirected graph is itself
## relax(found_by_lanes)   the stage HEAVY of /sssp/bands.mako, with room for 3 * LANES words of this SIMD group
## In scope      what /sssp/bands.mako declares for its stages

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="pile" file="/frontier/pile.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="rows" file="/sssp/band_rows.mako"/>

<%def name="back(array)">${array if problem.undirected else f"in_{array}"}</%def>

<%def name="relax(found_by_lanes)">
    const key_t high = (key_t)CONTROL_ULONG(HIGH);
    uint edges_seen = 0;
    ${relaxing.begin()}
    ${relaxing.begin_aside()}
    % if config.method.heavy == "switching":
    if (now.pulls) {
        // Whoever is at the lower bound or below was settled before this band, but for the sources.
        const key_t low = (key_t)CONTROL_ULONG(LOW);
        const int first_band = low == 0;
        ${pull(found_by_lanes)}
    } else
    % endif
    {
        const int whole = 0;
        <%tiles:each_tile count="now.length" size="tile_size">
            const uint first_row = tile_begin, rows_here = tile_end - tile_begin;
            ${rows.take("settled", rows.heavy)}
            ${advance.tile_edges("buffer", "0", "rows_here", relax_edges)}
            lane_converge();
        </%tiles:each_tile>
    }
    ${relaxing.end_aside("pile_here", "pile_count")}
    ${relaxing.end()}
    ${rows.count_edges()}
</%def>

<%def name="relax_edges(count)">
    % for k in range(count):
    ${relaxing.relax_edge(k, f"active{k}", f"keys_here[u{k}]", f"v{k}", "(key_t)limit")}
    edges_seen += (uint)active${k};
    % endfor
    % for k in range(count):
    ${put_aside(k, f"v{k}")}
    % endfor
</%def>

## Whatever the band gives beyond it is above HIGH: all that ends there was relaxed before.
<%def name="put_aside(k, vertex)">
    ${keys_at.decrease(f"decreased{k}", f"was{k}", vertex, f"improves{k}", f"to{k}", "now.level")}
    if (decreased${k}) least = min(least, to${k});
    ${pile.push(f"decreased{k} && CELL_KEY(was{k}) == KEY_NONE", vertex, "pile_here", "pile_count")}
</%def>

<%def name="pull(found_by_lanes)">
    __local uint *const found_here = ${found_by_lanes()};
    __local uint *const open_here = found_here + 2 * LANES;   // whether a neighbour of each lies beyond too
    uint found = 0, settled_edges = 0;
    <%tiles:each_tile count="n" size="LANES">
        const uint looking = tile_begin + lane_id();
        const int looks = looking < tile_end && KEY_AT(looking) > high && ${back("indptr")}[looking + 1] > ${back("indptr")}[looking];
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
    ${relaxing.end_settling()}
</%def>

## The last `count` vertices that were found to lie beyond look along their edges.
<%def name="look(count)">
    const uint rows_here = ${count};
    found -= rows_here;
    const int has_row = lane_id() < rows_here;
    const uint u = has_row ? found_here[found + lane_id()] : 0u;
    const key_t was = has_row ? FRESH_KEY_AT(u) : KEY_NONE;   // which is stored over
    uint degree = 0;
    if (has_row) {
        const offset_t begin = ${back("indptr")}[u];
        degree = (uint)(${back("indptr")}[u + 1] - begin);
        buffer[lane_id()] = MAKE_ENTRY(lane_id(), begin, degree);
        keys_here[lane_id()] = was;
        open_here[lane_id()] = ${"0" if problem.undirected else "1"};
    }
    lane_converge();
    % if not problem.undirected:
    __global const uint *const indices = in_indices;
    % endif
    ${advance.tile_edges("buffer", "0", "rows_here", look_along)}
    lane_converge();
    const key_t to = has_row ? keys_here[lane_id()] : KEY_NONE;
    const int comes = to < was, opens = comes && was == KEY_NONE && open_here[lane_id()];
    if (comes) {
        cells[u] = CELL(to, now.level);
        if (was == KEY_NONE && !opens) settled_edges += degree;
        else least = min(least, to);
    }
    ${pile.push("opens", "u", "pile_here", "pile_count")}
    lane_converge();
</%def>

## Here u0, ... are places in keys_here.
<%def name="look_along(count)">
    edges_seen += ${" + ".join(f"(uint)active{k}" for k in range(count))};
    % for k in range(count):
    const key_t from${k} = active${k} ? KEY_AT(v${k}) : KEY_NONE;
    ${relaxing.relax_edge(k, f"(from{k} > low || first_band) && from{k} <= high", f"from{k}", None,
                          "(key_t)limit", weight=f"{capture(back, 'edges')}[e{k}]")}
    % endfor
    % for k in range(count):
    if (improves${k} && to${k} < keys_here[u${k}]) ATOMIC_MIN_KEY((volatile __local key_t *)keys_here + u${k}, to${k});
    % if problem.undirected:
    if (active${k} && from${k} > high) open_here[u${k}] = 1;
    % endif
    % endfor
</%def>
