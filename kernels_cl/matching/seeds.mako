## seeds: pairs drawn in proportion to their scores, one after the other for each query.
##
## kernels()     at file scope of scores.cl: matching_scan, matching_normalise, matching_seeds
## In scope      seeds: "flat", all rows of a query alike, or each row by itself; BLOCK, UNIT_BITS and
##               the vocabularies of scores.cl

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/group/group.mako"/>

<%def name="kernels()">\
// Inclusive scans of segments: of rows, or of all rows of a query.
__kernel KERNEL void matching_scan(
    __global const uint *restrict segments,         // [count + 1], in rows
    const uint count,
    const uint blocks,
    __global ulong *restrict sums)                  // [rows, blocks] in/out
{
    ${lanes.setup()}
    ${group.setup()}
    for (uint segment = (uint)get_group_id(0); segment < count; segment += (uint)get_num_groups(0)) {
        const ulong begin = (ulong)segments[segment] * blocks, end = (ulong)segments[segment + 1u] * blocks;
        ulong before = 0ul;
        for (ulong tile = begin; tile < end; tile += LANES) {
            const ulong place = tile + lane_id();
            ulong total;
            const ulong sum = group_scan_inclusive_add(place < end ? sums[place] : 0ul, &total);
            if (place < end) sums[place] = before + sum;
            before += total;
        }
    }
}

static inline ulong normalised(uint weight, ulong total) {
    return total ? ((ulong)weight << UNIT_BITS) / total : 0ul;
}

// Sums of blocks of rows that are each brought to the same sum, given the scanned sums of the rows.
__kernel KERNEL void matching_normalise(
    const uint n,
    __global const uint *restrict scores,           // [rows, n]
    const uint rows,
    const uint blocks,
    __global const ulong *restrict row_sums,        // [rows, blocks], scanned
    __global ulong *restrict sums)                  // [rows, blocks] out
{
    ${lanes.setup()}
    ${group.setup()}
    for (ulong part = get_group_id(0); part < (ulong)rows * blocks; part += get_num_groups(0)) {
        const ulong row = part / blocks, total = row_sums[row * blocks + blocks - 1u];
        const uint begin = (uint)(part % blocks) * BLOCK;
        ulong sum = 0ul;
        for (uint t = begin + lane_id(); t < min(begin + BLOCK, n); t += LANES) {
            sum += normalised(scores[row * n + t], total);
        }
        const ulong all = group_reduce_add(sum);
        if (lane_id() == 0u) sums[part] = all;
    }
}

// One SIMD group draws one seed at a time. A query none of whose pairs has a weight gets seeds from
// all pairs alike, so that there are always k.
__kernel KERNEL void matching_seeds(
    const uint n,
    __global const uint *restrict query_first,      // [queries + 1], rows
    const uint k,
    const uint blocks,
    __global const uint *restrict scores,           // [rows, n]
    __global const ulong *restrict row_sums,        // [rows, blocks], each row scanned
% if seeds == "flat":
    __global const ulong *restrict sums,            // [rows, blocks] normalised, each query scanned
% endif
    const ulong begin, const ulong end,             // of the queries * k seeds, those of this launch
    const uint key_low, const uint key_high,
    __global uint *restrict seeds)                  // [queries, k, 2] out: row, target vertex
{
    ${lanes.setup()}
    ${group.setup()}
    for (ulong draw = begin + get_group_id(0); draw < end; draw += get_num_groups(0)) {
        const uint query = (uint)(draw / k), first = query_first[query], last = query_first[query + 1u];
        const uint4 words = philox((uint4)((uint)(draw % k), 0u, 0u, 0u), (uint2)(key_low, key_high));
        uint row = first, t = 0u;
        ulong low = 0ul, high = 0ul, left = 0ul;
% if seeds == "flat":
        __global const ulong *const scanned = sums;
        low = (ulong)first * blocks;
        high = (ulong)last * blocks;
        const ulong mass = sums[high - 1u];
% else:
        __global const ulong *const scanned = row_sums;
        ulong mass = 0ul;
        uint live = 0u;
        for (uint tile = first; tile < last; tile += LANES) {
            const uint u = tile + lane_id();
            live += lanemask_count(lane_ballot(u < last && row_sums[(ulong)u * blocks + blocks - 1u] != 0ul));
        }
        uint wanted = live ? random_below(words.z, live) : 0u;
        for (uint tile = first; live && tile < last; tile += LANES) {
            const uint u = tile + lane_id();
            const int is_live = u < last && row_sums[(ulong)u * blocks + blocks - 1u] != 0ul;
            const lanemask_t rows_here = lane_ballot(is_live);
            const uint mine = lanemask_count(rows_here & lane_mask_lt());
            const lanemask_t chosen = lane_ballot(is_live && mine == wanted);
            if (chosen) {
                row = tile + lanemask_first(chosen);
                low = (ulong)row * blocks;
                high = low + blocks;
                mass = row_sums[high - 1u];
                break;
            }
            wanted -= lanemask_count(rows_here);
        }
% endif
        if (mass == 0ul) {
            row = first + random_below(words.z, last - first);
            t = random_below(words.w, n);
        } else {
            left = random_below_ulong(words.xy, mass);
            const ulong origin = low;
            while (low < high) {    // the first block whose scanned sum exceeds the draw
                const ulong middle = (low + high) / 2u;
                if (scanned[middle] > left) high = middle; else low = middle + 1u;
            }
            if (low > origin) left -= scanned[low - 1u];
            row = (uint)(low / blocks);
% if seeds == "flat":
            const ulong row_total = row_sums[(ulong)row * blocks + blocks - 1u];
% endif
            const uint begin = (uint)(low % blocks) * BLOCK, end = min(begin + BLOCK, n);
            for (uint tile = begin; tile < end; tile += LANES) {
                const uint place = tile + lane_id();
                const uint weight = place < end ? scores[(ulong)row * n + place] : 0u;
                ulong total;
% if seeds == "flat":
                const ulong upto = group_scan_inclusive_add(normalised(weight, row_total), &total);
% else:
                const ulong upto = group_scan_inclusive_add((ulong)weight, &total);
% endif
                const lanemask_t beyond = lane_ballot(upto > left);
                if (beyond) {
                    t = tile + lanemask_first(beyond);
                    break;
                }
                left -= total;
            }
        }
        if (lane_id() == 0u) {
            seeds[2u * draw] = row;
            seeds[2u * draw + 1u] = t;
        }
    }
}
</%def>
