## find: looking up in rows, and in the sorted keys of a batch.
##
## functions()      at file scope: lower_bound, key_bound
## In scope         offset_t
## Called by        any work-item, in any control flow
## Barriers         none
## Local memory     none

<%def name="functions()">\
// How many elements of an ascending list are less than x.
static inline uint lower_bound(const __global uint *list, const uint count, const uint x) {
    uint low = 0u, high = count;
    while (low < high) {
        const uint middle = low + (high - low) / 2u;
        if (list[middle] < x) low = middle + 1u;
        else high = middle;
    }
    return low;
}

// How many elements of an ascending list are at most x.
static inline uint upper_bound(const __global uint *list, const uint count, const uint x) {
    uint low = 0u, high = count;
    while (low < high) {
        const uint middle = low + (high - low) / 2u;
        if (list[middle] <= x) low = middle + 1u;
        else high = middle;
    }
    return low;
}

// The first key, from `low` on and below `high`, that is not less than `key`; else `high`.
static inline uint key_bound(const __global ulong *keys, uint low, uint high, const ulong key) {
    while (low < high) {
        const uint middle = low + (high - low) / 2u;
        if (keys[middle] < key) low = middle + 1u;
        else high = middle;
    }
    return low;
}
</%def>
