## snippets: the user's code as functions, each with the names of one search in scope.
##
## declarations()   at file scope, once: the functions and the words that snippets use
## call(hook)       where a snippet of the whole group runs
## hooks            what the user gave, by name; lines of it are reported as the user's own
## states, arguments, problem   see clgraph/algorithms/multi_search/state.py
## Words            ENQ(x), in visit, again   x joins the next frontier; once a call
##                  ASIDE(x), in the same  x is set aside, and asked about when the frontier is empty
##                  FIRST(x), SEEN(x)      take, or look at, the visited mark of a vertex
##                  ADD(array, index, x)   add without losing what others add at the same time
##                  CLAIM(array, index, from, to)   compare, exchange if equal, give what was there
##                  DECREASE(array, index, x)   put x there if it is less; tell whether it was
##                  TYPE(array)            that of its elements
##                  REAL, WG               the type of sums; work-items of a group
##                  GROUP_BARRIER()        not in where, visit, back and back_vertex
## Alone            where a search has one work-item, its own arrays need no atomics

<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="decreasing" file="/memory/decreasing.mako"/>

<%!
    COMMON = (
        ("const uint", "i", "search"), ("const uint", "src", "source"), ("const uint", "level", "level"),
        ("const uint", "frontier_size", "frontier_size"), ("const uint", "lid", "lid"),
        ("const uint", "n", "n"), ("const ulong", "m", "m"), ("const uint", "k", "searches"),
        ("__global const offset_t *const", "indptr", "indptr"),
        ("__global const uint *const", "indices", "indices"),
    )
    EDGE = "const uint u, const uint v, const offset_t e"
    ATOMIC_ADD = {
        "int": "atomic_add", "uint": "atomic_add", "long": "atom_add", "ulong": "atom_add",
        "float": "atomic_add_float", "double": "atomic_add_double",
    }
%>

<%def name="names()"><%
    names = list(COMMON)
    if problem.visited:
        names.append(("__global uint *const", "search_visited", "visited"))
    for state in states:
        names.append((f"__global {state.ctype} *const", state.name, f"state_{state.name}"))
    for given in arguments:
        names.append((f"__global const {given.ctype} *const" if given.is_array else f"const {given.ctype}", given.name, f"argument_{given.name}"))
    if problem.keep_levels:
        names += [("const uint", "levels", "levels"), ("__global const uint *const", "search_order", "queues"),
                  ("__global const uint *const", "search_offsets", "offsets"), ("const uint", "search_capacity", "capacity")]
    return names
%></%def>

## One line, since a snippet's name in it must not be cut by the line directives around it.
<%def name="parameters()">${", ".join(f"{kind} {name}" for kind, name, _ in names())}</%def>
<%def name="values()">${", ".join(value for _, _, value in names())}</%def>

<%def name="declarations()">
#define WG GROUP_SIZE
#define REAL ${problem.sum_type}
#define GROUP_BARRIER() group_barrier_global()
#define ADD(array, index, x) ADD_##array(&array[index], (x))
#define CLAIM(array, index, from, to) CLAIM_##array(&array[index], (from), (to))
% if problem.decreased:
#define DECREASE(array, index, x) DECREASE_##array(&array[index], (x))
% endif

% if problem.visited:
#define SEEN(x) (search_visited[(x) >> 5] >> ((x) & 31u) & 1u)
#define FIRST(x) search_first(search_visited, (x))

static inline int search_first(__global uint *visited, const uint x) {
    const uint bit = 1u << (x & 31u), word = visited[x >> 5];
    if (word & bit) return 0;
    % if config.one_item:
    visited[x >> 5] = word | bit;
    return 1;
    % else:
    return !(atomic_or(visited + (x >> 5), bit) & bit);
    % endif
}
% endif

#define TYPE(array) TYPE_##array
% for state in states:
typedef ${state.ctype} TYPE_${state.name};
<% unshared = config.one_item and state.per != "run" %>
% if unshared:
static inline void ADD_${state.name}(__global ${state.ctype} *p, const ${state.ctype} x) { *p += x; }
% elif state.ctype in ATOMIC_ADD and adding.module.adds(context, state.ctype):
static inline void ADD_${state.name}(__global ${state.ctype} *p, const ${state.ctype} x) { ${ATOMIC_ADD[state.ctype]}(p, x); }
% endif
% if unshared or state.ctype in ("int", "uint"):
static inline ${state.ctype} CLAIM_${state.name}(__global ${state.ctype} *p, const ${state.ctype} from, const ${state.ctype} to) {
    const ${state.ctype} before = *p;
    if (before != from) return before;
    % if unshared:
    *p = to;
    return before;
    % else:
    return atomic_cmpxchg(p, from, to);
    % endif
}
% endif
% if problem.decreased and (unshared or decreasing.module.decreases(context, state.ctype)):
static inline int DECREASE_${state.name}(__global ${state.ctype} *p, const ${state.ctype} x) {
    % if unshared:
    const int less = x < *p;
    if (less) *p = x;
    return less;
    % else:
    ${decreasing.body(state.ctype, "p", "x")}
    % endif
}
% endif
% endfor

% if hooks.get("where"):
static inline int search_where(${parameters()}, ${EDGE}) {
    return !!(
${quoted("where")}
    );
}
% endif

#define ENQ(x) (*search_enqueued = (x), ++*search_enqueues)
% if hooks.get("again"):
#define ASIDE(x) (*search_set_aside = (x), ++*search_sets_aside)
% endif
% if hooks.get("visit"):
static inline __attribute__((always_inline)) void search_visit(${parameters()}, ${EDGE}, ${found()}) {
${quoted("visit")}
}
% endif
% if hooks.get("again"):
static inline __attribute__((always_inline)) void search_again(${parameters()}, const uint v, ${found()}) {
${quoted("again")}
}
#undef ASIDE
% endif
#undef ENQ

% if problem.keep_levels:
#define LEVEL_SIZE(l) (search_offsets[2 * (l) + 2] - search_offsets[2 * (l)] + search_offsets[2 * (l) + 3] - search_offsets[2 * (l) + 1])
#define LEVEL_VERTEX(l, j) search_vertex(search_order, search_offsets, search_capacity, (l), (j))
static inline uint search_vertex(__global const uint *order, __global const uint *offsets, const uint capacity, const uint l, const uint j) {
    const uint long_rows = offsets[2 * l + 2] - offsets[2 * l];
    return j < long_rows ? order[offsets[2 * l] + j] : order[capacity - 1 - offsets[2 * l + 1] - (j - long_rows)];
}
% endif

% if hooks.get("back"):
#define SUM(x) (search_sum += (x))
static inline ${problem.sum_type} search_back(${parameters()}, ${EDGE}) {
    ${problem.sum_type} search_sum = 0;
    {
${quoted("back")}
    }
    return search_sum;
}
#undef SUM
% endif
% if hooks.get("back_vertex"):
static inline void search_back_vertex(${parameters()}, const uint u, const ${problem.sum_type} sum) {
${quoted("back_vertex")}
}
% endif

% for hook in ("init", "prior", "post", "exhausted", "finalize"):
% if hooks.get(hook):
static inline __attribute__((always_inline)) void search_${hook}(${parameters()}) {
${quoted(hook)}
}
% endif
% endfor
</%def>

<%def name="quoted(hook)">\
#line 1 "${hook}"
${hooks[hook]}
#line 1 "after ${hook}"\
</%def>

## Where a visit leaves what it enqueues, and what it sets aside where something may be.
<%def name="found()">uint *search_enqueued, uint *search_enqueues${", uint *search_set_aside, uint *search_sets_aside" if hooks.get("again") else ""}</%def>

## Refuse what is no vertex, or a second one of the same visit.
<%def name="check(vertex, times)">
if (${times} && (${times} > 1 || ${vertex} >= n)) {
    status[${times} > 1 ? STATUS_ENQUEUED_TWICE : STATUS_NO_VERTEX] = 1;
    ${times} = 0;
}
</%def>

<%def name="call(hook)">
% if hooks.get(hook):
search_${hook}(${values()});
group_barrier_global();
% endif
</%def>
