## solo_sequential: the solo mode of one-lane groups: a plain loop over the queues, no atomics.
##
## Contract      /grid/solo.mako; the body defs are
##               visit_alone(): sets `claimed` for (u, v, e); v is appended if it is true
##               edges_of(v): an expression, the out-degree of a queued vertex
##               solo_level(): bookkeeping after each level, sets `going`
## Branches      what a search over a sparse graph waits for is mispredicted branches: rows of up to
##               four edges are visited without any, repeating the last edge, and the append is
##               unconditional with a conditional step. Queues hold QUEUE_SLACK more entries for it.

<%def name="setup()"></%def>

<%def name="levels()">
{
    int going = 1;
    while (going) {
        __global const entry_t *const queue_from = now.queue ? queue_odd : queue_even;
        __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
        uint appended = 0;
        for (uint i = 0; i < now.length; ++i) {
            // Three dependent accesses, each fetched ahead of its use: row, then head, then label.
            const uint ahead = now.length - 1 - i;
            prefetch_global(indptr + queue_from[i + min(ahead, ${config.prefetch_row}u)]);
            prefetch_global(indices + indptr[queue_from[i + min(ahead, ${config.prefetch_edges}u)]]);
            const entry_t entry = queue_from[i];
            const uint u = ENTRY_VERTEX(entry);
            const offset_t row = ENTRY_BEGIN(entry);
            const uint degree = ENTRY_DEGREE(entry);
            if (degree - 1u < 4u) {
                % for k in range(4):
                {
                    const offset_t e = row + min(${k}u, degree - 1u);
                    const uint v = indices[e];
                    ${append(caller.visit_alone)}
                }
                % endfor
            } else {
                for (uint k = 0; k < degree; ++k) {
                    const offset_t e = row + k;
                    const uint v = indices[e];
                    ${append(caller.visit_alone)}
                }
            }
        }
        // Sums of degrees are only worth a pass where they could end the solo run.
        edges_t edges = 0;
        if ((ulong)appended * max_degree > ${config.solo_edges}u)
            for (uint i = 0; i < appended; ++i) edges += (edges_t)${caller.edges_of("queue_to[i]")};
        else
            edges = (edges_t)appended * mean_degree;
        now.length = appended;
        const uint solo_hubs_found = 0;
        now.queue ^= 1;
        ${caller.solo_level()}
        store_relaxed(state + HEARTBEAT, now.level);
    }
}
</%def>

<%def name="append(visit)">
int claimed = 0;
${visit()}
queue_to[appended] = v;
appended += claimed;
</%def>
