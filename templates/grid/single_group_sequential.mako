## single_group_sequential: the single-group mode of one-SIMD groups: a plain loop over the queues, no atomics.
##
## Contract      /grid/single_group.mako; the body defs are
##               may_find(v): an expression, whether v has not been found before this batch
##               visit_by_one_group(): sets `claimed` for v, of which may_find was true; v is
##               appended if it is true
##               label(): what is written of an appended v; u led to it, where
##               problem.predecessors asks for a tree
##               edges_of(v): an expression, the out-degree of a queued vertex
##               single_level(): bookkeeping after each level, sets `going`
## Branches      what a search over a sparse graph waits for is mispredicted branches and memory, so
##               the frontier is taken in batches: first its neighbours are copied together, four at
##               a time however many a row has, then those that may be new are sifted out, which
##               writes nothing that the next look would have to wait for, then only these are
##               visited. Both append unconditionally with a conditional step. Labels are written
##               last, once each: scattered lines that are written push others out of the cache.
##               Queues hold QUEUE_SLACK more entries for it.
## Others        wait for a while, then are sent away: on a busy machine they would take the processor
##               from the one that works. If they are wanted again the launch pauses and is resumed.
## Calls         the CPU drivers do not inline min() and its kin, which costs more than a miss here
## Private       a word, with problem.predecessors two, for each of BATCH + LONGEST_ROW + 16 edges

<%namespace name="rows" file="/frontier/rows.mako"/>

## Edges that are copied together, of rows up to so many edges; how many they are in the mean where
## sixteen are copied at once; and entries ahead whose row offsets, and whose rows, are asked for.
<%! BATCH, LONGEST_ROW, LONG_ROWS, OFFSETS_AHEAD, ROWS_AHEAD = 256, 64, 8, 32, 16 %>

<%def name="setup()">
typedef uint4 __attribute__((aligned(4))) unaligned_uint4;
</%def>

## See /grid/single_group.mako.
<%def name="sharing()">1u</%def>

<%def name="levels()">
{
    uint targets[${BATCH + LONGEST_ROW + 16}];
    % if problem.predecessors:
    uint origins[${BATCH + LONGEST_ROW + 16}];
    % endif
    // Rows that begin here may be read up to a multiple of four without leaving the array.
    const ulong copied_end = ${rows.entries()} < ${LONGEST_ROW + 16} ? 0 : ${rows.entries()} - ${LONGEST_ROW + 16};
    // How often the loop over a row goes round is what is hard to predict.
    const int usually_more = mean_degree >= ${LONG_ROWS}u;
    ulong by_one_group_for = 0;
    int going = 1;
    while (going) {
        __global const entry_t *const queue_from = now.queue ? queue_odd : queue_even;
        __global entry_t *const queue_to = now.queue ? queue_even : queue_odd;
        uint appended = 0, taken = 0;
        while (taken < now.length) {
            uint copied = 0;
            for (; taken < now.length && copied < ${BATCH}u; ++taken) {
                ${prefetch_rows()}
                const entry_t entry = queue_from[taken];
                const uint u = ENTRY_VERTEX(entry);
                const offset_t row = ENTRY_BEGIN(entry);
                const uint degree = ENTRY_DEGREE(entry);
                if (degree <= ${LONGEST_ROW}u && row < copied_end) {
                    ${copy_four("0")}
                    uint k = 4;
                    if (usually_more) {
                        % for four in (4, 8, 12):
                        ${copy_four(four)}
                        % endfor
                        k = 16;
                    }
                    for (; k < degree; k += 4) {
                        ${copy_four("k")}
                    }
                    copied += degree;
                } else {
                    for (uint k = 0; k < degree; ++k) {
                        targets[copied] = indices[row + k];
                        % if problem.predecessors:
                        origins[copied] = u;
                        % endif
                        if (++copied == ${BATCH + LONGEST_ROW}u) {
                            ${visit_copied(caller.may_find, caller.visit_by_one_group, caller.label)}
                        }
                    }
                }
            }
            ${visit_copied(caller.may_find, caller.visit_by_one_group, caller.label)}
        }
        // Sums of degrees are only worth a pass where they could end the single_group run.
        edges_t edges = 0;
        if ((ulong)appended * max_degree > ${config.limits.single_group_edges}u)
            for (uint i = 0; i < appended; ++i) edges += (edges_t)${caller.edges_of("queue_to[i]")};
        else
            edges = (edges_t)appended * mean_degree;
        now.length = appended;
        const uint single_hubs_found = 0;
        now.queue ^= 1;
        ${caller.single_level()}
        by_one_group_for += (ulong)edges + ${config.stage_work}u;
        if (!dismissed && by_one_group_for > ${config.single_patience}u && get_num_groups(0) > 1 && !(flags & FLAG_STEPPED)) {
            dismissed = 1;
            stage_dismiss(state, now);
        }
        // Others read this line while they wait, so it is not written every level.
        if ((now.level & 63u) == 0) store_relaxed(state + HEARTBEAT, now.level);
    }
}
</%def>

<%def name="copy_four(k)">
*(unaligned_uint4 *)(targets + copied + ${k}) = *(__global const unaligned_uint4 *)(indices + row + ${k});
% if problem.predecessors:
*(unaligned_uint4 *)(origins + copied + ${k}) = (uint4)(u);
% endif
</%def>

## Ask for the row offsets of an entry far ahead and for the row of one not so far.
<%def name="prefetch_rows()">
const uint ahead = now.length - 1 - taken;
prefetch_global(indptr + queue_from[taken + (ahead < ${OFFSETS_AHEAD}u ? ahead : ${OFFSETS_AHEAD}u)]);
prefetch_global(indices + ${rows.begin(f"queue_from[taken + (ahead < {ROWS_AHEAD}u ? ahead : {ROWS_AHEAD}u)]")});
</%def>

## The first `copied` targets; none are left.
<%def name="visit_copied(may_find, visit, label)">
uint kept = 0;
for (uint k = 0; k < copied; ++k) {
    const uint v = targets[k];
    % if problem.predecessors:
    origins[kept] = origins[k];
    % endif
    targets[kept] = v;
    kept += ${may_find("v")};
}
const uint labelled = appended;
for (uint k = 0; k < kept; ++k) {
    const uint v = targets[k];
    int claimed;
    ${visit()}
    queue_to[appended] = v;
    % if problem.predecessors:
    origins[appended - labelled] = origins[k];
    % endif
    appended += claimed;
}
for (uint i = labelled; i < appended; ++i) {
    const uint v = queue_to[i];
    % if problem.predecessors:
    const uint u = origins[i - labelled];
    % endif
    ${label()}
}
copied = 0;
</%def>
