## ends: the stages before the first relaxation and after the last.
##
## FILL          no vertex is reached
## START         the sources are at no distance and make the first frontier
## LEAVES        vertices that no edge leads on from, each from its in-edges, without atomics
## FINISH        distances out of cells; what lies beyond the cut is unreached; with predecessors the
##               vertices that a tree grows over are queued
## TREE          at first an edge that gives its head the head's distance and comes from nearer makes a
##               predecessor; these cannot form a cycle
##               Then, now.chain, the rest, level by level: edges between equal distances (where lengths may be negative:
##               all that give their head its distance) from vertices that are in the tree already.
##               A vertex is claimed once, by one that has a predecessor, so no cycle can close
## In scope      the kernel's arguments, now, slot; queues and piles of the stage

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="keys_at" file="/visited/decrease.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="bands" file="/sssp/bands.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>

<%def name="begin()">
    % if "fill" in stages:
    if (now.mode == FILL) {
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
                cells[v] = CELL_NONE;
                % if config.claims == "stamped":
                stamps[v] = 0;
                % endif
                % if problem.predecessors:
                predecessors[v] = -1;
                % endif
                % if config.method.name == "self-tuning":
                expanded[v] = KEY_ZERO;   // that of a source
                far[v] = (uint2)(0u, 0u);
                % endif
            }
        </%tiles:each_tile>
    }
    % endif
    % if "start" in stages:
    if (now.mode == START) {
        % if config.row_limit:
        uint settled_edges = 0;
        if (source_count == 1 && member == 0 && lid == 0) {
            ${bands.widen_first()}
        }
        % endif
        <%tiles:each_tile count="source_count" size="LANES">
            const int active = tile_begin + lane_id() < tile_end;
            const uint v0 = !active ? 0u : source_count == 1 ? source : sources[tile_begin + lane_id()];
            const key_t to0 = KEY_ZERO;
            ${keys_at.decrease("decreased0", "was0", "v0", "active", "to0", "now.level")}
            % if problem.predecessors:
            if (decreased0) predecessors[v0] = (int)v0;
            % endif
            % if config.row_limit:
            const uint vertex0 = v0;
            const int active0 = decreased0;
            int queued0 = 1, comes0 = 1;  // not const: compilers remark on constants behind an operator
            ${bands.admit(1)}
            % else:
            offset_t row0 = 0;
            uint degree0 = 0;
            if (decreased0) {
                row0 = ${row_at.first("v0")};
                degree0 = (uint)(LIGHT_END(v0) - row0);
                % if "heavy" in all_stages:
                settled[atomic_inc(control_block + SETTLED)] = v0;
                % endif
            }
            ${relaxing.enqueue(0, "v0", "decreased0", relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
            % endif
        </%tiles:each_tile>
        % if config.row_limit:
        ${relaxing.end_settling()}
        % endif
        ${queue.end_stage("queue_to", "1")}
    }
    % endif
</%def>

<%def name="end()">
    % if "leaves" in stages:
    if (now.mode == LEAVES) {
        <%tiles:each_tile count="leaf_count" size="LANES">
            if (tile_begin + lane_id() < tile_end) {
                const uint leaf = tile_begin + lane_id(), v = leaves[leaf];
                key_t best = KEY_AT(v);
                for (uint e = leaf_indptr[leaf]; e < leaf_indptr[leaf + 1]; ++e) {
                    const key_t from = KEY_AT(leaf_sources[e]);
                    if (from < KEY_NONE) {
                        const key_t to = key_add(from, leaf_weights[e]);
                        % if keys.signed:
                        if (to <= KEY_LEAST) atomic_or(state + STATUS_FLAGS, FLAG_BELOW);
                        % endif
                        % if keys.guarded:
                        if (to >= KEY_NONE) atomic_or(state + STATUS_FLAGS, FLAG_BEYOND);
                        % endif
                        best = to < best && to <= (key_t)limit ? to : best;
                    }
                }
                cells[v] = CELL(best, 0u);
            }
        </%tiles:each_tile>
    }
    % endif
    % if "finish" in stages:
    if (now.mode == FINISH) {
        const key_t cut = (key_t)CONTROL_ULONG(CUT);
        <%tiles:each_tile count="n" size="LANES">
            const int active = tile_begin + lane_id() < tile_end;
            const uint v0 = tile_begin + lane_id();
            key_t key = KEY_NONE;
            if (active) {
                key = KEY_AT(v0);
                key = key <= cut ? key : KEY_NONE;
                distances[v0] = length_of(key);
            }
            % if problem.predecessors:
            int root = 0;
            if (active && predecessors[v0] >= 0) {
                root = key == KEY_ZERO;
                if (!root) predecessors[v0] = -1;   // a source that is nearer to another one
            }
            if (root) atomic_inc(control_block + ROOTS);
            % if keys.signed:
            const int queued0 = root;
            % else:
            const int queued0 = active && key != KEY_NONE;
            % endif
            offset_t row0 = 0;
            uint degree0 = 0;
            if (queued0) {
                ${row_at.load("row0", "degree0", "v0")}
            }
            ${relaxing.enqueue(0, "v0", "queued0", relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
            % endif
        </%tiles:each_tile>
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
    % if "tree" in stages:
    if (now.mode == TREE) {
        const key_t cut = (key_t)CONTROL_ULONG(CUT);
        uint rooted = 0;
        ${over_frontier(tree_edges)}
        if (now.chain) {
            ${queue.end_stage("queue_to", "0")}
        } else {
            ${queue.end_count("rooted")}
        }
    }
    % endif
</%def>

<%def name="over_frontier(visit_edges)">
    const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
    ${advance.frontier_edges("queue_from", "hubs_from", visit_edges)}
</%def>

<%def name="tree_edges(count)">
    % for k in range(count):
    const uint target${k} = VERTEX_OF(v${k});
    int claimed${k} = 0;
    if (active${k} && predecessors[target${k}] < 0) {
        const key_t from = KEY_AT(u${k}), there = KEY_AT(target${k});
        const int gives = there <= cut && key_add(from, WEIGHT_AT(e${k})) == there;
        const int allowed = now.chain ? predecessors[u${k}] >= 0 : from < there;
        if (gives && allowed) claimed${k} = atomic_cmpxchg(predecessors + target${k}, -1, (int)u${k}) == -1;
    }
    rooted += claimed${k};
    const int queued${k} = claimed${k} && now.chain;
    offset_t row${k} = 0;
    uint degree${k} = 0;
    if (queued${k}) {
        ${row_at.load(f"row{k}", f"degree{k}", f"target{k}")}
    }
    ${relaxing.enqueue(k, f"target{k}", f"queued{k}", relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
    % endfor
</%def>
