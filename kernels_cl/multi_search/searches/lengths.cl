// Lengths of shortest paths by weights that are not negative: lengths [n], `unreached` where there is
// no path. Bellman and Ford's algorithm with a frontier: those whose length became less are looked at
// again in the next level, once each.
//// init
if (lid == 0) lengths[src] = 0;
//// where
lengths[u] + weights[e] < lengths[v]
//// visit
if (DECREASE(lengths, v, lengths[u] + weights[e])) {
    const uint before = queued[v];
    if (before != level + 1 && CLAIM(queued, v, before, level + 1) == before) ENQ(v);
}
