## checked: the bounds check that a checked rendering makes of every access to an array.
##
## CHECKED(pointer, place)   `place` where pointer[place] lies in the array that `pointer` points into,
##                           else a place whose loss harms nobody, and the first such access is noted
## CHECKED_ROW(pointer, place)  the same, but noted only if elements are taken from there, each with its check
## CHECKED_IN(array, place)  the same for an array of local or private memory
## CHECKED_PARAMETER, _ARGUMENT, _BEGIN   what clgraph/device/rendering/checked.py adds to kernels and to the
##                           functions they call: the table, and where the arrays begin
## In scope                  arrays, how many arguments a kernel has at most;
##                           table, the first word of each part
## Called by                 any work-item, in any control flow
## Races                     all work-items of a launch write the same addresses into the table; of
##                           several bad accesses the first to arrive is noted
#define CHECKED_PARAMETER __global ulong *checked
#define CHECKED_ARGUMENT checked
#define CHECKED_BEGIN(argument_, pointer_) checked[${table["sizes"] + arrays} + (argument_)] = (ulong)(size_t)(pointer_)
#define CHECKED(pointer_, place_) checked_place(checked, (ulong)(size_t)(pointer_), (long)(place_), (uint)sizeof(*(pointer_)), __LINE__)
#define CHECKED_ROW(pointer_, place_) checked_place(checked, (ulong)(size_t)(pointer_), (long)(place_), (uint)sizeof(*(pointer_)), 0u)
#define CHECKED_IN(array_, place_) checked_in(checked, (long)(place_), sizeof(array_) / sizeof(*(array_)), __LINE__)

static __attribute__((noinline)) void checked_note(CHECKED_PARAMETER, const uint line, const ulong array, const long index, const ulong bound) {
    if (atomic_cmpxchg((volatile __global uint *)checked, 0u, 1u)) return;
    checked[${table["line"]}] = line;
    checked[${table["array"]}] = array;
    checked[${table["index"]}] = (ulong)index;
    checked[${table["bound"]}] = bound;
}

static inline long checked_in(CHECKED_PARAMETER, const long place, const ulong bound, const uint line) {
    if ((ulong)place < bound) return place;
    checked_note(CHECKED_ARGUMENT, line, ${arrays}, place, bound);
    return 0;
}

static __attribute__((noinline)) long checked_place(CHECKED_PARAMETER, const ulong address, const long place, const uint element, const uint line) {
    __global const ulong *const sizes = checked + ${table["sizes"]}, *const begins = sizes + ${arrays};
    uint home = ${arrays}u;
    for (uint k = 0; k < ${arrays}u; ++k) {
        const ulong offset = address - begins[k];
        // A pointer may point one past its array, but not if another begins there.
        if (offset <= sizes[k] && sizes[k]) home = k;
        if (offset < sizes[k]) break;
    }
    const ulong offset = home < ${arrays}u ? address - begins[home] : 0ul;
    const ulong bound = home < ${arrays}u ? sizes[home] / element : 0ul;
    const long index = (long)(offset / element) + place;
    if ((ulong)index < bound) return place;
    if (line) checked_note(CHECKED_ARGUMENT, line, home, index, bound);
    return ((long)(size_t)(checked + ${table["waste"]}) - (long)address) / (long)element;
}
