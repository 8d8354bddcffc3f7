## draw: a query vertex out of its frontier, and a target vertex in proportion to its score.
##
## query_vertex(eligible)   sets `row`; the condition is about u, a vertex of the query
## target_vertex()          sets `t`, or leaves it NONE where the target's frontier is empty
## In scope      the arguments and variables of matching_extend
## Called by     all lanes, in uniform control flow
##
## Entries to draw from lie in rows. By equal bits there is one row, the target's frontier. By shared
## ones, where only neighbours of images of matched neighbours of the query vertex count, and count
## once for each, these neighbourhoods themselves are the rows: no frontier is kept.
##
## Edges that a target vertex would lose are counted once for all entries of a step, in an array over
## the target, or searched for at each entry, as `lost_edges_by` says.
##
## Stages: similarity times profile; where all of that is 0, the profile alone; where that is 0 too,
## the target's frontier.

<%namespace name="shared" file="/matching/shared.mako"/>

<%def name="query_vertex(eligible)">
{
    uint count = 0u;
    for (uint tile = 0u; tile < size; tile += LANES) {
        const uint u = tile + lane_id();
        count += lanemask_count(lane_ballot(u < size && ${eligible}));
    }
    uint wanted = random_below(words.z, count);
    for (uint tile = 0u; tile < size; tile += LANES) {
        const uint u = tile + lane_id();
        const int takes_part = u < size && ${eligible};
        const lanemask_t here = lane_ballot(takes_part);
        const lanemask_t chosen = lane_ballot(takes_part && lanemask_count(here & lane_mask_lt()) == wanted);
        if (chosen) {
            row = first + tile + lanemask_first(chosen);
            break;
        }
        wanted -= lanemask_count(here);
    }
}
</%def>

## The entries of row r: from `begin` to `end`.
<%def name="row_bounds()">
% if profile == "equal_bits":
        const uint begin = 0u, end = listed_count;
% else:
        const uint image = map[(stage == 2u ? r : query_indices[query_indptr[row] + r] - first)];
        const offset_t begin = image == NONE ? 0u : indptr[image], end = image == NONE ? 0u : indptr[image + 1u];
% endif
</%def>

## The weight of entry e, as `weight`, 0 beyond the end.
<%def name="entry_weight()">
            ulong weight = 0ul;
            if (e < end) {
% if profile == "equal_bits":
                const uint y = listed[e], ones = counts[y] & ~LISTED;
                if (ones && !(used[y / 32u] >> y % 32u & 1u)) {
                    // Bits that are 1 in both profiles or 0 in both.
                    const ulong equal = size - node_loss - matched_around[row - first] - ones + 2u * common[y];
                    const uint s = ${shared.similarity("row", "y")};
                    weight = stage == 0u ? (s ? s : label_floor) * equal : stage == 1u ? equal : 1ul;
                }
% else:
                const uint y = indices[e];
% if profile == "lost_edges" and likeness == "stored":
                ${by_stored_likeness()}
% else:
                if (!(used[y / 32u] >> y % 32u & 1u)) {
                    const uint s = ${shared.similarity("row", "y")};
                    weight = stage ? 1u : s ? s : label_floor;
% if profile == "lost_edges":
                    if (stage == 0u && weight) {
                        const ulong alike = likeness(scores[(ulong)row * n + y], (uint)weight);
                        weight *= alike + ${least_likeness}ul;
                        ${lost_edges()}
                        weight >>= min(lost * ${lost_edge_bits}u, 63u);
                    }
% endif
                }
% endif
% endif
            }
</%def>

## The same of what the row of likeness says already. Nothing is skipped: which entries are used is known
## late, and what is not in cache is asked for meanwhile, of many entries at a time.
<%def name="by_stored_likeness()">
                const uint stored = scores[(ulong)row * n + y];
% if by_labels:
                const ulong alike = stored & ~SAME_LABEL;
                const uint s = stored & SAME_LABEL ? ONE : label_floor;
% else:
                const ulong alike = stored;
                const uint similar = ${shared.similarity("row", "y")}, s = similar ? similar : label_floor;
% endif
                ${lost_edges()}
                const uint bits = lost * ${lost_edge_bits}u;
                weight = stage ? 1ul : s * (alike + ${least_likeness}ul) >> (bits < 63u ? bits : 63u);
                weight = used[y / 32u] >> y % 32u & 1u ? 0ul : weight;
</%def>

## Neighbourhoods that are alike count by a high power, and each edge that is lost by a small factor.
<%def name="lost_edges()">
% if lost_edges_by == "counts":
                        const uint lost = around > 1u ? around - common[y] : 0u;
% else:
                        uint lost = around;
                        for (uint a = query_indptr[row]; a < query_indptr[row + 1u]; ++a) {
                            const uint other = map[query_indices[a] - first];
                            // An entry of row r is next to that row's image.
                            if (a == query_indptr[row] + r) lost -= 1u;
                            else if (other != NONE) lost -= adjacent(indptr, indices, y, other);
                        }
% endif
</%def>

## Adds to what `common` holds of the neighbours of images of matched neighbours of the query vertex.
<%def name="count_common(by)">
for (uint a = query_indptr[row]; a < query_indptr[row + 1u]; ++a) {
    const uint image = map[query_indices[a] - first];
    if (image == NONE) continue;
    for (offset_t e = indptr[image] + lane_id(); e < indptr[image + 1u]; e += LANES) {
        common[indices[e]] ${by};
    }
    lane_converge();
}
</%def>

<%def name="target_vertex()">
const uint around = matched_around[row - first];
% if counts_common:
if (around > ${0 if profile == "equal_bits" else 1}u) {
    ${count_common("+= 1u")}
}
% endif
for (uint stage = 0u; stage < 3u && t == NONE; ++stage) {
% if profile == "equal_bits":
    const uint entry_rows = 1u;
% else:
    const uint entry_rows = stage == 2u ? size : query_indptr[row + 1u] - query_indptr[row];
% endif
    ulong all = 0ul;
    for (uint r = 0u; r < entry_rows; ++r) {
        ${row_bounds()}
        ulong mine = 0ul;
        for (offset_t e = begin + lane_id(); e < end; e += LANES) {
            ${entry_weight()}
            mine += weight;
        }
        const ulong sum = lane_reduce_add_ulong(mine);
        if (lane_id() == 0u) totals[r] = sum;
        all += sum;
    }
    lane_converge();
    if (all == 0ul) continue;
    ulong left = random_below_ulong(words.xy, all);
    for (uint r = 0u; r < entry_rows; ++r) {
        if (left >= totals[r]) {
            left -= totals[r];
            continue;
        }
        ${row_bounds()}
        for (offset_t tile = begin; tile < end; tile += LANES) {
            const offset_t e = tile + lane_id();
            ${entry_weight()}
            ulong total;
            const ulong upto = group_scan_inclusive_add(weight, &total);
            const lanemask_t beyond = lane_ballot(upto > left);
            if (beyond) {
                t = ${"listed" if profile == "equal_bits" else "indices"}[tile + lanemask_first(beyond)];
                break;
            }
            left -= total;
        }
        break;
    }
    lane_converge();
}
% if counts_common:
if (around > ${0 if profile == "equal_bits" else 1}u) {
    ${count_common("= 0u")}
}
% endif
</%def>
