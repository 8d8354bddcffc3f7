<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
// Brandes' betweenness of an undirected graph, a search by each work-group, with everything that is
// known of a vertex kept in the order in which the search found it.
//
// Levels lie one after the other in that order, so what is read of a level is read in a row; only the
// places of neighbours are looked up one by one. Forward, a vertex adds up the paths to those of its
// neighbours that have places before its level, while it claims those without a place. It keeps the
// first two of the former; backward, it hands its share to them, and only where there were more are
// its edges read again.
//
// Race: a place may be read while it is claimed or given out. It then says that the neighbour is in
// no earlier level, whatever is read.

${lanes.vocabulary()}
${memory.vocabulary()}
${adding.vocabulary()}
${group.declarations()}
${lane_scan.functions("real_sum", config.real, "0", "a + b")}
% for name, index in status_words.items():
#define STATUS_${name.upper()} ${index}
% endfor

typedef ${config.real} real_t;
#define UNSEEN 0xffffffffu                          // places of vertices that are not found,
#define CLAIMED 0xfffffffeu                         // or have no place yet
#define NONE 0xffffffffu                            // instead of a parent
#define AGAIN 0xfffffffeu                           // instead of more than two of them
#define WIDE_ROW ${config.wide_row}u                // edges from which all lanes share a row
#define SCALED 0x80000000u                          // in `begins`: paths of the level are scaled down

% if config.sequential:
#define ADD_ONWARD(place, x) (onward[place] += (x))
% else:
#define ADD_ONWARD(place, x) atomic_add_${config.real}(onward + (place), (x))
% endif

${group.kernel()} betweenness_ordered(
    __global const offset_t *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,          // [m], without repeats
    __global const uint *restrict sources,          // [searches]
    const uint n,
    const ulong m,
    const uint searches,
    const uint first_search,                        // this launch runs [first_search, end_search)
    const uint end_search,
% for state in states:
    __global ${state.ctype} *all_${state.name},     // [groups, size], or [size]
    const ulong size_${state.name},
    const ${state.ctype} fill_${state.name},
% endfor
    const real_t high,                              // paths beyond which the next level is scaled
    const real_t factor,                            // by this
    volatile __global uint *status)
{
    ${lanes.setup()}
    const uint lid = (uint)get_local_id(0);
    % for state in states:
    % if state.per == "group":
    __global ${state.ctype} *const ${state.name} = all_${state.name} + get_group_id(0) * size_${state.name};
    % endif
    % endfor
    __global uint2 *const parents = (__global uint2 *)parent_pairs;
    __local uint taken_search;
    __local uint found[3], many[3];                 // of levels in turn
    for (;;) {
        if (lid == 0) taken_search = atomic_inc(status + STATUS_TAKEN);
        if (lid == 0) found[0] = found[1] = many[0] = many[1] = 0;
        group_barrier();
        if (taken_search >= end_search - first_search) break;
        const uint source = sources[first_search + taken_search];
        for (uint v = lid; v < n; v += GROUP_SIZE) places[v] = UNSEEN;
        group_barrier_global();
        if (lid == 0) {
            order[0] = source;
            places[source] = 0;
            begins[0] = 0;
        }
        group_barrier_global();
        uint level = 0, turn = 0, begin = 0, end = 1, scale = 0;
        while (begin < end) {
            const real_t step = scale ? factor : (real_t)1;
            ${expand()}
            group_barrier_global();
            begin = end;
            end += found[turn];
            scale = many[turn] ? SCALED : 0u;
            turn = turn == 2 ? 0 : turn + 1;
            ++level;
            if (lid == 0) {
                const uint later = turn == 2 ? 0 : turn + 1;
                found[later] = many[later] = 0;
                begins[level] = begin | scale;
            }
        }
        group_barrier_global();
        // The last level is empty; the first is the source, whose paths are not counted.
        while (--level > 0) {
            const real_t step = begins[level] & SCALED ? factor : (real_t)1;
            begin = begins[level] & ~SCALED;
            end = begins[level + 1] & ~SCALED;
            ${hand_back()}
            group_barrier_global();
        }
    }
}

## A lane has a place of the level each.
<%def name="each_place()">
for (uint tile = LANE_GROUP * LANES; tile < end - begin; tile += GROUP_SIZE) {
    const uint place = begin + tile + lane_id();
    const int has_vertex = place < end;
    const uint u = has_vertex ? order[place] : 0u;
    ${caller.body()}
}
</%def>

## Places of `count` neighbours of this lane, all asked for before the first is looked at; those that
## nobody has claimed join the order.
<%def name="look_up(count)">
% for k in range(count):
const uint v${k} = active${k} ? indices[e${k}] : 0u;
% endfor
% for k in range(count):
const uint before${k} = active${k} ? places[v${k}] : CLAIMED;
% endfor
% for k in range(count):
% if config.sequential:
const uint fresh${k} = before${k} == UNSEEN;
if (fresh${k}) places[v${k}] = CLAIMED;
% else:
const uint fresh${k} = before${k} == UNSEEN && atomic_cmpxchg(places + v${k}, UNSEEN, CLAIMED) == UNSEEN;
% endif
% endfor
const uint fresh_here = ${" + ".join(f"fresh{k}" for k in range(count))};
if (lane_any(fresh_here)) {
    uint at = lane_scan_exclusive_add(fresh_here);
    uint base = 0;
    if (lane_id() == LANES - 1) base = atomic_add(&found[turn], at + fresh_here);
    at += end + lane_broadcast(base, LANES - 1);
    % for k in range(count):
    if (fresh${k}) {
        order[at] = v${k};
        places[v${k}] = at++;
    }
    % endfor
}
</%def>

<%def name="expand()">
<%self:each_place>
    const offset_t row_begin = indptr[u], row_end = has_vertex ? indptr[u + 1] : row_begin;
    real_t sum = 0;
    uint2 kept = (uint2)(NONE, NONE);
    uint degree = (uint)min((ulong)(row_end - row_begin), (ulong)WIDE_ROW);
    % if config.shares_rows:
    lanemask_t wide = lane_ballot(degree == WIDE_ROW);
    if (degree == WIDE_ROW) {
        kept.x = AGAIN;
        degree = 0;
    }
    while (wide) {
        const uint owner = lanemask_first(wide);
        wide &= wide - 1;
        const offset_t wide_end = SHUFFLE_OFFSET(row_end, owner);
        real_t part = 0;
        for (offset_t first = SHUFFLE_OFFSET(row_begin, owner); first < wide_end; first += LANES) {
            const offset_t e0 = first + lane_id();
            const int active0 = e0 < wide_end;
            ${look_up(1)}
            if (before0 < begin) part += paths[before0];
        }
        part = lane_reduce_in_real_sum(LANE_ARGS part);
        if (lane_id() == owner) sum = part;
    }
    % endif
    const uint longest = lane_reduce_max(degree);
    for (uint i = 0; i < longest; i += ${config.batch}u) {
        % for k in range(config.batch):
        const int active${k} = i + ${k}u < degree;
        const offset_t e${k} = row_begin + i + ${k}u;
        % endfor
        ${look_up(config.batch)}
        % for k in range(config.batch):
        if (before${k} < begin) {
            sum += paths[before${k}];
            if (kept.x == NONE) kept.x = before${k};
            else if (kept.y == NONE) kept.y = before${k};
            else kept.x = AGAIN;
        }
        % endfor
    }
    if (has_vertex) {
        sum = place ? sum * step : (real_t)1;
        if (sum > high) many[turn] = 1;
        paths[place] = sum;
        onward[place] = 0;
        parents[place] = kept;
    }
</%self:each_place>
</%def>

<%def name="hand_back()">
<%self:each_place>
    real_t share = 0;
    uint2 kept = (uint2)(NONE, NONE);
    if (has_vertex) {
        const real_t here = paths[place], beyond = onward[place];
        if (beyond != 0) atomic_add_${config.real}(all_scores + u, beyond * here);
        share = beyond + 1 / here;
        if (!isfinite(share) || isinf(here)) all_overflows[0] = 1;
        share *= step;
        kept = parents[place];
        if (kept.x < AGAIN) {
            ADD_ONWARD(kept.x, share);
            if (kept.y != NONE) ADD_ONWARD(kept.y, share);
        }
    }
    lanemask_t again = lane_ballot(kept.x == AGAIN);
    while (again) {
        const uint owner = lanemask_first(again);
        again &= again - 1;
        const uint whose = lane_shuffle(u, owner);
        const real_t its_share = real_sum_shuffle(LANE_ARGS share, owner);
        const offset_t row_end = indptr[whose + 1];
        for (offset_t e = indptr[whose] + lane_id(); e < row_end; e += LANES) {
            const uint before = places[indices[e]];
            if (before < begin) ADD_ONWARD(before, its_share);
        }
    }
</%self:each_place>
</%def>
