## registers: each lane keeps what it finds in registers, until one of them has no room for more.
##
## The fewest atomics, and scattered stores: config.frontier.update.size entries a lane, and one
## reservation for all lanes when one is full.
##
## begin_stage()            before the first push of a stage
## push(claimed, entry, queue, reserve)   `reserve`: a def (count, base) that reserves room in the queue
## flush(queue, reserve)    what is left, at the end
## In scope      entry_t, the lane vocabulary, and what `reserve` needs
## Called by     lane-uniform control flow
## Choice        config.frontier.update.scan: how lanes number their entries: "shuffle", by a scan, or "binary", by a
##               ballot where no lane holds more than one
##               config.frontier.update.induced: 0, or: with so many entries a lane in the mean (config.frontier.update.induced_by
##               "length"), or so few lanes a vertex ("width"), lanes store theirs in turn, first those that all
##               lanes have, so that stores are side by side

<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="collected" file="/frontier/collected.mako"/>

<%def name="begin_stage()">
uint held = 0;   // entries in this lane's registers
% if config.frontier.update.induced and config.frontier.update.induced_by == "width":
const uint virtual_width = LANES;   // where no balancer says otherwise
% endif
entry_t ${", ".join(f"held{j} = 0" for j in range(config.frontier.update.size))};
</%def>

<%def name="push(claimed, entry, queue, reserve)">
{
    // Indexed by constants only, so that it stays in registers.
    % for j in range(config.frontier.update.size):
    if (${claimed} && held == ${j}u) held${j} = ${entry};
    % endfor
    held += (${claimed}) ? 1u : 0u;
    if (lane_any(held == ${config.frontier.update.size}u)) {
        ${flush(queue, reserve)}
    }
}
</%def>

<%def name="flush(queue, reserve)">
{
    ${number()}
    ${collected.room("base", "held_here", reserve, " && held_here")}
    if (base != NO_SPACE) {
        % if config.frontier.update.induced:
        ${store_side_by_side(queue)}
        % endif
        {
            % for j in range(config.frontier.update.size):
            if (held > ${j}u) ${queue}[base + held_before + ${j}u] = held${j};
            % endfor
        }
    }
    held = 0;
}
</%def>

<%def name="number()">
% if config.frontier.update.scan == "binary":
uint held_before, held_here;
if (lane_all(held <= 1u)) {
    if (lane_id() == 0) { ${items.tally("BINARY_RANKS")} }
    const lanemask_t holding_one = lane_ballot(held);
    held_before = lanemask_count(holding_one & lane_mask_lt());
    held_here = lanemask_count(holding_one);
} else {
    held_before = lane_scan_exclusive_add(held);
    held_here = lane_broadcast(held_before + held, LANES - 1);
}
% else:
const uint held_before = lane_scan_exclusive_add(held);
const uint held_here = lane_broadcast(held_before + held, LANES - 1);
% endif
</%def>

<%def name="store_side_by_side(queue)">
if (${f"virtual_width <= {config.frontier.update.induced}u" if config.frontier.update.induced_by == "width" else f"held_here >= {config.frontier.update.induced}u * LANES"}) {
    if (lane_id() == 0) { ${items.tally("INDUCED_STORES")} }
    const uint common = lane_reduce_min(held);   // what every lane has goes row by row
    const uint rest = base + common * LANES + held_before - lane_id() * common;
    % for j in range(config.frontier.update.size):
    if (held > ${j}u) ${queue}[${j}u < common ? base + ${j}u * LANES + lane_id() : rest + ${j}u - common] = held${j};
    % endfor
} else
</%def>
