// Lengths as of lengths.cl, where every level looks at every edge and nothing can be set aside: Bellman
// and Ford's algorithm. Those whose length became less are looked at again in the next level.
//// init
if (lid == 0) lengths[src] = 0;
//// where
lengths[u] + weights[e] < lengths[v]
//// visit
if (DECREASE(lengths, v, lengths[u] + weights[e])) ENQ(v);
