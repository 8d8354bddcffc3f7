## parts_candidates: vertices dealt out in turns; devices send each other the neighbours they found.
##
## part_expand   neighbours of a part's frontier into one bin for each owner, its own among them
## part_contract candidates of one bin, which the label decides about, into the owner's next frontier
##
## Culling before anything is sent: a mask of all vertices on every device (config.visited "mask" or
## "bitmap"), of which a set bit says that this device has sent the vertex before, and the filters of
## config.duplicates and config.history.
##
## Races: two stores to one byte of the mask may lose a bit, and the vertex is sent again. Claims are
## atomic, so each vertex is expanded once, and a bin never holds more than the edges to its owner.

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>

<%def name="kernels()">
% if problem.predecessors:
typedef uint2 candidate_t;
#define MAKE_CANDIDATE(vertex_, parent_) (uint2)((vertex_), (parent_))
#define CANDIDATE_VERTEX(candidate_) (candidate_).x
#define CANDIDATE_PARENT(candidate_) (candidate_).y
% else:
typedef uint candidate_t;
#define MAKE_CANDIDATE(vertex_, parent_) (vertex_)
#define CANDIDATE_VERTEX(candidate_) (candidate_)
#define CANDIDATE_PARENT(candidate_) 0u
% endif

KERNEL void part_expand(
    __global const offset_t *restrict indptr,       // [own + 1]
    __global const uint *restrict indices,          // [edges out of them]
    __global const uint *restrict frontier,         // [length] local numbers
    const uint length,
    const uint own_part,
    __global uchar *seen,                           // [n / 8] in/out
    % for owner in range(parts):
    __global candidate_t *restrict bin${owner},             // [room${owner}] out
    const uint room${owner},
    % endfor
    volatile __global uint *bin_counts)             // [PARTS] in/out, 0 on entry
{
    ${lanes.setup()}
    ${advance.setup()}
    ${duplicates.setup()}
    const uint member = (uint)get_group_id(0);
    struct { uint members; } now;
    now.members = (uint)get_num_groups(0);
    const uint tile_size = length < GROUP_LANES * now.members ? 1u : LANES;
    <%advance:each_edge queue="frontier" count="length">
    <%def name="visit(count)">
        % for k in range(count):
        ${send(k)}
        % endfor
    </%def>
    </%advance:each_edge>
}

<%def name="send(k)">
int sending${k} = active${k};
% if config.visited in ("mask", "bitmap"):
if (sending${k}) {
    const uchar before = seen[v${k} >> 3], bit = (uchar)(1u << (v${k} & 7u));
    if (before & bit) sending${k} = 0;
    else seen[v${k} >> 3] = before | bit;
}
% endif
${duplicates.at_lookup(f"sending{k}", f"v{k}")}
% for owner in range(parts):
{
    const int mine = sending${k} && OWNER(v${k}) == ${owner}u;
    const lanemask_t together = lane_ballot(mine);
    if (together) {
        uint at = 0;
        if (lane_id() == 0) at = atomic_add(bin_counts + ${owner}, lanemask_count(together));
        at = lane_broadcast(at, 0) + lanemask_count(together & lane_mask_lt());
        // What is beyond is counted all the same, so that the host sees it.
        if (mine && at < room${owner}) bin${owner}[at] = MAKE_CANDIDATE(v${k}, GLOBAL(u${k}));
    }
}
% endfor
</%def>

KERNEL void part_contract(
    __global const candidate_t *restrict bin,       // [count]
    const uint count,
    const int level,
    __global int *distances,                        // [own] in/out
    __global int *restrict predecessors,            // [own] out, where claimed, or one element
    __global uint *restrict next,                   // [own] out, local numbers
    volatile __global uint *next_length)            // [1] in/out
{
    ${lanes.setup()}
    for (uint first = FIRST_OF_LANES; first < count; first += STRIDE_OF_LANES) {
        const int active = first + lane_id() < count;
        const candidate_t candidate = bin[active ? first + lane_id() : first];
        const uint v = LOCAL(CANDIDATE_VERTEX(candidate));
        int claimed = active && distances[v] == UNREACHED;
        if (claimed) claimed = atomic_cmpxchg((volatile __global int *)distances + v, UNREACHED, level) == UNREACHED;
        % if problem.predecessors:
        if (claimed) predecessors[v] = (int)CANDIDATE_PARENT(candidate);
        % endif
        const lanemask_t together = lane_ballot(claimed);
        if (together) {
            uint at = 0;
            if (lane_id() == 0) at = atomic_add(next_length, lanemask_count(together));
            at = lane_broadcast(at, 0) + lanemask_count(together & lane_mask_lt());
            if (claimed) next[at] = v;
        }
    }
}
</%def>
