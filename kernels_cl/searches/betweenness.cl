// Brandes' betweenness: paths counts the shortest paths to a vertex, forward; share is what the
// vertex has of the paths that lead on, backward.
//
// A vertex is claimed by its depth itself, so whoever finds it taken knows at which depth; both then
// add their paths. The sum that `back` makes for u has its paths taken out.
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
if (before == -1 || before == (int)level + 1) ADD(paths, v, paths[u]);
//// back
if (depths[v] == (int)level + 1) {
    SUM((1 + shares[v]) / paths[v]);
}
//// back_vertex
shares[u] = sum * paths[u];
if (u != src) ADD(scores, u, shares[u]);
if (!isfinite(paths[u])) ADD(overflows, 0, 1);
//// edge_back
if (depths[v] == (int)level + 1) {
    SUM((1 + shares[v]) / paths[v]);
    ADD(scores, e, paths[u] / paths[v] * (1 + shares[v]));
}
//// edge_back_vertex
shares[u] = sum * paths[u];
if (!isfinite(paths[u])) ADD(overflows, 0, 1);
