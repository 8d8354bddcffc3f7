## union_find: trees of vertices that point to smaller ones, joined by whoever finds an edge.
##
## functions()   at file scope, after memory.vocabulary(): find_root, join and root_above
## meeting(space, suffix)   at file scope: find_root and unite, with a suffix, of trees in `space`, __global
##                          or __local
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
##
## A root points to itself. Finding roots runs beside joining: whatever it reads is an ancestor, perhaps
## not the nearest to the root any more; only the compare-and-swap on a root decides, and it hooks the
## larger root to the smaller, so there are no cycles and the root of a finished tree is its smallest
## vertex. Paths are shortened by plain stores of ancestors, which may overwrite one another in any order:
## so where every vertex is to end up with its root, each stores its own alone, and nobody shortens.

<%def name="finding(space, suffix='')">\
// The root above v, by the way halving the path.
static inline uint find_root${suffix}(${space} uint *parent, const uint v) {
    uint before = v, here = parent[v];
    if (here == v) return here;
    for (uint above = parent[here]; above < here; above = parent[here]) {
        parent[before] = above;
        before = here;
        here = above;
    }
    return here;
}
</%def>

<%def name="meeting(space, suffix='')">\
${finding(space, suffix)}\
// Joins the trees of two vertices. Only from the larger of both one goes on to what is above it, so that
// paths that meet are not followed to their root; a root is hooked to the other, whether that is one or not.
// Without halving paths on the way, trees of meshes and geometric graphs grow a hundred times deeper.
static inline void unite${suffix}(${space} uint *parent, uint a, uint b) {
    while (a != b) {
        const uint high = a > b ? a : b, low = a > b ? b : a;
        uint met = parent[high];
        if (met == high) met = atomic_cmpxchg(&parent[high], high, low);
        if (met == high) return;
        const uint above = parent[met];
        if (above < met) parent[high] = above;
        a = met;
        b = low;
    }
}
</%def>

<%def name="functions()">\
${finding("__global")}\

// The same without shortening, once nothing is joined any more.
static inline uint root_above(const __global uint *parent, const uint v) {
    uint root = parent[v];
    for (uint above = parent[root]; above < root; above = parent[root]) root = above;
    return root;
}

// `shorten`, a constant: whether to shorten paths on the way. Where trees are flat and very many come to the same
// roots, their stores to the same few words take longer than they save.
static inline void join_by(__global uint *parent, const uint u, const uint v, const int shorten) {
    uint a = shorten ? find_root(parent, u) : root_above(parent, u);
    uint b = shorten ? find_root(parent, v) : root_above(parent, v);
    while (a != b) {
        const uint high = a > b ? a : b, low = a > b ? b : a;
        uint met = load_relaxed(parent + high);
        if (met == high) met = atomic_cmpxchg(&parent[high], high, low);
        if (met == high) return;
        // Others wait for the same word: from here on by loads, which do not queue up as atomics do.
        a = root_above(parent, met);
        b = low;
    }
}

static inline void join(__global uint *parent, const uint u, const uint v) {
    join_by(parent, u, v, 1);
}
</%def>
