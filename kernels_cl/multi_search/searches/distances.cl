// Hop distances from every source: distances int [n], -1 where there is no path.
//// init
if (lid == 0) distances[src] = 0;
//// where
!SEEN(v)
//// visit
if (FIRST(v)) {
    distances[v] = level + 1;
    ENQ(v);
}
