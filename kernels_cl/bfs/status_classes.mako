## status_classes: the vertices of a queue, each by as many work-items as its degree class is worth.
##
## Classes: less than 32 edges by one work-item, less than 256 by a lane group, less than 65,536 by a
## work-group, others by all work-groups (CLASS_EDGES). No barrier parts them, so groups are
## busy with different classes at the same time; a class without vertices takes no turn.
##
## In scope      queue_from, begins (where each class begins), the kernel's arguments, now
## Called by     all work-items, in uniform control flow; group barriers inside
## Hub cache     vertices of many edges that the level before visited, by id modulo config.frontier.hub_cache:
##               an in-neighbour found there needs no look at its status. Collisions: the later one
##               stays, a miss costs a read.

## Least degrees of the classes that are walked by a SIMD group, by a work-group and by all of them.
<%! CLASS_EDGES = (32, 256, 1 << 16) %>

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="setup()">
__local uint group_hit;
% if config.frontier.hub_cache and config.pull:
__local uint hub_cache[${config.frontier.hub_cache}];
% endif
</%def>

<%def name="each_vertex(pulls)">
% if pulls and config.frontier.hub_cache:
for (uint i = lid; i < ${config.frontier.hub_cache}u; i += GROUP_SIZE) hub_cache[i] = NO_SPACE;
group_barrier();
for (uint i = lid; i < tallies[TALLY_HUBS_LISTED]; i += GROUP_SIZE)
    hub_cache[hub_list[i] & ${config.frontier.hub_cache - 1}u] = hub_list[i];
% endif
if (lid == 0) group_hit = NO_SPACE;
group_barrier();
% if config.frontier.generation == "none":
## The whole array, one work-group a vertex.
<%tiles:each_group_tile count="n" size="1u">
    const uint v = tile_begin;
    if (STATUS_OF(v) == ${"UNREACHED" if pulls else "(int)now.level - 1"}) {
        const uint part = 0, parts = 1;
        ${by_group(pulls)}
    }
</%tiles:each_group_tile>
% else:
// Units of work, the heaviest first: parts of a vertex, a vertex, a vertex per lane group or several
// per work-item.
const uint shares = clamp(now.members, 1u, (max_degree >> 2) / GROUP_SIZE + 1u);
const uint extreme = (begins[4] - begins[3]) * shares, large = extreme + begins[3] - begins[2];
const uint middle = large + (begins[2] - begins[1] + GROUP_LANES - 1) / GROUP_LANES;
const uint units = middle + (begins[1] + ${config.class_batch}u * GROUP_SIZE - 1) / (${config.class_batch}u * GROUP_SIZE);
<%tiles:each_group_tile count="units" size="1u">
    if (tile_begin < large) {
        const int whole_grid = tile_begin < extreme;
        const uint parts = whole_grid ? shares : 1u, part = whole_grid ? tile_begin % shares : 0u;
        const uint v = queue_from[whole_grid ? begins[3] + tile_begin / shares : begins[2] + tile_begin - extreme];
        ${by_group(pulls)}
    } else if (tile_begin < middle) {
        const uint place = begins[1] + (tile_begin - large) * GROUP_LANES + LANE_GROUP;
        if (place < begins[2]) {
            const uint v = queue_from[place];
            ${by_lanes(pulls)}
        }
    } else {
        for (uint k = 0; k < ${config.class_batch}u; ++k) {
            const uint place = ((tile_begin - middle) * ${config.class_batch}u + k) * GROUP_SIZE + lid;
            if (place < begins[1]) {
                const uint v = queue_from[place];
                ${by_item(pulls)}
            }
        }
    }
</%tiles:each_group_tile>
% endif
</%def>

## Push along edge e of v.
<%def name="mark()">
    const uint w = indices[e];
    if (STATUS_OF(w) == UNREACHED) {
        VISIT(w, now.level);
        % if problem.predecessors:
        predecessors[w] = (int)v;
        % endif
    }
</%def>

<%def name="settle(w)">
    VISIT(v, now.level);
    % if problem.predecessors:
    predecessors[v] = (int)(${w});
    % endif
</%def>

## Declares `hit`: whether in-neighbour w was visited by an earlier level.
<%def name="look(active)">
    int hit = 0;
    % if config.frontier.hub_cache:
    if (${active}) {
        ++cache_looks;
        hit = hub_cache[w & ${config.frontier.hub_cache - 1}u] == w;
        cache_hits += (uint)hit;
    }
    % endif
</%def>

<%def name="look_further(active)">
    if (${active}) hit = (uint)STATUS_OF(w) < now.level;
</%def>

<%def name="by_item(pulls)">
% if pulls:
const offset_t past = in_indptr[v + 1];
for (offset_t e = in_indptr[v]; e < past; ++e) {
    const uint w = in_indices[e];
    ++edges_inspected;
    ${look("1")}
    ${look_further("!hit")}
    if (hit) {
        ${settle("w")}
        break;
    }
}
% else:
const offset_t past = indptr[v + 1];
for (offset_t e = indptr[v]; e < past; ++e) {
    ++edges_inspected;
    ${mark()}
}
% endif
</%def>

<%def name="by_lanes(pulls)">
% if pulls:
const offset_t past = in_indptr[v + 1];
for (offset_t first = in_indptr[v]; first < past; first += LANES) {
    const int active = first + lane_id() < past;
    const uint w = active ? in_indices[first + lane_id()] : 0u;
    edges_inspected += (uint)active;
    ${look("active")}
    if (!lane_any(hit)) {
        ${look_further("active")}
    }
    const lanemask_t hits = lane_ballot(hit);
    if (hits) {
        if (lane_id() == lanemask_first(hits)) {
            ${settle("w")}
        }
        break;
    }
}
% else:
const offset_t past = indptr[v + 1];
for (offset_t e = indptr[v] + lane_id(); e < past; e += LANES) {
    ++edges_inspected;
    ${mark()}
}
% endif
</%def>

## The `part` of `parts` of the edges of v, the same on all work-items.
<%def name="by_group(pulls)">
% if pulls:
const offset_t past = in_indptr[v + 1];
for (offset_t first = in_indptr[v] + part * GROUP_SIZE; first < past; first += (offset_t)parts * GROUP_SIZE) {
    const int active = first + lid < past;
    const uint w = active ? in_indices[first + lid] : 0u;
    edges_inspected += (uint)active;
    ${look("active")}
    ${look_further("active && !hit")}
    if (hit) group_hit = w;
    // Another group may have found a parent already: an early way out, never waited for.
    if (parts > 1 && lid == 0 && LATEST_STATUS_OF(v) != UNREACHED) group_hit = v;
    group_barrier();
    const uint parent = group_hit;
    group_barrier();
    if (parent != NO_SPACE) {
        if (lid == 0) {
            if (parts == 1 || LATEST_STATUS_OF(v) == UNREACHED) {
                ${settle("parent")}
            }
            group_hit = NO_SPACE;
        }
        group_barrier();
        break;
    }
}
% else:
const offset_t past = indptr[v + 1];
for (offset_t e = indptr[v] + part * GROUP_SIZE + lid; e < past; e += (offset_t)parts * GROUP_SIZE) {
    ++edges_inspected;
    ${mark()}
}
% endif
</%def>
