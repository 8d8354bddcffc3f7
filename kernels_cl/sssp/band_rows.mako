## band_rows: the rows of a list, cut where their edges lead out of the band.
##
## shares(count)             declares it: how many SIMD groups share each row of a list; several, a power of two, where
##                           rows are few, since what is found in one is brought in turn by turn
## take(list, part_of_row, share)   rows_here rows from first_row on into local memory, each cut by its vertex's key, of
##                           which this is one of the shares; what stands for the vertex is a place in keys_here
## light, heavy              what part_of_row may be: a row's edges that may end in the band, and those
##                           that may end beyond it; between two cuts nobody looks at weights
## count_edges()             adds up edges_seen of all lanes
## In scope                  what /sssp/bands.mako declares for its stages; first_row, rows_here

<%def name="shares(count)">
    uint shares = 1;
    % if config.distribution == "static":
    if (tile_size == 1)
        while (shares * LANES < ${config.row_limit}u && (${count}) * shares * 2 <= GROUP_LANES * now.members) shares *= 2;
    % endif
</%def>

<%def name="take(list, part_of_row, share=None)">
    {
        const int has_row = lane_id() < rows_here;
        const entry_t listed = ${list}[first_row + (has_row ? lane_id() : 0u)];
        const uint u = ENTRY_VERTEX(listed);
        const key_t from = FRESH_KEY_AT(u);
        offset_t begin = ENTRY_BEGIN(listed);
        uint degree = ENTRY_DEGREE(listed);
        if (!whole) {
            const ushort8 ends = row_ends[u];
            const uint before = (uint)(begin - indptr[u]);   // edges of the row that are in earlier pieces
            ${part_of_row()}
        }
        % if share:
        if (shares > 1) {
            const uint most = (degree + shares - 1) / shares, skipped = min(degree, ${share} * most);
            begin += skipped;
            degree = min(most, degree - skipped);
        }
        % endif
        if (has_row) {
            buffer[lane_id()] = MAKE_ENTRY(lane_id(), begin, degree);
            keys_here[lane_id()] = from;
        }
    }
    lane_converge();
</%def>

## Edges up to the first cut that leads out of the band; 65535 is no place.
<%def name="light()">
    uint end = 65535u;
    % for k in reversed(range(row_cuts)):
    if (key_add(from, cut_weights[${k}]) > high) end = ends.s${k};
    % endfor
    if (end < 65535u) degree = end > before ? min(degree, end - before) : 0u;
</%def>

## Edges from the last cut on that does not.
<%def name="heavy()">
    uint skipped = 0;
    % for k in range(row_cuts):
    if (key_add(from, cut_weights[${k}]) <= high) skipped = ends.s${k};
    % endfor
    skipped = skipped > before ? min(degree, skipped - before) : 0u;
    begin += skipped;
    degree -= skipped;
</%def>

<%def name="count_edges()">
    const uint seen_here = lane_reduce_add(edges_seen);
    if (lane_id() == 0 && seen_here) atomic_add(state + NEXT_EDGES_HIGH + slot * SLOT_STRIDE, seen_here);
</%def>
