## incidence: what an item of a peeling is part of, and what its removal costs the others.
##
## incident   "neighbours": items are vertices, each worth one to each of its neighbours
##                    "lists": items are edges, and the other two of each of its triangles are listed
##                    "rows": items are edges, whose triangles are found by looking the neighbours of
##                    the end of the shorter row up in the other's row
## declarations()     at file scope: entries of queues are items, whose row is what has to be visited
## visit(count, by_one_group)   a round's body: takes one from each survivor for each thing it loses;
##                    `by_one_group`: in a round of one group
## recount(count)     a body over all survivors: counts what each still has
## drop_rows()        with "rows": drops edges that are gone from the rows, which stay ascending
## remove(item, stamp, length)   marks an item that this stage removes; its row's length, where it is known
## In scope           now, fresh, current, offset, found_edges, and what the kernel declares
##
## A triangle {e, f, g} is lost in the round that removes the first of its edges. With e alone, f and
## g lose it; with e and f, g does, which both e and f find: the smaller number takes it off; with all
## three nobody does. So it does not matter in which order the round's edges are visited.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="single" file="/grid/single_group.mako"/>

<%def name="declarations()">
typedef uint entry_t;
#define ENTRY_VERTEX(entry_) (entry_)
% if incident == "rows":
#define SHORTER(entry_) shorter_end(ends[entry_], lengths)
#define ENTRY_BEGIN(entry_) ((offset_t)begins[SHORTER(entry_)])
#define ROW_LENGTH(entry_) lengths[SHORTER(entry_)]

static inline uint shorter_end(const uint2 ends, __global const uint *lengths) {
    return lengths[ends.x] <= lengths[ends.y] ? ends.x : ends.y;
}
% else:
#define ENTRY_BEGIN(entry_) indptr[entry_]
#define ROW_LENGTH(entry_) ((uint)(indptr[(entry_) + 1u] - indptr[entry_]))
% endif
% if incident == "neighbours":
#define ENTRY_DEGREE(entry_) ROW_LENGTH(entry_)
% else:
// What has no triangle left has nothing to visit, unless triangles are being counted.
#define ENTRY_DEGREE(entry_) (now.mode != COUNT && counts[entry_] == 0u ? 0u : ROW_LENGTH(entry_))
% endif
</%def>

<%def name="visit(count, by_one_group)">
% for k in range(count):
% if incident == "neighbours":
const int lost${k} = active${k} && status[v${k}] == ALIVE && atomic_dec(&counts[v${k}]) == now.level + 1u;
${take(f"lost{k}", f"v{k}", by_one_group)}
% else:
${pair(k)}
int lost_f${k} = 0, lost_g${k} = 0;
if (paired${k}) {
    const uint of_f = status[f${k}], of_g = status[g${k}];
    const int f_stays = of_f == ALIVE || of_f == fresh, g_stays = of_g == ALIVE || of_g == fresh;
    const int f_loses = f_stays && (g_stays || (of_g == current && u${k} < g${k}));
    const int g_loses = g_stays && (f_stays || (of_f == current && u${k} < f${k}));
    // Who goes after this round needs no count any more.
    if (f_loses && of_f == ALIVE) lost_f${k} = atomic_dec(&counts[f${k}]) == now.level + 1u;
    if (g_loses && of_g == ALIVE) lost_g${k} = atomic_dec(&counts[g${k}]) == now.level + 1u;
}
${take(f"lost_f{k}", f"f{k}", by_one_group)}
${take(f"lost_g{k}", f"g{k}", by_one_group)}
% endif
% endfor
</%def>

<%def name="recount(count)">
% for k in range(count):
% if incident == "neighbours":
if (active${k} && status[u${k}] == ALIVE && status[v${k}] == ALIVE) atomic_inc(&counts[u${k}]);
% else:
${pair(k)}
if (paired${k} && status[u${k}] == ALIVE && status[f${k}] == ALIVE && status[g${k}] == ALIVE)
    atomic_inc(&counts[u${k}]);
% endif
% endfor
</%def>

## The removal of an item that has just got below the level, of which only one lane hears.
<%def name="take(lost, item, by_one_group)">
if (${lost}) {
    ${remove(item, "fresh")}
}
% if by_one_group:
${single.keep(lost, item, "0u")}
% else:
${queue.push(lost, item, "queue_to")}
% endif
</%def>

<%def name="remove(item, stamp, length='')">
status[${item}] = (uchar)${stamp};
numbers[${item}] = now.level + offset;
% if ordered:
removals[${item}] = atomic_inc(&control[REMOVALS]);   // those of a round have gone before the next one's
% endif
if (now.level) found_edges += ${length or f"ROW_LENGTH({item})"};
</%def>

## Declares f and g, the other edges of a triangle of edge u, if `paired`.
<%def name="pair(k)">
uint f${k} = 0u, g${k} = 0u;
% if incident == "lists":
const int paired${k} = active${k};
if (active${k}) {
    const uint2 both = sides[e${k}];
    f${k} = both.x;
    g${k} = both.y;
}
% else:
int paired${k} = 0;
if (active${k}) {
    f${k} = edges[e${k}];
    const uint of_edge = status[f${k}];
    if (of_edge == ALIVE || of_edge == fresh || of_edge == current) {
        const uint2 both = ends[u${k}];
        const uint other = both.x ^ both.y ^ SHORTER(u${k});
        const ${row_type} row = begins[other];
        const uint length = lengths[other], at = lower_bound(indices + row, length, v${k});
        paired${k} = at < length && indices[row + at] == v${k};
        if (paired${k}) g${k} = edges[row + at];
    }
}
% endif
</%def>

<%def name="drop_rows()">
<%tiles:each_tile count="vertices" size="${config.push_tile}">
    for (uint v = tile_begin; v < tile_end; ++v) {
        const ${row_type} row = begins[v];
        const uint length = lengths[v];
        uint kept = 0u;
        for (uint base = 0u; base < length; base += LANES) {
            const uint at = base + lane_id();
            const uint edge = at < length ? edges[row + at] : 0u, x = at < length ? indices[row + at] : 0u;
            const int stays = at < length && status[edge] == ALIVE;
            const lanemask_t staying = lane_ballot(stays);   // all lanes have read by now
            if (stays) {
                const uint to = kept + lanemask_count(staying & lane_mask_lt());
                edges[row + to] = edge;
                indices[row + to] = x;
            }
            kept += lanemask_count(staying);
        }
        if (lane_id() == 0u) lengths[v] = kept;
    }
</%tiles:each_tile>
</%def>
