## degree_classes: the vertices of a queue, each by as many work-items as its degree class is worth.
##
## Classes: less than 32 edges by one work-item, less than 256 by a SIMD group, less than 65,536 by a
## work-group, others by all work-groups (CLASS_EDGES). No barrier parts them, so groups are
## busy with different classes at the same time; a class without vertices takes no turn.
##
## each_vertex(searches, whole)   visits every edge of each vertex v or, if `searches`, its in-edges until
##                one of them is accepted; with `whole` of the whole array instead of the queue, one
##                work-group a vertex
## Body defs      takes_part(): an expression, whether v of the whole array is one of them
##                visit(): what to do along edge e of v
##                look(active): declares `hit`, whether in-neighbour w is accepted at first sight
##                look_further(active): sets `hit` by a dearer look
##                found(w): what to do then, by one work-item; settled(): an expression, whether another
##                group may have found one for v already
## In scope       queue_from, begins (where each class begins), indptr and indices or those of the
##                transpose, now, lid, max_degree, edges_inspected
## Called by      all work-items, in uniform control flow; group barriers inside

## Least degrees of the classes that are walked by a SIMD group, by a work-group and by all of them.
<%! CLASS_EDGES = (32, 256, 1 << 16) %>

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>

<%def name="setup()">
__local uint group_hit;
</%def>

<%def name="each_vertex(searches, whole, batch)">
if (lid == 0) group_hit = NO_SPACE;
group_barrier();
% if whole:
<%tiles:each_group_tile count="n" size="1u">
    const uint v = tile_begin;
    if (${caller.takes_part()}) {
        const uint part = 0, parts = 1;
        ${by_group(searches, caller)}
    }
</%tiles:each_group_tile>
% else:
// Units of work, the heaviest first: parts of a vertex, a vertex, a vertex per SIMD group or several
// per work-item.
const uint shares = clamp(now.members, 1u, (max_degree >> 2) / GROUP_SIZE + 1u);
const uint extreme = (begins[4] - begins[3]) * shares, large = extreme + begins[3] - begins[2];
const uint middle = large + (begins[2] - begins[1] + GROUP_LANES - 1) / GROUP_LANES;
const uint units = middle + (begins[1] + ${batch}u * GROUP_SIZE - 1) / (${batch}u * GROUP_SIZE);
<%tiles:each_group_tile count="units" size="1u">
    if (tile_begin < large) {
        const int whole_grid = tile_begin < extreme;
        const uint parts = whole_grid ? shares : 1u, part = whole_grid ? tile_begin % shares : 0u;
        const uint v = queue_from[whole_grid ? begins[3] + tile_begin / shares : begins[2] + tile_begin - extreme];
        ${by_group(searches, caller)}
    } else if (tile_begin < middle) {
        const uint place = begins[1] + (tile_begin - large) * GROUP_LANES + LANE_GROUP;
        if (place < begins[2]) {
            const uint v = queue_from[place];
            ${by_lanes(searches, caller)}
        }
    } else {
        for (uint k = 0; k < ${batch}u; ++k) {
            const uint place = ((tile_begin - middle) * ${batch}u + k) * GROUP_SIZE + lid;
            if (place < begins[1]) {
                const uint v = queue_from[place];
                ${by_item(searches, caller)}
            }
        }
    }
</%tiles:each_group_tile>
% endif
</%def>

<%def name="by_item(searches, body)">
% if searches:
const offset_t past = ${rows.in_past("v")};
for (offset_t e = ${rows.in_begin("v")}; e < past; ++e) {
    const uint w = in_indices[e];
    ++edges_inspected;
    ${body.look("1")}
    ${body.look_further("!hit")}
    if (hit) {
        ${body.found("w")}
        break;
    }
}
% else:
const offset_t past = ${rows.past("v")};
for (offset_t e = ${rows.begin("v")}; e < past; ++e) {
    ++edges_inspected;
    ${body.visit()}
}
% endif
</%def>

<%def name="by_lanes(searches, body)">
% if searches:
const offset_t past = ${rows.in_past("v")};
for (offset_t first = ${rows.in_begin("v")}; first < past; first += LANES) {
    const int active = first + lane_id() < past;
    const uint w = active ? in_indices[first + lane_id()] : 0u;
    edges_inspected += (uint)active;
    ${body.look("active")}
    if (!lane_any(hit)) {
        ${body.look_further("active")}
    }
    const lanemask_t hits = lane_ballot(hit);
    if (hits) {
        if (lane_id() == lanemask_first(hits)) {
            ${body.found("w")}
        }
        break;
    }
}
% else:
const offset_t past = ${rows.past("v")};
for (offset_t e = ${rows.begin("v")} + lane_id(); e < past; e += LANES) {
    ++edges_inspected;
    ${body.visit()}
}
% endif
</%def>

## The `part` of `parts` of the edges of v, the same on all work-items.
<%def name="by_group(searches, body)">
% if searches:
const offset_t past = ${rows.in_past("v")};
for (offset_t first = ${rows.in_begin("v")} + part * GROUP_SIZE; first < past; first += (offset_t)parts * GROUP_SIZE) {
    const int active = first + lid < past;
    const uint w = active ? in_indices[first + lid] : 0u;
    edges_inspected += (uint)active;
    ${body.look("active")}
    ${body.look_further("active && !hit")}
    if (hit) group_hit = w;
    // Another group may have found a parent already: an early way out, never waited for.
    if (parts > 1 && lid == 0 && ${body.settled()}) group_hit = v;
    group_barrier();
    const uint parent = group_hit;
    group_barrier();
    if (parent != NO_SPACE) {
        if (lid == 0) {
            if (parts == 1 || !(${body.settled()})) {
                ${body.found("parent")}
            }
            group_hit = NO_SPACE;
        }
        group_barrier();
        break;
    }
}
% else:
const offset_t past = ${rows.past("v")};
for (offset_t e = ${rows.begin("v")} + part * GROUP_SIZE + lid; e < past; e += (offset_t)parts * GROUP_SIZE) {
    ++edges_inspected;
    ${body.visit()}
}
% endif
</%def>
