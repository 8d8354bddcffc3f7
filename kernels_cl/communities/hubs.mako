## hubs: vertices whose rows are longer than tables in local memory have room for, cut into chunks.
##
## Each chunk is summed in local memory and added to the hub's table in global memory (CHOOSE); each part
## of that table says what is best in it, and is emptied (SCORE); the best of those is what the hub
## chooses (SETTLE). A table has PLACES for the entries of the row, PART for each chunk.
##
## functions()     at file scope
## sum_chunks(bodies, keeps), score_parts(bodies), settle(bodies), apply(bodies)
##                 the phases, where `bodies` has what /communities/turns.mako calls so
## In scope        the kernel's arguments; first_chunk, end_chunk; group_kept, in local memory
## Called by       all work-items, in uniform control flow
## Barriers        of the work-group

<%namespace name="table" file="/rows/tally.mako"/>
<%namespace name="best" file="/rows/best.mako"/>
<%namespace name="choose" file="/communities/choose.mako"/>

<%def name="functions()">\
static inline void hub_add(volatile __global uint *keys, volatile __global sum_t *sums, const uint size, const uint key, const sum_t value) {
    uint at = mul_hi(key * 0x9E3779B1u, size);
    for (;;) {
        uint met = keys[at];
        if (met == NO_KEY) met = atomic_cmpxchg(&keys[at], NO_KEY, key);
        if (met == NO_KEY || met == key) break;
        at = at + 1u < size ? at + 1u : 0u;
    }
    sum_add_global(&sums[at], value);
}
</%def>

## Body sees a chunk `at`, its hub `v`, its `part` and `row_length`, for each that takes part.
<%def name="each_chunk(bodies)">
for (uint at = first_chunk + (uint)get_group_id(0); at < end_chunk; at += (uint)get_num_groups(0)) {
    const uint v = chunks[at].x, part = chunks[at].y;
    ${bodies.look("v")}
    if (!wanted) continue;
    const uint row_length = (uint)(indptr[v + 1] - indptr[v]);
    const size_t table_begin = (size_t)(at - part - first_chunk) * PART;
    ${caller.body()}
}
</%def>

<%def name="sum_chunks(bodies, keeps)">
{
<% kind = kinds[-1] if kinds else hub_kinds[0] %>\
    ${table.use(kind)}
    <%self:each_chunk bodies="${bodies}">
        const offset_t begin = indptr[v] + (offset_t)part * CHUNK;
        const uint length = min(CHUNK, row_length - part * CHUNK);
        sum_t kept = 0;
        if (get_local_id(0) == 0) group_kept = 0;
% if kinds:
        ${table.clear("length", kind)}
% else:
        unit_barrier();
% endif
        <%choose:each_key bodies="${bodies}" unit="group" args="next_to, value">
% if kinds:
            ${choose.add(next_to, value, kind, keeps)}
% else:
            if (${f"{next_to} == own" if keeps else "0"}) kept += ${value};
            else if (${value}) hub_add(tally_keys + table_begin, tally_sums + table_begin, PLACES(row_length), ${next_to}, ${value});
% endif
        </%choose:each_key>
        ${choose.add_kept()}
        unit_barrier();
        if (get_local_id(0) == 0) part_kept[at] = group_kept;
% if kinds:
        for (uint i = (uint)get_local_id(0); i <= key_mask; i += GROUP_SIZE)
            if (keys[i] != NO_KEY)
                hub_add(tally_keys + table_begin, tally_sums + table_begin, PLACES(row_length), keys[i], sums[i]);
        unit_barrier();
% endif
    </%self:each_chunk>
}
</%def>

<%def name="score_parts(bodies)">
{
<% kind = hub_kinds[0] %>\
    ${table.use(kind)}
    <%self:each_chunk bodies="${bodies}">
        __global uint *const keys = tally_keys + table_begin + part * PART;
        __global sum_t *const sums = tally_sums + table_begin + part * PART;
        const uint key_mask = min(PART, PLACES(row_length) - part * PART) - 1u;
        <%best:best floor="LONG_MIN" kind="${kind}">
        <%def name="score(key, sum)">${bodies.score(key, sum)}</%def>
        <%def name="most(sum)">PULL(${sum})</%def>
        </%best:best>
        if (get_local_id(0) == 0) {
            part_scores[at] = best_score;
            part_keys[at] = best_key;
        }
        for (uint i = (uint)get_local_id(0); i <= key_mask; i += GROUP_SIZE) {
            if (keys[i] == NO_KEY) continue;
            keys[i] = NO_KEY;
            sums[i] = 0;
        }
        unit_barrier();
    </%self:each_chunk>
}
</%def>

<%def name="settle(bodies)">
for (uint at = first_chunk + (uint)get_global_id(0) / LANES; at < end_chunk; at += (uint)get_global_size(0) / LANES) {
    const uint v = chunks[at].x;
    if (chunks[at].y != 0u) continue;
    ${bodies.look("v")}
    if (!wanted) {
        if (lane_id() == 0u) targets[v] = NO_KEY;
        continue;
    }
    const uint parts_of_row = ((uint)(indptr[v + 1] - indptr[v]) - 1u) / CHUNK + 1u;
    long best_score = LONG_MIN;
    uint best_key = NO_KEY, best_order = NO_KEY;
    sum_t kept = 0;
    for (uint part = lane_id(); part < parts_of_row; part += LANES) {
        const long part_score = part_scores[at + part];
        const uint key = part_keys[at + part];
        const uint order = key == NO_KEY ? NO_KEY : TALLY_ORDER(key);
        kept += part_kept[at + part];
        if (key != NO_KEY && (part_score > best_score || (part_score == best_score && order < best_order))) {
            best_score = part_score;
            best_order = order;
            best_key = key;
        }
    }
    lane_converge();
    kept = lane_reduce_sum(kept);
    ${best.best_of_lanes()}
    const long floor = ${bodies.floor("kept")};
    if (best_score <= floor) best_key = NO_KEY;
    if (lane_id() == 0u) {
        targets[v] = best_key;
        ${bodies.chosen("v")}
    }
}
</%def>


## Edges of hubs that have chosen, a chunk by each work-group.
<%def name="apply(bodies)">
for (uint at = first_chunk + (uint)get_group_id(0); at < end_chunk; at += (uint)get_num_groups(0)) {
    const uint v = chunks[at].x, part = chunks[at].y, t = targets[v];
    if (t == NO_KEY) continue;
    const offset_t row_end = indptr[v + 1], begin = indptr[v] + (offset_t)part * CHUNK;
    if (part == 0u && get_local_id(0) == 0) {
        ${bodies.move("v", "t")}
    }
    ${bodies.before("v")}
    for (offset_t e = begin + get_local_id(0); e < min(row_end, begin + CHUNK); e += GROUP_SIZE) {
        ${bodies.edge("v", "t", "e")}
    }
    lane_converge();
    ${bodies.done("v", "t", "lane_id() == 0u")}
}
</%def>
