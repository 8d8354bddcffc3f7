// Brandes' betweenness: paths counts the shortest paths to a vertex, forward; coefs is what each of
// them has, on the average, of itself and of the paths that lead on, backward.
//
// A vertex is claimed by its depth itself, so whoever finds it taken knows at which depth; both then
// add their paths. Where counts come near the largest number, those of the level after the next are
// scaled down, all alike: only their ratios matter, between levels by the factor noted in `scaled`.
//// init
if (lid == 0) {
    depths[src] = 0;
    paths[src] = 1;
}
//// prior
if (lid == 0 && many[0]) {
    many[0] = 0;
    scaled[level] = 1;
}
//// where
depths[v] < 0 || depths[v] == (int)level + 1
//// visit
const int before = CLAIM(depths, v, -1, (int)level + 1);
if (before == -1) ENQ(v);
if (before == -1 || before == (int)level + 1) {
    const REAL more = scaled[level] ? paths[u] * factor : paths[u];
    ADD(paths, v, more);
    if (more > high) many[0] = 1;
}
//// back
if (depths[v] == (int)level + 1) SUM(coefs[v]);
//// back_vertex
const REAL onward = scaled[level] ? sum * factor : sum;
coefs[u] = onward + 1 / paths[u];
if (u != src) ADD(scores, u, onward * paths[u]);
if (!isfinite(coefs[u]) || isinf(paths[u])) ADD(overflows, 0, 1);
//// edge_back
if (depths[v] == (int)level + 1) {
    SUM(coefs[v]);
    ADD(scores, e, (scaled[level] ? coefs[v] * factor : coefs[v]) * paths[u]);
}
//// edge_back_vertex
const REAL onward = scaled[level] ? sum * factor : sum;
coefs[u] = onward + 1 / paths[u];
if (!isfinite(coefs[u]) || isinf(paths[u])) ADD(overflows, 0, 1);
