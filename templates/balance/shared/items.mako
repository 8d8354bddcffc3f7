## items: what every balancer says about the list it is given and about what it hands out.
##
## The list is `queue[0 .. count)`, entries as /frontier/queue.mako describes them; or, where queue
## is "", all items 0 .. count with the offsets `indptr`, which are their own prefix sums then.
##
## entry(queue, index)   the entry at a place
## own(queue, begin, end, place, ...)   what a lane has of a list's entries [begin, end): declares has_entry, entry and,
##                       under names of the caller's, vertex, first edge and degree, which is 0 where it has none
## edge(k)               v of the k-th edge, from its e, by config.cache; nothing where units carry no
##                       neighbour
## unit(k, queue, item, unit)   declares u, e and v for a unit of the whole list, by its item
## prefix(queue)         name of the list's exclusive prefix sums [count + 1]
## prefix_at(config, queue, place)   one of them, by config.cache where no work-item writes them
## tally(counter)        counts an event, in renderings that count
## own_edges, shared_edges   the `degree` edges from `edge_begin` on of a row, by u0

<%!
    def bare(config):
        """Whether units are no more than numbers: load balancing by itself, without a graph."""
        return getattr(config, "bare", False)

    def counts(config):
        return getattr(config, "counts", False)

    def prefix(queue):
        return "prefix" if queue else "indptr"

    def prefix_at(config, queue, place):
        # Those of a queue are written by a stage of the same launch.
        if not queue and bare(config) and getattr(config, "cache", "") == "read-only":
            return f"load_read_only(indptr + ({place}))"
        return f"{prefix(queue)}[{place}]"
%>

<%namespace name="memory" file="/memory/memory.mako"/>

<%def name="entry(queue, index)">${f"{queue}[{index}]" if queue else f"((entry_t)({index}))"}</%def>

<%def name="own(queue, begin, end, place, vertex='my_vertex', first='my_begin', degree='const uint my_degree', left='ENTRY_DEGREE(entry)')">
const int has_entry = ${place} < (${end});
const entry_t entry = ${entry(queue, f"has_entry ? {place} : ({begin})")};
const uint ${vertex} = ENTRY_VERTEX(entry);
const offset_t ${first} = ENTRY_BEGIN(entry);
${degree} = has_entry ? ${left} : 0u;
</%def>

<%def name="edge(k)">${"" if bare(config) else f"const uint v{k} = active{k} ? {memory.module.loaded(config, 'indices', 'e' + str(k))} : 0u;"}</%def>

<%def name="unit(k, queue, item, unit)">\
% if queue:
const entry_t entry${k} = ${queue}[${item}];
const uint u${k} = ENTRY_VERTEX(entry${k});
const offset_t e${k} = ENTRY_BEGIN(entry${k}) + (${unit} - prefix[${item}]);
% else:
const uint u${k} = ${item};
const offset_t e${k} = ${unit};
% endif
${edge(k)}
</%def>

<%def name="tally(counter)">${f"atomic_inc(counters + {counter});" if counts(config) else ""}</%def>

## Edges of a row, by lanes that have one each: from `first` in steps of `step`, as far as any lane goes.
<%def name="own_edges(first, step, visit)">
for (uint i = ${first}; lane_any(i < degree); i += ${step}) {
    const int active0 = i < degree;
    const offset_t e0 = edge_begin + i;
    ${edge(0)}
    ${visit(1)}
}
</%def>

## Edges of one row by all lanes, LANES at a time.
<%def name="shared_edges(first, step, visit)">
for (uint first = ${first}; first < degree; first += ${step}) {
    const int active0 = first + lane_id() < degree;
    const offset_t e0 = edge_begin + first + lane_id();
    ${edge(0)}
    ${visit(1)}
}
</%def>
