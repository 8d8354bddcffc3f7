// Rows of many edges in no order, on a processor: edges go to buckets of neighbouring sources, and
// each bucket, which a cache holds, is sorted by counting, digit by digit.
//
// Each work-item has a share of the edges or buckets, and counters and places of its own, so there
// are no races. A key is what the bucket leaves of the source, above the target.
#define DIGITS ${DIGITS}u
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
    for (uint edge = SHARE(own); edge < SHARE(own + 1u); ++edge) {
        const uint u = src[edge];
        keys[places[own * buckets + (u >> shift)]++] = (u & ((1u << shift) - 1u)) << bits | dst[edge];
    }
}

__kernel void buckets_sort(
    __global uint *keys,                        // [count] in, and room
    __global const uint *restrict begins,       // [buckets + 1]
    const uint n,
    const uint shift,
    const uint bits,
    const uint buckets,
    const uint width,                           // bits of a digit
    __global uint *restrict counts,             // [work-items << width] room
    __global uint *restrict indptr,             // [n + 1] out
    __global uint *indices)                     // [count] out
{
    const uint own = get_global_id(0), first = own << width, digit = (1u << width) - 1u;
    for (uint bucket = own; bucket < buckets; bucket += get_global_size(0)) {
        const uint begin = begins[bucket], end = begins[bucket + 1u];
% for place in range(DIGITS):
        {
            __global uint *from = ${("keys", "indices")[place % 2]}, *to = ${("indices", "keys")[place % 2]};
            for (uint value = 0; value <= digit; ++value) counts[first + value] = 0;
            for (uint at = begin; at < end; ++at) ++counts[first + (from[at] >> ${place} * width & digit)];
            for (uint value = 0, next = begin; value <= digit; ++value) {
                const uint many = counts[first + value];
                counts[first + value] = next;
                next += many;
            }
            for (uint at = begin; at < end; ++at) {
                const uint key = from[at];
                to[counts[first + (key >> ${place} * width & digit)]++] = key;
            }
        }
% endfor
        // Rows that no edge begins are as long as none.
        uint row = bucket << shift;
        const uint behind = min(row + (1u << shift), n);
        const uint base = row;
        for (uint at = begin; at < end; ++at) {
            const uint key = ${("keys", "indices")[DIGITS % 2]}[at], u = base + (key >> bits);
            for (; row <= u; ++row) indptr[row] = at;
            indices[at] = key & ((1u << bits) - 1u);
        }
        for (; row < behind; ++row) indptr[row] = end;
    }
    if (own == 0u) indptr[n] = begins[buckets];
}
