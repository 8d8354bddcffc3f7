<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
// Every word of the lane and memory vocabularies, applied to given values: one column of `results`
// a word, one row a work-item. The host compares with what the words promise.
//
// No races: a work-item writes only its own row and cells, and other lanes read a cell only between
// two lane_converge().
${lanes.vocabulary()}
${memory.vocabulary()}

// A helper that calls collectives itself, to show that scratch travels through calls.
LANE_FUNCTION uint sum_of_squares(LANE_PARAMS uint x) {
    return lane_reduce_add(x * x);
}

<%def name="result(word)">row[${words.index(word)}]</%def>\
${lanes.kernel(group_size)} lanes_check(
    __global const uint *restrict values,           // [n], n = work-items of the launch
    __global const uint *restrict targets,          // [n] lane numbers
    __global const ulong *restrict wide_values,     // [n]
    volatile __global uint *restrict cells,         // [n] scratch, 0
    volatile __global ulong *restrict wide_cells,   // [n] scratch, 0
    __global ulong *restrict results)               // [n, ${len(words)}] out
{
    ${lanes.setup()}\
    const size_t item = get_global_id(0);
    const uint x = values[item];
    const uint target = targets[item];
    const ulong wide = wide_values[item];
    const int odd = (int)(x & 1u);
    __global ulong *row = results + item * ${len(words)};

    ${result("lane_id")} = lane_id();
    ${result("LANES")} = LANES;
    ${result("lane_mask_lt")} = lane_mask_lt();
    ${result("lane_ballot")} = lane_ballot(odd);
    ${result("lane_any")} = (ulong)lane_any(odd);
    ${result("lane_all")} = (ulong)lane_all(odd);
    ${result("lane_broadcast")} = lane_broadcast(x, LANES - 1u);
    ${result("lane_shuffle")} = lane_shuffle(x, target);
    ${result("lane_shuffle_ulong")} = lane_shuffle_ulong(wide, target);
    ${result("lane_shuffle_up")} = lane_shuffle_up(x, 1u);
    ${result("lane_shuffle_up far")} = lane_shuffle_up(x, LANES / 2u);
    ${result("lane_scan_exclusive_add")} = lane_scan_exclusive_add(x);
    ${result("lane_scan_inclusive_add")} = lane_scan_inclusive_add(x);
    ${result("lane_reduce_add")} = lane_reduce_add(x);
    ${result("lane_reduce_min")} = lane_reduce_min(x);
    ${result("lane_reduce_max")} = lane_reduce_max(x);
    ${result("lane_reduce_or")} = lane_reduce_or(x);
    ${result("lane_reduce_add_ulong")} = lane_reduce_add_ulong(wide);
    ${result("lane_reduce_min_ulong")} = lane_reduce_min_ulong(wide);
    ${result("lane_match_any")} = lane_match_any(x % 5u);
    ${result("lane_match_low")} = lane_match_low(x % 5u, 3u);
    ${result("lanemask_count")} = lanemask_count((lanemask_t)wide);
    ${result("lanemask_first")} = lanemask_first((lanemask_t)wide | ((lanemask_t)1 << (LANES - 1u)));
    ${result("lanemask_last")} = lanemask_last((lanemask_t)wide | 1u);
    ${result("sum_of_squares")} = sum_of_squares(LANE_ARGS x);

    store_relaxed(&cells[item], x);
    ${result("load_relaxed")} = load_relaxed(&cells[item]);
    lane_converge();
    ${result("lane_converge")} = load_relaxed(&cells[item - lane_id() + target]);
    lane_converge();
    store_release(&cells[item], ~x);
    fence_device();
    ${result("load_acquire")} = load_acquire(&cells[item]);
    store_relaxed_ulong(&wide_cells[item], wide);
    ${result("load_relaxed_ulong")} = load_relaxed_ulong(&wide_cells[item]);
    store_release_ulong(&wide_cells[item], ~wide);
    ${result("load_acquire_ulong")} = load_acquire_ulong(&wide_cells[item]);
    prefetch_global(&values[item]);
    spin_hint();
    ${result("load_streaming")} = load_streaming(&values[item]);
}
