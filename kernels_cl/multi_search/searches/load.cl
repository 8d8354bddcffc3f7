// Load: what passes through a vertex if everybody sends a packet to the source, and packets part
// evenly among the neighbours that are nearer to it.
//
// A vertex is claimed by its depth itself; before_it counts the neighbours that are nearer.
//// init
if (lid == 0) depths[src] = 0;
//// where
depths[v] < 0 || depths[v] == (int)level + 1
//// visit
const int before = CLAIM(depths, v, -1, (int)level + 1);
if (before == -1) ENQ(v);
if (before == -1 || before == (int)level + 1) ADD(before_it, v, 1);
//// back
if (depths[v] == (int)level + 1) SUM(load[v] / before_it[v]);
//// back_vertex
load[u] = sum + 1;
if (u != src) ADD(scores, u, sum);
//// edge_back
if (depths[v] == (int)level + 1) {
    SUM(load[v]);
    ADD(scores, e, load[v] - 1);
}
//// edge_back_vertex
load[u] = 1 + (before_it[u] ? sum / before_it[u] : 0);
