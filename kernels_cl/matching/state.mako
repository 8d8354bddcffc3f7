## state: what the extension of one solution keeps, and how a pair is added to it or taken from it.
##
## declarations()   at file scope
## extent(), places()   how many `states` a work-group has, and pointers to its parts
## change(add)      the pair (row, t): in or out, and what that does to the losses
## keep_best(), write(), clear()
## In scope         the arguments and variables of matching_extend
## Called by        all lanes, in uniform control flow

<%namespace name="shared" file="/matching/shared.mako"/>

<%def name="declarations()">
#define NONE 0xffffffffu
#define LISTED 0x80000000u

// Whether the target has the edge, by a binary search of the shorter row.
static inline uint adjacent(
    __global const offset_t *restrict indptr, __global const uint *restrict indices, uint u, uint v)
{
    if (indptr[u + 1u] - indptr[u] > indptr[v + 1u] - indptr[v]) {
        const uint w = u;
        u = v;
        v = w;
    }
    ${shared.has_edge()}
}
</%def>

<%def name="extent()">[${"groups, " if state_space == "__global" else ""}largest + ceil((3 * largest + ceil(n / 32)) / 2)]</%def>

<%def name="places()">
const uint bitmap_words = (n + 31u) / 32u;
% if state_space == "__global":
__global ulong *const totals = states + (ulong)get_group_id(0) * (largest + (3u * largest + bitmap_words + 1u) / 2u);
% else:
__local ulong *const totals = states;                                  // [largest] of rows of entries
% endif
${state_space} uint *const map = (${state_space} uint *)(totals + largest);   // [largest] target vertices
${state_space} uint *const matched_around = map + largest;             // [largest] matched neighbours
${state_space} uint *const best_map = map + 2u * largest;              // [largest]
${state_space} uint *const used = map + 3u * largest;                  // bitmap of target vertices
for (uint w = lane_id(); w < bitmap_words; w += LANES) used[w] = 0u;
% if counts_common:
// Of how many images of matched neighbours of the query vertex a target vertex is a neighbour.
__global uint *const common = all_common + (ulong)get_group_id(0) * n;
% endif
% if profile == "equal_bits":
// How many matched vertices a target vertex is next to: the ones of its connection profile.
__global uint *const counts = all_counts + (ulong)get_group_id(0) * n;
__global uint *const listed = all_listed + (ulong)get_group_id(0) * n;
uint listed_count = 0u;
% endif
lane_converge();
</%def>

<%def name="change(add)">
{
    lane_converge();    // all lanes have read what this pair was drawn by
    uint kept = 0u;
    for (uint a = query_indptr[row] + lane_id(); a < query_indptr[row + 1u]; a += LANES) {
        const uint v = query_indices[a] - first, image = map[v];
        matched_around[v] ${"+=" if add else "-="} 1u;
        if (image != NONE) kept += adjacent(indptr, indices, t, image);
    }
    edge_loss ${"-=" if add else "+="} lane_reduce_add(kept);
    node_loss ${"-=" if add else "+="} 1u;
    label_loss ${"+=" if add else "-="} ONE - ${shared.similarity("row", "t")};
    if (lane_id() == 0u) {
        map[row - first] = ${"t" if add else "NONE"};
        used[t / 32u] ^= 1u << t % 32u;
    }
% if profile == "equal_bits":
    for (offset_t tile = indptr[t]; tile < indptr[t + 1u]; tile += LANES) {
        const int inside = tile + lane_id() < indptr[t + 1u];
        const uint y = inside ? indices[tile + lane_id()] : 0u;
        const uint before = inside ? counts[y] : LISTED;
% if add:
        const lanemask_t fresh = lane_ballot(!(before & LISTED));
        if (!(before & LISTED)) listed[listed_count + lanemask_count(fresh & lane_mask_lt())] = y;
        listed_count += lanemask_count(fresh);
        if (inside) counts[y] = (before | LISTED) + 1u;
% else:
        if (inside) counts[y] = before - 1u;
% endif
    }
% endif
    lane_converge();
}
</%def>

<%def name="keep_best()">
for (uint u = lane_id(); u < size; u += LANES) best_map[u] = map[u];
best = label_loss + (ulong)ONE * (edge_loss + node_loss);
best_label = label_loss;
best_edges = edge_loss;
best_nodes = node_loss;
lane_converge();
</%def>

<%def name="write()">
__global int *const images = mapping + ((ulong)first * k + (ulong)solution * size);
for (uint u = lane_id(); u < size; u += LANES) images[u] = (int)(redrawn ? best_map[u] : map[u]);
if (lane_id() == 0u) {
    label_losses[i] = redrawn ? best_label : label_loss;
    edge_losses[i] = redrawn ? best_edges : edge_loss;
    node_losses[i] = redrawn ? best_nodes : node_loss;
}
</%def>

<%def name="clear()">
for (uint u = lane_id(); u < size; u += LANES) {
    if (map[u] != NONE) used[map[u] / 32u] = 0u;
}
% if profile == "equal_bits":
for (uint e = lane_id(); e < listed_count; e += LANES) counts[listed[e]] = 0u;
listed_count = 0u;
% endif
lane_converge();
</%def>
