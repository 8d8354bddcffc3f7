## parts_bits: each device owns a range of vertices and knows the status of all; devices tell each
## other one bit a vertex.
##
## part_push     marks neighbours of a part's frontier, whoever owns them
## part_pull     marks the part's own vertices that have a visited in-neighbour
## part_pack     one bit for each vertex that this level has marked here
## part_merge    the bits of all devices into the status of one
## part_collect  the part's next queue: what the level visited, or what is still unvisited
##
## Races: several finders may mark a vertex: with the same level, each with a parent of its own. A
## pull reads statuses that others write: UNREACHED or this level, neither of them below it.

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>

<%def name="kernels()">
KERNEL void part_push(
    __global const offset_t *restrict indptr,       // [own + 1]
    __global const uint *restrict indices,          // [edges out of them]
    __global const uint *restrict frontier,         // [length] local numbers
    const uint length,
    const uint first_vertex,
    const int level,
    __global int *distances,                        // [n] in/out
    __global int *predecessors)                     // [n] out, where marked, or one element
{
    ${lanes.setup()}
    ${advance.setup()}
    const uint member = (uint)get_group_id(0);
    struct { uint members; } now;
    now.members = (uint)get_num_groups(0);
    const uint tile_size = length < GROUP_LANES * now.members ? 1u : LANES;
    <%advance:each_edge queue="frontier" count="length">
    <%def name="visit(count)">
        % for k in range(count):
        if (active${k} && distances[v${k}] == UNREACHED) {
            distances[v${k}] = level;
            % if problem.predecessors:
            predecessors[v${k}] = (int)GLOBAL(u${k});
            % endif
        }
        % endfor
    </%def>
    </%advance:each_edge>
}

KERNEL void part_pull(
    __global const offset_t *restrict in_indptr,    // [own + 1] of the transpose
    __global const uint *restrict in_indices,
    __global const uint *restrict unvisited,        // [length] local numbers
    const uint length,
    const uint first_vertex,
    const int level,
    __global int *distances,                        // [n] in/out
    __global int *predecessors)                     // [n] out, where marked, or one element
{
    for (uint i = (uint)get_global_id(0); i < length; i += (uint)get_global_size(0)) {
        const uint local_v = unvisited[i];
        for (offset_t e = in_indptr[local_v]; e < in_indptr[local_v + 1]; ++e) {
            const uint w = in_indices[e];
            if ((uint)distances[w] < (uint)level) {
                distances[GLOBAL(local_v)] = level;
                % if problem.predecessors:
                predecessors[GLOBAL(local_v)] = (int)w;
                % endif
                break;
            }
        }
    }
}

KERNEL void part_pack(
    __global const int *restrict distances,         // [n]
    const uint n,
    const int level,
    __global uint *restrict bits)                   // [n / 32] out
{
    for (uint word = (uint)get_global_id(0); word < (n + 31u) / 32u; word += (uint)get_global_size(0)) {
        uint found = 0;
        for (uint v = word * 32u; v < min(n, word * 32u + 32u); ++v)
            found |= (uint)(distances[v] == level) << (v & 31u);
        bits[word] = found;
    }
}

KERNEL void part_merge(
    __global const uint *restrict bits,             // [n / 32] of all devices together
    const uint n,
    const int level,
    __global int *restrict distances)               // [n] in/out
{
    for (uint v = (uint)get_global_id(0); v < n; v += (uint)get_global_size(0))
        if ((bits[v >> 5] >> (v & 31u) & 1u) && distances[v] == UNREACHED) distances[v] = level;
}

KERNEL void part_collect(
    __global const offset_t *restrict indptr,       // [own + 1]
    __global const uint *restrict from,             // [count] local numbers to look at, if `given`
    const uint given,                               // else all of the part
    const uint count,
    const uint first_vertex,
    const int wanted,                               // the status of what enters the queue
    const int level,
    const uint hub_floor,
    __global const int *restrict distances,         // [n]
    __global uint *restrict queue,                  // [count] out
    volatile __global uint *sizes,                  // [3] in/out: queued, of this level, hubs of these
    volatile __global ulong *edges)                 // [1] in/out: out-edges of this level's
{
    ${lanes.setup()}
    for (uint first = FIRST_OF_LANES; first < count; first += STRIDE_OF_LANES) {
        const int active = first + lane_id() < count;
        const uint at = active ? first + lane_id() : first;
        const uint v = given ? from[at] : at;
        const int status = active ? distances[GLOBAL(v)] : wanted - 1;
        const int is_new = active && status == level;
        const uint degree = is_new ? ENTRY_DEGREE(v) : 0u;
        const ulong degrees_here = lane_reduce_add_ulong((ulong)degree);
        const lanemask_t queued = lane_ballot(active && status == wanted), fresh = lane_ballot(is_new);
        const lanemask_t hubs = lane_ballot(is_new && degree > hub_floor);
        uint place = 0;
        if (lane_id() == 0) {
            if (queued) place = atomic_add(sizes, lanemask_count(queued));
            if (fresh) {
                atomic_add(sizes + 1, lanemask_count(fresh));
                atomic_add(sizes + 2, lanemask_count(hubs));
                atom_add(edges, degrees_here);
            }
        }
        place = lane_broadcast(place, 0) + lanemask_count(queued & lane_mask_lt());
        if (active && status == wanted) queue[place] = v;
    }
}
</%def>
