// Edges of a Kronecker graph of the Graph500 kind: drawn, then picked by their sources, as keys.
typedef unsigned long long u64;
#define STEP 0x9E3779B97F4A7C15ull
#define EACH(i, count) \
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < (count); i += (u64)gridDim.x * blockDim.x)

__device__ u64 mixed(u64 z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// Another id below 2**scale for each: what is drawn has its hubs at the low ones.
__device__ unsigned renamed(u64 id, int scale, u64 seed) {
    const u64 mask = (1ull << scale) - 1;
    const int shift = scale - scale / 2;
    u64 x = (id + seed) & mask;
    x ^= x >> shift;
    x = x * 0xBF58476D1CE4E5B9ull & mask;
    x ^= x >> shift;
    x = x * 0x94D049BB133111EBull & mask;
    return (unsigned)(x ^ x >> shift);
}

extern "C" __global__ void draw(unsigned *src, unsigned *dst, u64 count, int scale, u64 seed) {
    EACH(i, count) {
        u64 x = mixed(i + (seed << 40) + STEP), s = 0, d = 0;
        for (int bit = 0; bit < scale; ++bit) {
            x += STEP;
            // Quadrants of 0.57, 0.19, 0.19 and 0.05.
            const unsigned drawn = (unsigned)(mixed(x) >> 32);
            const unsigned right = drawn >= 2448131358u, low = drawn >= 3264175145u;
            s = s << 1 | low;
            d = d << 1 | (right ^ low ^ (drawn >= 4080218931u));
        }
        src[i] = renamed(s, scale, seed);
        dst[i] = renamed(d, scale, seed);
    }
}

// A place behind what is there; lanes that ask together take one atomic.
__device__ void append(u64 key, u64 *keys, u64 *length, u64 room) {
    const unsigned lanes = __activemask(), lane = threadIdx.x & 31;
    const int leader = __ffs(lanes) - 1;
    u64 place = 0;
    if (lane == leader) place = atomicAdd(length, (u64)__popc(lanes));
    place = __shfl_sync(lanes, place, leader) + __popc(lanes & ((1u << lane) - 1u));
    if (place < room) keys[place] = key;
}

extern "C" __global__ void pick(const unsigned *src, const unsigned *dst, u64 count, unsigned first, unsigned past,
                                u64 *keys, u64 *length, u64 room) {
    EACH(i, count) {
        const u64 s = src[i], d = dst[i];
        if (s == d) continue;
        if (s >= first && s < past) append(s << 32 | d, keys, length, room);
        if (d >= first && d < past) append(d << 32 | s, keys, length, room);
    }
}
