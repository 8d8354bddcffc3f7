## status_array: levels write only the array of distances; queues are generated from it by scans.
##
## Offers        setup, work, decide, settle and by_one_group: the bodies of /grid/stage.mako
## In scope      the kernel's arguments, now, slot
##
## Stages: FILL; PUSH or PULL look at the queue of a level, four classes by degree, each with its own
## number of work-items a vertex, all at once; COUNT finds what they visited, and WRITE puts the next
## queue together. now.way says how both go about it: WAY_PUSHED takes what a push visited, work-items
## interleaved; WAY_SWITCH, once, takes what is unvisited, a block of vertices a work-item, so that
## the queue is sorted; WAY_PULLED takes what is still unvisited of the queue before; WAY_RETURN takes
## what a pull visited, where levels push again. now.pulls says that levels pull.
##
## Choice: config.frontier.bits, 32 for the results themselves, or 8 for bytes beside them, of which the
## last stage, WIDEN, makes the results; a search deeper than a byte can tell overflows.
##
## Races: several finders may write distances[v]: the same number, each with a parent of its own.
## A pull reads distances that others write: they hold UNREACHED or this level, neither of them less.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="pull" file="/balance/pull.mako"/>
<%namespace name="rows" file="/frontier/rows.mako"/>
<%namespace name="degrees" file="/balance/degree_classes.mako"/>
<%namespace name="classes" file="/bfs/status_classes.mako"/>
<%namespace name="generation" file="/bfs/status_queues.mako"/>
<%namespace name="fill" file="/bfs/fill.mako"/>
<%namespace name="stage" file="/grid/stage.mako"/>
<%namespace name="level" file="/bfs/level.mako"/>

<%def name="declarations()">
#define WAY_PUSHED 0u
#define WAY_SWITCH 1u
#define WAY_PULLED 2u
#define WAY_RETURN 3u
// Words of `tallies`: what COUNT adds up, what is published, and what is only reported.
% for name, index in tally_words.items():
#define TALLY_${name} ${index}
% endfor
#define TALLY_ULONG(name_) ((volatile __global ulong *)(tallies + (name_)))
#define CLASS_OF(degree_) (${" + ".join(f"((degree_) >= {edge}u)" for edge in degrees.module.CLASS_EDGES) if config.frontier.classes == 4 else "2u"})
// A vertex's distance as an int, UNREACHED before it is visited.
% if config.frontier.bits == 8:
#define STATUS_OF(v_) ((int)(uchar)(statuses[v_] + 1) - 1)
#define LATEST_STATUS_OF(v_) ((int)(uchar)(((volatile __global uchar *)statuses)[v_] + 1) - 1)
#define VISIT(v_, level_) statuses[v_] = (uchar)(level_)
% else:
#define STATUS_OF(v_) distances[v_]
#define LATEST_STATUS_OF(v_) (int)load_relaxed((volatile __global uint *)distances + (v_))
#define VISIT(v_, level_) distances[v_] = (int)(level_)
% endif
#define OUT_DEGREE(v_) ${rows.degree("v_")}
#define IN_DEGREE(v_) ${rows.in_degree("v_")}
</%def>

<%def name="setup()">
${tiles.setup()}
${classes.setup()}
${generation.setup()}
</%def>

<%def name="work()">
    __global uint *const queue_from = now.queue ? queue_odd : queue_even;
    __global uint *const queue_to = now.queue ? queue_even : queue_odd;
    volatile __global uint *const sizes = tallies + TALLY_SIZES + 4 * now.queue;
    uint begins[5];
    begins[0] = 0;
    for (uint c = 0; c < 4; ++c) begins[c + 1] = begins[c] + sizes[c];
    ulong edges_inspected = 0;
    uint cache_looks = 0, cache_hits = 0;
    % if "push" in stages:
    if (now.mode == PUSH) {
        ${classes.each_vertex(False)}
    }
    % endif
    % if "pull" in stages:
    if (now.mode == PULL) {
        ${classes.each_vertex(True)}
    }
    % endif
    % if "count" in stages:
    if (now.mode == COUNT) {
        ${generation.count()}
    }
    % endif
    % if "write" in stages:
    if (now.mode == WRITE) {
        ${generation.write()}
    }
    % endif
    % if "widen" in stages:
    if (now.mode == WIDEN) {
        <%tiles:each_tile count="n" size="${config.fill_tile}">
            for (uint v = tile_begin + lane_id(); v < tile_end; v += LANES) distances[v] = STATUS_OF(v);
        </%tiles:each_tile>
    }
    % endif
    ${fill.stage()}
    if (now.mode == PUSH || now.mode == PULL) {
        const ulong inspected_here = lane_reduce_add_ulong(edges_inspected);
        const uint looks_here = lane_reduce_add(cache_looks), hits_here = lane_reduce_add(cache_hits);
        if (lane_id() == 0 && inspected_here)
            atom_add(TALLY_ULONG(now.mode == PULL ? TALLY_PULLED_EDGES : TALLY_PUSHED_EDGES), inspected_here);
        if (lane_id() == 0 && looks_here) {
            atom_add(TALLY_ULONG(TALLY_LOOKS), (ulong)looks_here);
            atom_add(TALLY_ULONG(TALLY_HITS), (ulong)hits_here);
        }
    }
</%def>

## By one work-item: `next` from `now` and the tallies.
<%def name="decide()">
    fence_device();
    uint reached = 0, deepest = now.level;
    ulong explored = 0, work = 0, edges = 0;
    if (now.mode != FILL) {
        ${level.load_totals()}
    }
    const uint newly = tallies[TALLY_NEWLY];
    const int judged = now.mode == COUNT && (now.way == WAY_PUSHED || now.way == WAY_PULLED);
    int over = 0;
    next.length = now.length;
    if (now.mode == FILL) {
        const uint degree = OUT_DEGREE(source);
        for (uint i = 0; i < ${tally_count}u; ++i) tallies[i] = 0;
        tallies[TALLY_SIZES + CLASS_OF(degree)] = 1;
        queue_even[0] = source;
        reached = 1;
        edges = explored = degree;
        over = max_level == 0;
        next.mode = PUSH;
        next.way = WAY_PUSHED;
        next.length = 1;
        next.level = 1;
    } else if (now.mode == PUSH || now.mode == PULL) {
        next.mode = COUNT;
        next.way = now.pulls ? WAY_PULLED : WAY_PUSHED;
    } else if (now.mode == COUNT) {
        volatile __global uint *const next_sizes = tallies + TALLY_SIZES + 4 * (now.queue ^ 1u);
        uint left = 0;
        for (uint c = 0; c < 4; ++c) {
            next_sizes[c] = tallies[TALLY_CLASSES + c];
            left += tallies[TALLY_CLASSES + c];
            tallies[TALLY_CLASSES + c] = 0;
        }
        next.length = left;
        next.mode = ${"WRITE" if config.frontier.generation != "none" else "now.pulls ? PULL : PUSH"};
        if (judged) {
            edges = *TALLY_ULONG(TALLY_EDGES);
            ${judge()}
        }
        // A hub list belongs to the pull that follows.
        tallies[TALLY_HUBS_LISTED] = tallies[TALLY_HUBS_FOUND];
        if (next.mode != COUNT) tallies[TALLY_HUBS_FOUND] = 0;
        tallies[TALLY_NEWLY] = 0;
        tallies[TALLY_NEWLY_HUBS] = 0;
        *TALLY_ULONG(TALLY_EDGES) = 0;
        % if config.frontier.generation == "none":
        next.level += next.mode != COUNT;
        % endif
    } else if (now.mode != ${"WIDEN" if config.frontier.bits == 8 else "MODE_DONE"}) {
        next.mode = now.pulls ? PULL : PUSH;
        next.level += 1;
        next.queue ^= 1;
    }
    % if config.frontier.bits == 8:
    if (over) {
        next.mode = WIDEN;
        next.level = deepest;
    }
    if (now.mode == WIDEN) next.mode = MODE_DONE;
    % else:
    if (over) next.mode = MODE_DONE;
    % endif
    work += (ulong)n / 8 + edges + ${config.stage_work}u;
    ${stage.finish("next")}
    stage_by_one_group = 0;
    fence_device();
</%def>

## What follows the level that has just been counted.
<%def name="judge()">
            reached += newly;
            explored += edges;
            over = newly == 0 || now.level >= max_level;
            deepest -= newly == 0;
            % if config.frontier.bits == 8:
            if (!over && now.level == ${LAST_BYTE_LEVEL}u) over = state[OVERFLOWED] = 1;
            % endif
            % if config.pull:
            if (now.way == WAY_PUSHED) {
                % if config.pull.name == "hubs":
                const int turns = hub_total && 100ul * tallies[TALLY_NEWLY_HUBS] > ${config.pull.gamma}ul * hub_total;
                % else:
                const int turns = ${pull.reads_fewer("edges", "(m - min(m, explored))")};
                % endif
                if (turns) {
                    next.pulls = 1;
                    next.way = WAY_SWITCH;
                    next.mode = ${"COUNT" if config.frontier.generation != "none" else "PULL"};
                    *TALLY_ULONG(TALLY_SWITCHES) += 1;
                }
            } else {
                % if config.pull.beta:
                if (newly < n / ${config.pull.beta}u) {
                    next.pulls = 0;
                    next.way = WAY_RETURN;
                    next.mode = ${"COUNT" if config.frontier.generation != "none" else "PUSH"};
                    *TALLY_ULONG(TALLY_RETURNS) += 1;
                }
                % endif
                % if config.frontier.generation != "none":
                over |= left == 0;
                % endif
            }
            % endif
</%def>

## By the same work-item, while the next stage is already running.
<%def name="settle()">
    ${level.store_sums()}
    if (done) state[DEPTH] = deepest;
    if (now.mode == FILL && level_capacity)
        levels[0] = (uint4)(1u, (uint)edges, over ? MODE_DONE : PUSH, device_clock_ns());
    if (judged && now.level < level_capacity)
        levels[now.level] = (uint4)(newly, (uint)edges, over ? MODE_DONE : next.pulls ? ${"PULL" if config.pull else "PUSH"} : PUSH, device_clock_ns());
</%def>

<%def name="by_one_group()"></%def>
