## visit: what happens to an edge of the frontier, and to a vertex that is found.
##
## In scope      the_visited, hubs_to, eager, distances, predecessors, indptr; u0, v0, active0, u1, ...
## Called by     lane-uniform control flow
## `keep`        a def that queues: (queued, entry, edges)

<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="duplicates" file="/visited/duplicates.mako"/>
<%namespace name="bins" file="/balance/bins.mako"/>
<%namespace name="visited" file="/visited/visited.mako"/>

## Where no two lanes claim v, or whichever does is right: its distance is that of the level, and u its
## parent.
<%def name="reach(v, u)">
% if config.frontier.name == "status":
VISIT(${v}, now.level);
% else:
distances[${v}] = (int)now.level;
% endif
% if problem.predecessors:
predecessors[${v}] = (int)${u};
% endif
</%def>

## Visit `count` edges per lane, phase by phase so that the accesses of one phase overlap.
<%def name="visit_edges(count, level, keep, hub_slot, look=None, bare=None)">
    % for k in range(count):
    offset_t row${k} = 0;
    uint degree${k} = 0;
    ${visited.look(f"may_claim{k}", f"v{k}", f"active{k}", "distances", "UNREACHED", look)}
    % endfor
    % if config.entry != "vertex":
    % for k in range(count):
    if (eager && may_claim${k}) {
        ${rows.load(f"row{k}", f"degree{k}", f"v{k}")}
    }
    % endfor
    % endif
    % for k in range(count):
    ${visited.claim(f"claimed{k}", f"v{k}", f"may_claim{k}", "distances", "UNREACHED", f"(int)({level})")}
    % endfor
    % for k in range(count):
    ${duplicates.at_lookup(f"claimed{k}", f"v{k}")}
    % endfor
    ${enqueue(count, True, keep, hub_slot, bare=bare)}
</%def>

## `counts_edges`: whether the sum of their edges is wanted where no entry of the queue has it.
## `bare`: where an expression is and holds, who is found is only counted.
<%def name="enqueue(count, has_parent, keep, hub_slot, counts_edges=False, bare=None)">
    % for k in range(count):
    ## Who cuts a frontier in chunks has room for no more of them than its edges take.
    % if counts_edges or config.entry != "vertex" or config.pull or config.hub_degree or config.frontier.name != "vertex" or not config.exact or config.balance.scope == "grid":
    if (claimed${k}${f" && !{bare}" if bare else ""}) {
        % if config.entry != "vertex":
        if (eager) prefetch_global(indices + row${k});
        else
        % endif
        {
            ${rows.load(f"row{k}", f"degree{k}", f"v{k}")}
        }
    }
    % endif
    % if problem.predecessors and has_parent:
    if (claimed${k}) predecessors[v${k}] = (int)u${k};
    % endif
    % endfor
    % if bare:
    if (${bare}) {
        % for k in range(count):
        bare_found += (uint)claimed${k};
        % endfor
    } else {
    % endif
    % for k in range(count):
    int queued${k} = claimed${k};
    % if config.hub_degree:
    if (claimed${k} && degree${k} >= ${config.hub_degree}u) {
        queued${k} = 0;
        % if config.hub_bins:
        atomic_inc(${hub_slot});
        ${bins.keep("hubs_to", f"degree{k}", f"MAKE_ENTRY(v{k}, row{k}, degree{k})")}
        % elif config.exact:
        hubs_to[atomic_inc(${hub_slot})] = MAKE_ENTRY(v${k}, row${k}, degree${k});
        % else:
        const uint hub_at = atomic_inc(${hub_slot});
        if (hub_at < hub_capacity) hubs_to[hub_at] = MAKE_ENTRY(v${k}, row${k}, degree${k});
        else state[OVERFLOWED] = 1;
        % endif
    }
    % endif
    ${keep(f"queued{k}", f"MAKE_ENTRY(v{k}, row{k}, degree{k})", f"claimed{k} ? degree{k} : 0u")}
    % endfor
    % if bare:
    }
    % endif
</%def>

<%def name="keep_in_queue(queued, entry, edges)">
    found_edges += ${edges};
    ${queue.push(queued, entry, "queue_to")}
</%def>
