## self_tuning_lanes: the edges out of a self-tuned frontier, by SIMD groups.
##
## relax()       the stage RELAX of /sssp/self_tuning.mako

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>

<%def name="relax()">
    const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
    ${relaxing.begin()}
    ${advance.frontier_edges("queue_from", "hubs_from", relax_edges)}
    ${relaxing.end()}
    ${queue.end_stage("queue_to", f"now.length <= {queue.module.DIRECT}u")}
</%def>

<%def name="relax_edges(count)">
    % for k in range(count):
    const uint target${k} = VERTEX_OF(v${k});
    ${relaxing.relax_edge(k, f"active{k}", f"expanded[u{k}]", f"target{k}", "(key_t)limit")}
    % endfor
    % for k in range(count):
    ${keys_at.decrease(f"decreased{k}", f"was{k}", f"target{k}", f"improves{k}", f"to{k}", "now.level")}
    % endfor
    % for k in range(count):
    const int fresh${k} = decreased${k} && ${keys_at.first(f"target{k}", f"was{k}", "now.level", "KEY_NONE")};
    ${queue.push(f"fresh{k}", f"MAKE_ENTRY(target{k}, 0, 0)", "queue_to")}
    % endfor
</%def>
