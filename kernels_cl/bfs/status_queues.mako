## status_queues: queues by class out of the array of distances, without duplicates and in order.
##
## Each work-item looks at its share of the vertices, in the order that now.way names, and counts
## those it selects by class. COUNT scans the counts within each work-group and leaves its totals in
## `group_counts`, class by class; WRITE adds up the totals before its own and so knows where each of
## its work-items writes. Queues come out in the order of work-items, like a prefix sum over them all.
##
## In scope      queue_from, queue_to, begins, the kernel's arguments, now
## Called by     all work-items, in uniform control flow; group barriers inside
## Atomics       a few a work-group, on totals; none on distances or on queues
## Choice        config.frontier.generation: "recount" looks at the vertices again in WRITE; "bins" keeps what
##               COUNT selects in bins of its own, 16 bytes a vertex; "none" has no queues

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="setup()">
__local uint lane_totals[${4 * (config.group_size // config.lanes)}], group_sums[4], group_begins[4];
</%def>

## Runs `select` for this work-item's share: it sees v, and c, its class where that is known.
<%def name="each_of_share(select)">
if (now.way == WAY_PULLED${" && 0" if config.frontier.generation == "none" else ""}) {
    for (uint c = 0; c < 4; ++c) {
        const ulong size = begins[c + 1] - begins[c];
        const uint past = begins[c] + (uint)(size * (share + 1) / shares);
        for (uint i = begins[c] + (uint)(size * share / shares); i < past; ++i) {
            const uint v = queue_from[i];
            ${select("c")}
        }
    }
} else {
    const int blocked = now.way == WAY_SWITCH;
    const uint past = blocked ? (uint)((ulong)n * (share + 1) / shares) : n;
    for (uint v = blocked ? (uint)((ulong)n * share / shares) : share; v < past; v += blocked ? 1u : shares) {
        ${select("")}
    }
}
</%def>

## Whether v enters the next queue, and in which class.
<%def name="choose(known)">
const int label = STATUS_OF(v);
const int selected = now.way == WAY_PUSHED || now.way == WAY_RETURN ? label == (int)now.level : label == UNREACHED;
% if known:
const uint class = ${known};
% else:
const uint class = !selected ? 0u : now.way == WAY_SWITCH ? CLASS_OF(IN_DEGREE(v)) : CLASS_OF(OUT_DEGREE(v));
% endif
</%def>

<%def name="count_one(known)">
{
    ${choose(known)}
    % if config.frontier.generation != "none":
    for (uint k = 0; k < 4; ++k) {
        if (selected && k == class) {
            % if config.frontier.generation == "bins":
            bins[(ulong)(k * bin_capacity + counts[k]) * shares + share] = v;
            % endif
            ++counts[k];
        }
    }
    % endif
    if (label == (int)now.level) {
        const uint degree = OUT_DEGREE(v);
        const int is_hub = degree > hub_floor;
        if (adds_up) {
            ++newly;
            newly_hubs += (uint)is_hub;
            newly_edges += degree;
        }
        % if config.frontier.hub_cache and config.pull:
        if (is_hub && lists_hubs) hub_list[atomic_inc(tallies + TALLY_HUBS_FOUND)] = v;
        % endif
    }
}
</%def>

<%def name="write_one(known)">
{
    ${choose(known)}
    for (uint k = 0; k < 4; ++k)
        if (selected && k == class) queue_to[places[k]++] = v;
}
</%def>

<%def name="count()">
// A switch and a return follow a count of the same level, which has added it up.
const int adds_up = now.way == WAY_PUSHED || now.way == WAY_PULLED;
const int lists_hubs = ${"now.way != WAY_RETURN" if config.frontier.generation == "none" else "now.way == WAY_SWITCH || now.way == WAY_PULLED"};
<%tiles:each_group_tile count="get_num_groups(0)" size="1u">
    const uint share = tile_begin * GROUP_SIZE + lid, shares = (uint)get_num_groups(0) * GROUP_SIZE;
    uint counts[4] = {0, 0, 0, 0};
    uint newly = 0, newly_hubs = 0;
    ulong newly_edges = 0;
    ${each_of_share(count_one)}
    % if config.frontier.generation != "none":
    for (uint c = 0; c < 4; ++c) {
        const uint before = lane_scan_exclusive_add(counts[c]);
        if (lane_id() == LANES - 1) lane_totals[c * GROUP_LANES + LANE_GROUP] = before + counts[c];
        share_counts[c * shares + share] = counts[c];
        counts[c] = before;
    }
    group_barrier();
    for (uint c = 0; c < 4; ++c) {
        for (uint g = 0; g < LANE_GROUP; ++g) counts[c] += lane_totals[c * GROUP_LANES + g];
        share_begins[c * shares + share] = counts[c];
    }
    for (uint c = lid; c < 4; c += GROUP_SIZE) {
        uint total = 0;
        for (uint g = 0; g < GROUP_LANES; ++g) total += lane_totals[c * GROUP_LANES + g];
        group_counts[c * get_num_groups(0) + tile_begin] = total;
        if (total) atomic_add(tallies + TALLY_CLASSES + c, total);
    }
    group_barrier();
    % endif
    const uint newly_here = lane_reduce_add(newly), hubs_here = lane_reduce_add(newly_hubs);
    const ulong edges_here = lane_reduce_add_ulong(newly_edges);
    if (lane_id() == 0 && newly_here) {
        atomic_add(tallies + TALLY_NEWLY, newly_here);
        atomic_add(tallies + TALLY_NEWLY_HUBS, hubs_here);
        atom_add(TALLY_ULONG(TALLY_EDGES), edges_here);
    }
</%tiles:each_group_tile>
</%def>

<%def name="write()">
// Sizes of the next queue's classes: where they begin in it.
volatile __global uint *const next_sizes = tallies + TALLY_SIZES + 4 * (now.queue ^ 1u);
<%tiles:each_group_tile count="get_num_groups(0)" size="1u">
    const uint share = tile_begin * GROUP_SIZE + lid, shares = (uint)get_num_groups(0) * GROUP_SIZE;
    uint places[4];
    for (uint c = lid; c < 4; c += GROUP_SIZE) group_sums[c] = 0;
    group_barrier();
    for (uint c = 0; c < 4; ++c) {
        uint before = 0;
        for (uint g = lid; g < tile_begin; g += GROUP_SIZE) before += group_counts[c * get_num_groups(0) + g];
        const uint before_here = lane_reduce_add(before);
        if (lane_id() == 0 && before_here) atomic_add(&group_sums[c], before_here);
    }
    group_barrier();
    uint class_begin = 0;
    for (uint c = 0; c < 4; ++c) {
        places[c] = class_begin + group_sums[c] + share_begins[c * shares + share];
        class_begin += next_sizes[c];
    }
    group_barrier();
    % if config.frontier.generation == "bins":
    for (uint c = 0; c < 4; ++c) {
        const uint count = share_counts[c * shares + share];
        for (uint k = 0; k < count; ++k)
            queue_to[places[c] + k] = bins[(ulong)(c * bin_capacity + k) * shares + share];
    }
    % else:
    ${each_of_share(write_one)}
    % endif
</%tiles:each_group_tile>
</%def>
