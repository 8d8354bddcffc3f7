## lanes: relaxing and splitting by SIMD groups, and levels that one work-group runs by itself.
##
## Offers        setup, work, by_one_group: bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot; in work the queues and piles of the stage

<%namespace name="advance" file="/balance/advance.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="single" file="/grid/single_group.mako"/>
<%namespace name="drift" file="/frontier/drift.mako"/>
<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="deciding" file="/sssp/decisions/bounds.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="common" file="/sssp/decisions/common.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>

<%def name="setup()">
${single.setup()}
__local stage_t single_next;
</%def>

<%def name="relax(count)">
${relaxing.visit_edges(count, drift.keep if config.drift else relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
</%def>

<%def name="work()">
    % if "relax" in stages:
    if (now.mode == RELAX) {
        const key_t high = (key_t)CONTROL_ULONG(HIGH);
        const int eager = now.length <= ${config.limits.eager}u;
        ${relaxing.begin()}
        ${relaxing.begin_aside()}
        % if config.drift:
        ${drift.each_edge("queue_from", "queue_to", "now.length", relax)}
        % else:
        const uint tile_size = ${f"{config.push_tile}u" if config.distribution == "claimed" else "1u << now.tile"};
        ${advance.each_edge("queue_from", "now.length", relax)}
        % endif
        % if config.hub_degree:
        if (now.hubs) {
            ${advance.each_hub_edge("hubs_from", "now.hubs", relax)}
        }
        % endif
        % if "split" in all_stages:
        ${relaxing.end_aside("pile_here", "pile_count")}
        % endif
        ${relaxing.end()}
        % if config.drift:
        ${drift.end_stage("queue_to")}
        % else:
        ${queue.end_stage("queue_to", f"now.length <= {queue.module.DIRECT}u")}
        % endif
    }
    % endif
    % if "split" in stages:
    if (now.mode == SPLIT) {
        const key_t low = (key_t)CONTROL_ULONG(LOW), high = (key_t)CONTROL_ULONG(HIGH);
        ${relaxing.begin_aside()}
        <%relaxing:each_on_pile>
            offset_t row0 = 0;
            uint degree0 = 0;
            if (improved) {
                ${row_at.load("row0", "degree0", "v0")}
            }
            ${relaxing.enqueue(0, "v0", "improved", relaxing.keep_in_queue, "state + NEXT_HUBS + slot * SLOT_STRIDE")}
        </%relaxing:each_on_pile>
        ${relaxing.end_aside("pile_other", "other_count")}
        ${queue.end_stage("queue_to", "0")}
    }
    % endif
</%def>

## By all work-items of the group that decided, when it may go on alone.
<%def name="by_one_group()">
% if config.single_group:
{
    const key_t high = (key_t)CONTROL_ULONG(HIGH);
    __global uint *const pile_here = now.pile ? pile_odd : pile_even;
    volatile __global uint *const pile_count = control_block + (now.pile ? PILE_ODD : PILE_EVEN);
    ulong explored, work;
    ${common.load_totals()}
    ${relaxing.begin()}
    ${relaxing.begin_aside()}
    <%single:levels>
    <%def name="visit(count)">
        ${relaxing.visit_edges(count, single.keep, "&single_hubs[next]")}
    </%def>
    <%def name="single_level()">
        explored += edges;
        work += (ulong)edges + ${config.stage_work}u;
        now.hubs = single_hubs_found;
        if (now.length + now.hubs) {
            ${deciding.go_on("now", "edges")}
            if (lid == 0) {
                ${common.record("now", "edges")}
            }
        }
        going = now.length && !now.hubs && now.level <= max_rounds && now.length <= ${config.limits.single_group_capacity}u &&
                edges <= ${config.limits.single_group_edges}u && work <= budget;
    </%def>
    </%single:levels>
    % if "split" in all_stages:
    ${relaxing.end_aside("pile_here", "pile_count")}
    % endif
    ${relaxing.end()}
    group_barrier_global();
    if (lid == 0) {
        fence_device();
        stage_t s = now;
        if (!(s.length + s.hubs)) {
            ${deciding.frontier_is_empty("s")}
            ${common.record("s", "0u")}
        }
        ${stage.finish("s")}
        ${stage.store_totals()}
        single_next = s;
    }
    group_barrier();
    now = single_next;
}
% endif
</%def>
