// Reads, or sets bits of, words that lie anywhere in an array.
//
// Race: atomic operations of several work-items meet in a word; their order does not matter, since an
// or is commutative and its results are not used.
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void random_words(
    const uint rounds,
    const uint mask,                            // words - 1; the number of words is a power of two
    const uint never,                           // no local id; keeps the loads alive
    __global uint *words)                       // [mask + 1]
{
    uint place = (uint)get_global_id(0) * 2654435761u + 12345u, sum = 0u;
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
% for _ in range(unroll):
        place = place * 1664525u + 1013904223u;
% if way == "atomic":
        atomic_or(&words[(place >> 5 ^ place) & mask], 1u << (place >> 27));
% else:
        sum += words[(place >> 5 ^ place) & mask];
% endif
% endfor
    }
    if ((uint)get_local_id(0) == never) {
        words[0] = sum;
    }
}
