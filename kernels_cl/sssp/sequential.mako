## sequential: one processor core alone, while frontiers are small.
##
## With plain accesses, appending to the queues themselves. Every append is made whether it counts or
## not, and the count is stepped on condition: a store costs less than a branch that is hard to predict.
##
## Offers        by_one_group: a body of /grid/stage.mako
## In scope      the kernel's arguments, now, slot

<%namespace name="relaxing" file="/sssp/relax.mako"/>
<%namespace name="deciding" file="/sssp/decisions/bounds.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="common" file="/sssp/decisions/common.mako"/>
<%namespace name="rows" file="/sssp/core_rows.mako"/>

<%def name="sequential_decrease()">
    const cell_t was = cells[v];
    cells[v] = CELL(to, now.level);
    % if "split" in all_stages:
    const int near = to <= high, aside = !near && CELL_KEY(was) == KEY_NONE;
    least = !near && to < least ? to : least;
    pile_here[far_count] = v;
    far_count += (uint)aside;
    % else:
    const int near = 1;
    % endif
    % if config.claims == "packed":
    const int fresh = near && ((uint)was != now.level || CELL_KEY(was) > high);
    % elif config.claims == "none":
    const int fresh = near;
    % else:
    const int fresh = near && stamps[v] != now.level;
    stamps[v] = near ? now.level : stamps[v];
    % endif
    queue_to[found] = v;
    found += (uint)fresh;
    % if "heavy" in all_stages:
    settled[settled_count] = v;
    settled_count += near && CELL_KEY(was) > high;
    % endif
</%def>

## By the only work-item of the group that decided, when it may go on alone.
<%def name="by_one_group()">
% if config.single_group:
{
    ulong explored, work, by_one_group_for = 0;
    ${common.load_totals()}
    ${relaxing.begin()}
    int going = 1;
    while (going) {
        __global const uint *const queue_from = now.queue ? queue_odd : queue_even;
        __global uint *const queue_to = now.queue ? queue_even : queue_odd;
        __global uint *const pile_here = now.pile ? pile_odd : pile_even;
        volatile __global uint *const pile_count = control_block + (now.pile ? PILE_ODD : PILE_EVEN);
        const key_t high = (key_t)CONTROL_ULONG(HIGH);
        key_t least = (key_t)CONTROL_ULONG(LEAST);
        uint found = 0;
        edges_t edges_here = 0;
        % if "heavy" in all_stages:
        uint settled_count = control_block[SETTLED];
        % endif
        % if "split" in all_stages:
        if (now.mode == SPLIT) {
            const key_t low = (key_t)CONTROL_ULONG(LOW);
            uint stays = 0;
            for (uint place = 0; place < now.length; ++place) {
                const uint v = pile_here[place];
                const key_t key = KEY_AT(v);
                queue_to[found] = v;
                found += key > low && key <= high;
                % if "heavy" in all_stages:
                settled[settled_count] = v;
                settled_count += key > low && key <= high;
                % endif
                pile_here[stays] = v;
                stays += key > high;
                least = key > high && key < least ? key : least;
            }
            *pile_count = stays;
        } else
        % endif
        {
            uint far_count = *pile_count;
            % if "heavy" in all_stages:
            if (now.mode == HEAVY) {
                __global const uint *const settled_here = settled + control_block[SETTLED_BEGIN];
                for (uint place = 0; place < now.length; ++place) {
                    ${rows.prefetch("settled_here", "place", "now.length")}
                    const uint u = settled_here[place];
                    ${rows.relax("u", sequential_decrease, True)}
                }
                control_block[SETTLED_BEGIN] += now.length;
            } else
            % endif
            for (uint place = 0; place < now.length; ++place) {
                ${rows.prefetch("queue_from", "place", "now.length")}
                const uint u = queue_from[place];
                ${rows.relax("u", sequential_decrease, False)}
            }
            *pile_count = far_count;
        }
        % if "split" in all_stages:
        CONTROL_ULONG(LEAST) = least;
        % endif
        % if "heavy" in all_stages:
        control_block[SETTLED] = settled_count;
        % endif
        explored += edges_here;
        work += (ulong)edges_here + now.length + ${config.stage_work}u;
        by_one_group_for += (ulong)edges_here + now.length + ${config.stage_work}u;
        ${common.correct_record("now", "edges_here")}
        now.queue ^= 1;
        now.length = found;
        now.hubs = 0;
        if (found) {
            ${deciding.go_on("now", "0u")}
        } else {
            ${deciding.frontier_is_empty("now")}
        }
        ${common.record("now", "0u")}
        if (!dismissed && by_one_group_for > ${config.single_patience}u && get_num_groups(0) > 1 && !(flags & FLAG_STEPPED)) {
            dismissed = 1;
            stage_dismiss(state, now);
        }
        const ulong ahead = (ulong)now.length * ${"(now.mode == SPLIT ? 1u : mean_degree)" if "split" in all_stages else "mean_degree"};
        going = (now.mode == RELAX || now.mode == ${"SPLIT" if "split" in all_stages else "RELAX"}${" || now.mode == HEAVY" if "heavy" in all_stages else ""}) && work <= budget &&
                (${common.is_alone()} || ahead <= (dismissed ? ${16 * config.limits.single_group_edges}u : ${config.limits.single_group_edges}u));
        if ((now.level & 63u) == 0) store_relaxed(state + HEARTBEAT, now.level);
    }
    ${relaxing.end()}
    {
        stage_t s = now;
        ${stage.finish("s")}
        ${stage.store_totals()}
        now = s;
    }
}
% endif
</%def>
