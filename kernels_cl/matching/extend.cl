<%namespace name="shared" file="/matching/shared.mako"/>\
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="random" file="/random/philox.mako"/>\
<%namespace name="state" file="/matching/state.mako"/>\
<%namespace name="draw" file="/matching/draw.mako"/>\
// Extension: from a seed pair to a match, one pair a step. One work-group, a SIMD group wide, extends
// one solution after another; solutions know nothing of each other.
//
// Whatever is drawn is drawn from integers, in the order of rows and their entries, by random numbers
// that are a function of the solution and the step. So neither lanes nor work-groups show in results.
//
// No races: a solution's state belongs to its work-group, within which lanes write distinct places.

${shared.prologue()}
${group.vocabulary(group_size)}
${group.named("add", "ulong")}
${random.vocabulary()}
${state.declarations()}
% if profile == "lost_edges" and likeness != "stored":
${shared.likeness()}
% endif
__kernel KERNEL void matching_extend(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m]
    const uint n,
${shared.alike()}
    __global const uint *restrict query_indptr,     // [rows + 1]
    __global const uint *restrict query_indices,    // [arcs], rows
    __global const uint *restrict query_first,      // [queries + 1], rows
    const uint k,
    __global const uint *restrict seeds,            // [queries, k, 2]: row, target vertex
    const ulong first_solution,
    const ulong last_solution,
    const uint iterations,                          // 0: as many as the query has vertices
    const uint label_floor,
    const uint key_low, const uint key_high,
    const uint largest,                             // rows of a query
% if profile == "lost_edges":
    __global const uint *restrict scores,           // [rows, n], of the first phase, or likeness
% endif
% if counts_common:
    __global uint *restrict all_common,             // [groups, n], 0 on entry and exit
% endif
% if profile == "equal_bits":
    __global uint *restrict all_counts,             // [groups, n], 0 on entry and exit
    __global uint *restrict all_listed,             // [groups, n]
% endif
    __global int *restrict mapping,                 // [sum over queries of k * rows] out
    __global ulong *restrict label_losses,          // [queries, k] out, fixed point
    __global uint *restrict edge_losses,            // [queries, k] out
    __global uint *restrict node_losses,            // [queries, k] out
    // Of the widest type within: drivers align local memory by the type of the argument alone.
    ${state_space} ulong *restrict states)          // ${state.extent()}
{
    ${lanes.setup()}
    ${group.setup()}
    ${state.places()}
    for (ulong i = first_solution + get_group_id(0); i < last_solution; i += get_num_groups(0)) {
        const uint query = (uint)(i / k), solution = (uint)(i % k);
        const uint first = query_first[query], size = query_first[query + 1u] - first;
        const uint last_step = iterations ? iterations : size;
        ulong label_loss = 0ul, best = 0ul, best_label = 0ul;
        uint edge_loss = (query_indptr[first + size] - query_indptr[first]) / 2u, node_loss = size;
        uint best_edges = 0u, best_nodes = 0u;
        int redrawn = 0;
        for (uint u = lane_id(); u < size; u += LANES) {
            map[u] = NONE;
            matched_around[u] = 0u;
        }
        lane_converge();
        uint row = seeds[2ul * i], t = seeds[2ul * i + 1ul];
        for (uint step = 0u; step < last_step; ++step) {
            int redraw = 0;
            if (step > 0u) {
                const uint4 words = philox((uint4)(solution, step, 0u, 0u), (uint2)(key_low, key_high));
                uint most = 0u;
                for (uint u = lane_id(); u < size; u += LANES) {
                    if (map[u] == NONE) most = max(most, matched_around[u]);
                }
                most = lane_reduce_max(most);
                redraw = most == 0u;
                if (redraw && !iterations) break;
% if order == "uniform":
                most = min(most, 1u);
% endif
                ${draw.query_vertex("(map[u] == NONE) != redraw && matched_around[u] >= most")}
                const uint old = map[row - first];
                if (redraw) {
                    if (!redrawn) {
                        ${state.keep_best()}
                    }
                    redrawn = 1;
                    t = old;
                    ${state.change(False)}
                }
                t = NONE;
                ${draw.target_vertex()}
                if (t == NONE && redraw) t = old;
                if (t == NONE) {
                    if (!iterations) break;
                    continue;
                }
            }
            ${state.change(True)}
            if (redrawn && label_loss + (ulong)ONE * (edge_loss + node_loss) < best) {
                ${state.keep_best()}
            }
        }
        ${state.write()}
        ${state.clear()}
    }
}
