## fill: the stage that every search begins with: no vertex reached but the source.
##
## In scope      the kernel's arguments, now
## Called by     all work-items, in uniform control flow

<%namespace name="tiles" file="/grid/tiles.mako"/>

<%def name="stage()">
    % if "fill" in stages:
    if (now.mode == FILL) {
        % if config.counts:
        if (member == 0 && lid == 0)
            for (uint event = 0; event < ${len(counters)}u; ++event) state[${min(counters.values())} + event] = 0;
        % endif
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) {
                % if copies:
                // The others have the rest of the results.
                if (v - (own_word << WORD_SHIFT) >= own_words << WORD_SHIFT) continue;
                % endif
                ## A candidate is labelled when it is contracted, the source like any other.
                ${"VISIT(v, v == source ? 0u : 255u);" if config.frontier.name == "status" and config.frontier.bits == 8 else ""}
                % if config.frontier.name != "status" or config.frontier.bits == 32:
                distances[v] = ${"v == source ? 0 : UNREACHED" if config.frontier.name in ("vertex", "status") else "UNREACHED"};
                % endif
                % if problem.predecessors:
                predecessors[v] = v == source ? (int)source : UNREACHED;
                % endif
            }
            % if config.frontier.visited in ("bitmap", "mask"):
            for (uint w = (tile_begin >> WORD_SHIFT) + lane_id(); w << WORD_SHIFT < tile_end; w += LANES)
                visited_even[w] = ${"w == source >> WORD_SHIFT ? WORD_BIT(source) : 0" if config.frontier.name == "vertex" else "0"};
            % endif
        </%tiles:each_tile>
    }
    % endif
</%def>
