## open_rows: the edges of those vertices among all that are open, some lanes together a vertex.
##
## each_edge(shift)   `shift` is the logarithm of the lanes of a vertex, uniform
## Body defs     state(u): an expression, what is known of u; is_open(word): whether that makes it open
##               close(u): an expression that makes it so no longer, by one lane
##               visit(): what to do along the edge from u, of state `word`, to v
## In scope      n, indptr, indices
## Called by     all work-items, in uniform control flow
## Cost          a look at every vertex
## Opening       several lanes share a vertex, and the first of them says for all whether it is open:
##               others that open it meanwhile may let one lane see that and the next one not, and a
##               share would be lost

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="each_edge(shift)">
    const uint shift = ${shift};
    const uint share = lane_id() & ((1u << shift) - 1u);
    <%tiles:each_tile count="n" size="${config.lanes}">
        for (uint first = tile_begin; first < tile_end; first += LANES >> shift) {
            const uint u = min(first + (lane_id() >> shift), tile_end - 1u);
            const uint word = ${caller.state("u")};
            const lanemask_t ready = lane_ballot(first + (lane_id() >> shift) < tile_end &&
                                                 ${caller.is_open("word")});
            const int open = (int)(ready >> (lane_id() - share) & 1u);
            if (open && share == 0) ${caller.close("u")};
            const offset_t row_end = open ? indptr[u + 1] : 0;
            for (offset_t e = open ? indptr[u] + share : 0; e < row_end; e += 1u << shift) {
                const uint v = indices[e];
                ${caller.visit()}
            }
        }
    </%tiles:each_tile>
</%def>
