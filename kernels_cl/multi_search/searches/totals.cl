// What is known of a search without its distances: totals ulong [3] are the vertices reached, the
// source among them, the sum of their distances, and the largest; harmonic double [1] is the sum of
// the reciprocals of the distances.
//// init
if (lid == 0) totals[0] = 1;
//// where
!SEEN(v)
//// visit
if (FIRST(v)) ENQ(v);
//// post
if (lid == 0 && frontier_size) {
    totals[0] += frontier_size;
    totals[1] += (ulong)frontier_size * level;
    totals[2] = level;
    harmonic[0] += frontier_size / (REAL)level;
}
