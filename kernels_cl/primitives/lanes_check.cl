<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
// Every word of the lane and memory vocabularies, applied to given values: one column of `results`
// a word, one row a work-item. The host compares with what the words promise.
//
// No races: a work-item writes only its own row and its own slots of `words` and `wide_words`.
${lanes.vocabulary()}
${memory.vocabulary()}

// A helper that calls collectives itself, to show that scratch travels through calls.
LANE_FUNCTION uint sum_of_squares(LANE_PARAMS uint x) {
    return lane_reduce_add(x * x);
}

<%
    columns = iter(range(1000))
    def column():
        return f"row[{next(columns)}]"
%>\
__kernel LANES_KERNEL_ATTRIBUTE
__attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void lanes_check(
    __global const uint *restrict values,           // [n], n = work-items of the launch
    __global const uint *restrict targets,          // [n] lane numbers
    __global const ulong *restrict wide_values,     // [n]
    volatile __global uint *restrict words,         // [n] scratch
    volatile __global ulong *restrict wide_words,   // [n] scratch
    __global ulong *restrict results)               // [n, ${word_count}] out
{
    ${lanes.setup()}\
    const size_t item = get_global_id(0);
    const uint x = values[item];
    const uint target = targets[item];
    const ulong wide = wide_values[item];
    const int odd = (int)(x & 1u);
    __global ulong *row = results + item * ${word_count};

    ${column()} = lane_id();
    ${column()} = LANES;
    ${column()} = lane_mask_lt();
    ${column()} = lane_ballot(odd);
    ${column()} = (ulong)lane_any(odd);
    ${column()} = (ulong)lane_all(odd);
    ${column()} = lane_broadcast(x, LANES - 1u);
    ${column()} = lane_shuffle(x, target);
    ${column()} = lane_shuffle_ulong(wide, target);
    ${column()} = lane_shuffle_up(x, 1u);
    ${column()} = lane_shuffle_up(x, LANES / 2u);
    ${column()} = lane_scan_exclusive_add(x);
    ${column()} = lane_scan_inclusive_add(x);
    ${column()} = lane_reduce_add(x);
    ${column()} = lane_reduce_min(x);
    ${column()} = lane_reduce_max(x);
    ${column()} = lane_reduce_or(x);
    ${column()} = lane_reduce_add_ulong(wide);
    ${column()} = lane_reduce_min_ulong(wide);
    ${column()} = lane_match_any(x % 5u);
    ${column()} = lanemask_count((lanemask_t)wide);
    ${column()} = lanemask_first((lanemask_t)wide | ((lanemask_t)1 << (LANES - 1u)));
    ${column()} = sum_of_squares(LANE_ARGS x);

    lane_converge();
    store_relaxed(&words[item], x);
    ${column()} = load_relaxed(&words[item]);
    store_release(&words[item], ~x);
    fence_device();
    ${column()} = load_acquire(&words[item]);
    store_relaxed_ulong(&wide_words[item], wide);
    ${column()} = load_relaxed_ulong(&wide_words[item]);
    store_release_ulong(&wide_words[item], ~wide);
    ${column()} = load_acquire_ulong(&wide_words[item]);
    prefetch_global(&values[item]);
    spin_hint();
    ${column()} = load_streaming(&values[item]);
}
