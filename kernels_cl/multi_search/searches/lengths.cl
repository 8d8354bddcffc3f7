// Lengths of shortest paths by weights that are not negative: lengths [n], `unreached` where there is
// no path.
//
// Near and far: a vertex whose length became less is looked at again in the next level, once each, if
// it is at most high[0] away; others are set aside, once a search. When nothing near is left, that
// bound rises to `delta` beyond the least that was set aside, least[0]. What is aside but not beyond
// low[0], the bound before, was reached by a shorter way and is done.
//// init
if (lid == 0) {
    lengths[src] = 0;
    high[0] = delta;
}
//// where
lengths[u] + weights[e] < lengths[v]
//// visit
const TYPE(lengths) to = lengths[u] + weights[e];
if (DECREASE(lengths, v, to)) {
    if (to <= high[0]) {
        const uint before = queued[v];
        if (before != level + 1 && CLAIM(queued, v, before, level + 1) == before) ENQ(v);
    } else {
        if (to < least[0]) DECREASE(least, 0, to);
        if (FIRST(v)) ASIDE(v);
    }
}
//// exhausted
if (lid == 0) {
    low[0] = high[0];
    high[0] = least[0] < unreached - delta ? least[0] + delta : unreached;
    least[0] = unreached;
}
//// again
if (lengths[v] > low[0]) {
    if (lengths[v] <= high[0]) {
        ENQ(v);
    } else {
        DECREASE(least, 0, lengths[v]);
        ASIDE(v);
    }
}
