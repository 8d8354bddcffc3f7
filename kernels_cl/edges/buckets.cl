// Rows of many edges in no order, on a processor: edges go to buckets of neighbouring sources, and
// each bucket, which a cache holds, is sorted by counting: by either half of the target, then by source.
//
// Each work-item has a share of the edges or buckets, and counters and places of its own, so there
// are no races. A key is what the bucket leaves of the source, above the target.
//
// Loops over edges are unrolled: a processor remembers by instruction which loads met a store that had
// not ended, and of one load and one store of a counter it has each turn wait for the one before.
//
// Stores end in their order, so one to memory that no cache has holds up all that follow. Where the
// compiler has a word for it, such memory is asked for before.
#define SOON_WRITTEN(array, at)
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
#undef SOON_WRITTEN
#define SOON_WRITTEN(array, at) __builtin_prefetch((const void *)(uintptr_t)((array) + (at)), 1)
#endif
#endif
#define AHEAD 16u // keys of a line, the next one of which is asked for

#define SHARE(own) ((uint)((ulong)count * (own) / items))

// How many edges of each share go to each bucket.
__kernel void buckets_count(
    __global const uint *restrict src,          // [count]
    const uint count,
    const uint shift,                           // bits of a source that the bucket leaves
    const uint buckets,
    __global uint *restrict counts)             // [work-items * buckets] out
{
    const uint own = get_global_id(0), items = get_global_size(0);
    for (uint bucket = 0; bucket < buckets; ++bucket) counts[own * buckets + bucket] = 0;
#pragma unroll 8
    for (uint edge = SHARE(own); edge < SHARE(own + 1u); ++edge) ++counts[own * buckets + (src[edge] >> shift)];
}

__kernel void buckets_scatter(
    __global const uint *restrict src,          // [count]
    __global const uint *restrict dst,          // [count]
    const uint count,
    const uint shift,
    const uint bits,                            // of a target
    const uint buckets,
    __global uint *restrict places,             // [work-items * buckets] in/out: where the next edge goes
    __global uint *restrict keys)               // [count] out
{
    const uint own = get_global_id(0), items = get_global_size(0);
#pragma unroll 8
    for (uint edge = SHARE(own); edge < SHARE(own + 1u); ++edge) {
        const uint u = src[edge];
        const uint place = places[own * buckets + (u >> shift)]++;
        SOON_WRITTEN(keys, place + AHEAD);
        keys[place] = (u & ((1u << shift) - 1u)) << bits | dst[edge];
    }
}

// Have counts be the places of what they count, one behind the other.
static void buckets_places(__global uint *counts, const uint length, uint next)
{
    for (uint value = 0; value < length; ++value) {
        const uint many = counts[value];
        counts[value] = next;
        next += many;
    }
}

__kernel void buckets_sort(
    __global uint *keys,                        // [count] in, and room
    __global const uint *restrict begins,       // [buckets + 1]
    const uint n,
    const uint shift,
    const uint bits,
    const uint buckets,
    const uint width,                           // bits of half a target
    __global uint *counts,                      // [work-items * ((2 << width) + (1 << shift))] room
    __global uint *restrict indptr,             // [n + 1] out
    __global uint *indices)                     // [count] out
{
    const uint halves = 2u << width, digit = (1u << width) - 1u, sources = 1u << shift;
    const uint low = get_global_id(0) * (halves + sources), high = low + digit + 1u, source = low + halves;
    for (uint bucket = get_global_id(0); bucket < buckets; bucket += get_global_size(0)) {
        const uint begin = begins[bucket], end = begins[bucket + 1u];
        for (uint value = 0; value < halves + sources; ++value) counts[low + value] = 0;
#pragma unroll 8
        for (uint at = begin; at < end; ++at) {
            const uint key = keys[at];
            SOON_WRITTEN(indices, at);
            ++counts[low + (key & digit)];
            ++counts[high + (key >> width & digit)];
            ++counts[source + (key >> bits)];
        }
        buckets_places(counts + low, digit + 1u, begin);
        buckets_places(counts + high, digit + 1u, begin);
        buckets_places(counts + source, sources, begin);
#pragma unroll 8
        for (uint at = begin; at < end; ++at) {
            const uint key = keys[at];
            indices[counts[low + (key & digit)]++] = key;
        }
#pragma unroll 8
        for (uint at = begin; at < end; ++at) {
            const uint key = indices[at];
            keys[counts[high + (key >> width & digit)]++] = key;
        }
        // Rows that no edge begins are as long as none.
        for (uint row = 0, u = bucket << shift; row < sources && u < n; ++row, ++u) indptr[u] = counts[source + row];
#pragma unroll 8
        for (uint at = begin; at < end; ++at) {
            const uint key = keys[at];
            indices[counts[source + (key >> bits)]++] = key & ((1u << bits) - 1u);
        }
    }
    if (get_global_id(0) == 0u) indptr[n] = begins[buckets];
}
