// Brandes' betweenness of some pairs: a path that ends at v counts aims[v], one that begins at the
// source shares[src] of that.
//
// A vertex is claimed by its depth itself, as in betweenness.cl. Counts are not scaled down: too
// many paths overflow, which is noticed.
//
// Along edges (edge_back) a vertex that is no aim hands what it has evenly to those before it, and
// an aim by their paths: that is what networkx does.
//// init
if (lid == 0) {
    depths[src] = 0;
    paths[src] = 1;
}
//// where
depths[v] < 0 || depths[v] == (int)level + 1
//// visit
const int before = CLAIM(depths, v, -1, (int)level + 1);
if (before == -1) ENQ(v);
if (before == -1 || before == (int)level + 1) {
    ADD(paths, v, paths[u]);
    ADD(before_it, v, 1);
}
//// back
if (depths[v] == (int)level + 1) SUM((aims[v] + onward[v]) / paths[v]);
//// back_vertex
onward[u] = sum * paths[u];
if (u != src) ADD(scores, u, onward[u] * shares[src]);
if (!isfinite(onward[u]) || isinf(paths[u])) ADD(overflows, 0, 1);
//// edge_back
if (depths[v] == (int)level + 1) {
    const REAL part = aims[v] != 0 ? paths[u] / paths[v] * (1 + onward[v]) : onward[v] / before_it[v];
    SUM(part);
    ADD(scores, e, part);
}
//// edge_back_vertex
onward[u] = sum;
if (!isfinite(onward[u]) || isinf(paths[u])) ADD(overflows, 0, 1);
