// Brandes' betweenness by weights, given the lengths of the shortest paths from every source.
//
// An edge is tight where a shortest path leads along it: tight edges form an acyclic graph, since
// weights are positive. `pending` counts those into a vertex that no path has come along yet; when
// there are none, its paths are all counted and it joins the frontier. Backward as without weights.
//// init
for (uint u = lid; u < n; u += WG) {
    if (lengths[(ulong)i * n + u] == unreached) continue;
    ADD(reached, 0, 1);
    for (offset_t e = indptr[u]; e < indptr[u + 1]; ++e) {
        const uint v = indices[e];
        if (lengths[(ulong)i * n + v] > lengths[(ulong)i * n + u]
            && lengths[(ulong)i * n + u] + weights[e] == lengths[(ulong)i * n + v])
            ADD(pending, v, 1);
    }
}
if (lid == 0) paths[src] = 1;
//// where
lengths[(ulong)i * n + v] > lengths[(ulong)i * n + u]
&& lengths[(ulong)i * n + u] + weights[e] == lengths[(ulong)i * n + v]
//// visit
ADD(paths, v, paths[u]);
if (atomic_dec(pending + v) == 1) ENQ(v);
//// post
if (lid == 0) reached[1] += frontier_size;
//// back
if (lengths[(ulong)i * n + v] > lengths[(ulong)i * n + u]
    && lengths[(ulong)i * n + u] + weights[e] == lengths[(ulong)i * n + v])
    SUM(coefs[v]);
//// back_vertex
coefs[u] = sum + 1 / paths[u];
if (u != src) ADD(scores, u, sum * paths[u]);
if (!isfinite(coefs[u]) || isinf(paths[u])) ADD(overflows, 0, 1);
//// finalize
if (lid == 0 && reached[1] + 1 != reached[0]) ADD(overflows, 1, 1);
//// edge_back
if (lengths[(ulong)i * n + v] > lengths[(ulong)i * n + u]
    && lengths[(ulong)i * n + u] + weights[e] == lengths[(ulong)i * n + v]) {
    SUM(coefs[v]);
    ADD(scores, e, coefs[v] * paths[u]);
}
//// edge_back_vertex
coefs[u] = sum + 1 / paths[u];
if (!isfinite(coefs[u]) || isinf(paths[u])) ADD(overflows, 0, 1);
