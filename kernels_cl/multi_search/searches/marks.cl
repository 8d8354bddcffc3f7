// Which vertices every source reaches: marks uchar [n], 1 for those.
//// init
if (lid == 0) marks[src] = 1;
//// where
!SEEN(v)
//// visit
if (FIRST(v)) {
    marks[v] = 1;
    ENQ(v);
}
