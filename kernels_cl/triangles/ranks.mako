## ranks: vertices sorted by degree, the greatest first, by counting: how many of each bucket, where each
## bucket begins, and the rank of each vertex.
##
## bucket()      uint bucket_of(uint): exact below 2,048, then 128 to an octave
## counted(leave)   an array of buckets in local memory, of what the body counts; barriers
## kernels()     bucket(), orient_histogram, orient_starts (one group), orient_rank
## In scope      takes: what each kernel takes; BUCKETS
## Race          ranks within a bucket go to whoever comes first

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
<%namespace name="share" file="/grid/items.mako"/>

<%def name="bucket()">\
static inline uint bucket_of(const uint degree) {
    if (degree < 2048u) return degree;
    const uint octave = 31u - clz(degree);
    return 2048u + (octave - 11u) * 128u + (degree >> (octave - 7u) & 127u);
}
</%def>

## Body may count in `mine`, by bucket; then `leave` is done with the count of each bucket `b` that has one.
<%def name="counted(leave)">
    __local uint mine[BUCKETS];
    const uint lid = (uint)get_local_id(0);
    for (uint b = lid; b < BUCKETS; b += GROUP_SIZE) mine[b] = 0u;
    group_barrier();
    ${caller.body()}
    group_barrier();
    for (uint b = lid; b < BUCKETS; b += GROUP_SIZE)
        if (mine[b]) ${leave};
</%def>

<%def name="kernels()">\
${bucket()}\

${group.kernel()} orient_histogram(
${signature.parameters(takes["histogram"], last=True)}\
{
    <%self:counted leave="atomic_add(&counts[b], mine[b])">
    <%share:each_item count="n">
        atomic_inc(&mine[bucket_of((uint)(indptr[item + 1] - indptr[item]))]);
    </%share:each_item>
    </%self:counted>
}

// Where each bucket begins, the greatest degree first. One group, whose SIMD groups have a stretch each.
${group.kernel()} orient_starts(
${signature.parameters(takes["starts"], last=True)}\
{
    ${lanes.setup()}
    __local uint sums[GROUP_LANES];
    const uint stretch = (BUCKETS + GROUP_LANES - 1u) / GROUP_LANES;
    const uint first = min(LANE_GROUP * stretch, BUCKETS), end = min(first + stretch, BUCKETS);
    uint count = 0u;
    for (uint at = first + lane_id(); at < end; at += LANES) count += counts[BUCKETS - 1u - at];
    lane_converge();
    count = lane_reduce_add(count);
    if (lane_id() == 0u) sums[LANE_GROUP] = count;
    group_barrier();
    uint before = 0u;
    for (uint i = 0u; i < LANE_GROUP; ++i) before += sums[i];
    for (uint base = first; base < end; base += LANES) {
        const uint at = base + lane_id();
        const uint own = at < end ? counts[BUCKETS - 1u - at] : 0u;
        const uint scanned = lane_scan_inclusive_add(own);
        if (at < end) counts[BUCKETS - 1u - at] = before + scanned - own;
        before += lane_broadcast(scanned, LANES - 1u);
    }
}

// `long_rows` gets the number of rows with more than SHORT_ROW edges: the first so many ranks.
${group.kernel()} orient_rank(
${signature.parameters(takes["rank"], last=True)}\
{
    <%self:counted leave="mine[b] = atomic_add(&starts[b], mine[b])">
    {
        <%share:each_item count="n">
            atomic_inc(&mine[bucket_of((uint)(indptr[item + 1] - indptr[item]))]);
        </%share:each_item>
    }
    </%self:counted>
    group_barrier();
    {
        <%share:each_item count="n">
            const uint r = atomic_inc(&mine[bucket_of((uint)(indptr[item + 1] - indptr[item]))]);
            ranks[item] = r;
            vertices[r] = item;
        </%share:each_item>
    }
}
</%def>
