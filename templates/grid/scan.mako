## scan: device-wide scan, reduction and compaction in three launches, none of which waits for another
## work-group: fold the chunks, scan the chunks' totals in one group, then scan within the chunks.
##
## chunk_fold      the totals of the chunks; caller.load(i) is an expression
## scan_totals     their exclusive scan in place, by a launch of one work-group
## chunk_count     the same of caller.keep(i), an expression that is 0 or 1, instead of chunk_fold
## chunk_keep      compaction instead of chunk_scan: caller.keep(i); caller.store(i, place) are statements
##                 for each element that is kept. Where the type of caller.load(i) is given as `ahead`, they
##                 find that in loaded[item], and all of a work-item is read before any of it is stored;
##                 `before`, instead of totals, is how many the chunks before this one keep, and carry is
##                 then how many this one and those keep
## chunk_scan      caller.load(i) as above; caller.store(i, before, x) are statements for element i,
##                 what all elements before it combine to, and what load(i) gave
## In scope        the group vocabulary with the operator `name` declared on `type`
## Called by       all work-items, in uniform control flow, with the same chunk in all launches
## Barriers        those of the group vocabulary; none allowed in load and store
## Local memory    that of the group vocabulary
##
## Group g owns the elements [g chunk, (g + 1) chunk) below count. Values combine in the order of the
## elements, so the operator need not commute. `index` is the type of positions (uint or ulong) and
## `items` how many neighbouring elements a work-item takes at a time. Where what is loaded are elements of
## `arrays`, or stored `scanned`, four of them are one vector; `scanned` has what each element finds before
## it or, with its type as `scanned_type`, caller.result(before, x). Without `totals` chunk_scan is of one chunk
## and the group that it is given to; `carry` is then what all elements combine to.
## /grid/swept.mako is one launch instead, where several lanes look back: the input is read once, but how
## elements are grouped differs from run to run.

<%def name="chunk_bounds(index, count, chunk)">\
const ${index} chunk_begin = (${index})get_group_id(0) * ${chunk};
const ${index} chunk_end = min(chunk_begin + ${chunk}, (${index})${count});\
</%def>

## Elements from `first` on, to `loaded`; of each of `arrays`, pairs of a name and a type, a vector of four
## where they lie so.
<%def name="load_items(name, type, items, load, arrays)">\
${type} loaded[${items}];
% if arrays and items % 4 == 0:
if (first + ${items}u <= chunk_end && ${" && ".join(f"(size_t)({array} + first) % sizeof({kind}4) == 0u" for array, kind in arrays)}) {
% for four in range(items // 4):
<% text = capture(load, i="@").strip() %>\
% for which, (array, kind) in enumerate(arrays):
    const ${kind}4 four${four}${"_" * which} = ((__global const ${kind}4 *)(${array} + first))[${four}];
<% text = text.replace(f"{array}[@]", f"four{four}{'_' * which}.s@") %>\
% endfor
% for part in range(4):
    loaded[${4 * four + part}] = ${text.replace("@", str(part))};
% endfor
% endfor
} else
% endif
for (uint item = 0; item < ${items}u; ++item) {
    loaded[item] = ${name}_identity();
    if (first + item < chunk_end) {
        loaded[item] = ${capture(load, i="(first + item)").strip()};
    }
}
</%def>

<%def name="chunk_fold(name, type, index, count, chunk, items, totals, arrays=())">\
${chunk_bounds(index, count, chunk)}
${type} carry = ${name}_identity();
// From the end, so that what is read last, and may be near still, is what chunk_scan begins with.
for (${index} left = chunk_begin < chunk_end ? (chunk_end - chunk_begin + GROUP_SIZE * ${items}u - 1u) / (GROUP_SIZE * ${items}u) : 0; left-- > 0;) {
    const ${index} first = chunk_begin + left * (GROUP_SIZE * ${items}u) + get_local_id(0) * ${items}u;
    ${load_items(name, type, items, caller.load, arrays)}
    ${type} sum = loaded[0];
    for (uint item = 1; item < ${items}u; ++item) sum = ${name}_combine(sum, loaded[item]);
    carry = ${name}_combine(group_reduce_${name}(sum), carry);
}
if (get_local_id(0) == 0) {
    ${totals}[get_group_id(0)] = carry;
}
</%def>

<%def name="scan_totals(name, type, count, totals, total)">\
${type} carry = ${name}_identity();
for (uint tile = 0; tile < ${count}; tile += GROUP_SIZE) {
    const uint slot = tile + (uint)get_local_id(0);
    ${type} tile_total;
    ${type} x = ${name}_identity();
    if (slot < ${count}) {
        x = ${totals}[slot];
    }
    const ${type} before = group_scan_exclusive_${name}(x, &tile_total);
    if (slot < ${count}) {
        ${totals}[slot] = ${name}_combine(carry, before);
    }
    carry = ${name}_combine(carry, tile_total);
}
if (get_local_id(0) == 0) {
    *${total} = carry;
}
</%def>

<%def name="chunk_scan(name, type, index, count, chunk, items, totals='', arrays=(), scanned='', scanned_type='')">\
${chunk_bounds(index, count, chunk)}
${type} carry = ${f"{totals}[get_group_id(0)]" if totals else f"{name}_identity()"};
for (${index} tile = chunk_begin; tile < chunk_end; tile += GROUP_SIZE * ${items}u) {
    const ${index} first = tile + get_local_id(0) * ${items}u;
    ${load_items(name, type, items, caller.load, arrays)}
    ${type} sum = loaded[0];
    for (uint item = 1; item < ${items}u; ++item) sum = ${name}_combine(sum, loaded[item]);
    ${type} tile_total;
    ${type} before = ${name}_combine(carry, group_scan_exclusive_${name}(sum, &tile_total));
% if scanned and items % 4 == 0:
<% of_four = scanned_type or type %>\
    if (first + ${items}u <= chunk_end && (size_t)(${scanned} + first) % sizeof(${of_four}4) == 0u) {
% for four in range(items // 4):
        ${of_four}4 four${four};
% if scanned_type:
% for part in range(4):
        four${four}.s${part} = ${capture(caller.result, before="before", x=f"loaded[{4 * four + part}]").strip()};
        before = ${name}_combine(before, loaded[${4 * four + part}]);
% endfor
% else:
        four${four}.s0 = before;
        four${four}.s1 = ${name}_combine(four${four}.s0, loaded[${4 * four}]);
        four${four}.s2 = ${name}_combine(four${four}.s1, loaded[${4 * four + 1}]);
        four${four}.s3 = ${name}_combine(four${four}.s2, loaded[${4 * four + 2}]);
        before = ${name}_combine(four${four}.s3, loaded[${4 * four + 3}]);
% endif
        ((__global ${of_four}4 *)(${scanned} + first))[${four}] = four${four};
% endfor
    } else
% endif
    for (uint item = 0; item < ${items}u; ++item) {
        if (first + item < chunk_end) {
            ${capture(caller.store, i="(first + item)", before="before", x="loaded[item]").strip()}
        }
        before = ${name}_combine(before, loaded[item]);
    }
    carry = ${name}_combine(carry, tile_total);
}
</%def>

## The order of the elements does not matter here. Where those of `bytes` count that are not zero, sixteen
## are one vector.
<%def name="chunk_count(index, count, chunk, totals, bytes='')">\
${chunk_bounds(index, count, chunk)}
${index} counted = 0;
% if bytes:
const ${index} vectors = (size_t)(${bytes} + chunk_begin) % 16u == 0u && chunk_begin < chunk_end ? (chunk_end - chunk_begin) / 16u : 0;
for (${index} vector = get_local_id(0); vector < vectors; vector += GROUP_SIZE) {
    // The highest bit of a byte is set if one of its bits is, and no byte carries into the next.
    const uint4 four = ((__global const uint4 *)(${bytes} + chunk_begin))[vector];
    const uint4 set = (((four & 0x7f7f7f7fu) + 0x7f7f7f7fu) | four) & 0x80808080u;
    counted += lanemask_count(set.x | set.y >> 1 | set.z >> 2 | set.w >> 3);
}
for (${index} i = chunk_begin + vectors * 16u + get_local_id(0); i < chunk_end; i += GROUP_SIZE) counted += ${capture(caller.keep, i="i").strip()};
% else:
#pragma unroll 8
for (${index} i = chunk_begin + get_local_id(0); i < chunk_end; i += GROUP_SIZE) counted += ${capture(caller.keep, i="i").strip()};
% endif
counted = group_reduce_add(counted);
if (get_local_id(0) == 0) ${totals}[get_group_id(0)] = counted;
</%def>

## Neighbouring lanes take
## neighbouring elements, and a ballot tells how many are kept before each.
<%def name="chunk_keep(index, count, chunk, items, totals='', before='', ahead='')">\
${chunk_bounds(index, count, chunk)}
${index} carry = ${before or f"{totals}[get_group_id(0)]"};
for (${index} tile = chunk_begin; tile < chunk_end; tile += GROUP_SIZE * ${items}u) {
    const ${index} first = tile + get_local_id(0) / LANES * (LANES * ${items}u) + lane_id();
    lanemask_t keeps[${items}];
    ${index} sum = 0;
    #pragma unroll
    for (uint item = 0; item < ${items}u; ++item) {
        const ${index} i = first + item * LANES;
        keeps[item] = lane_ballot(i < chunk_end && ${capture(caller.keep, i="i").strip()});
        sum += lanemask_count(keeps[item]);
    }
% if ahead:
    ${ahead} loaded[${items}];
    #pragma unroll
    for (uint item = 0; item < ${items}u; ++item) {
        loaded[item] = 0;
        if (keeps[item] >> lane_id() & 1u) loaded[item] = ${capture(caller.load, i="(first + item * LANES)").strip()};
    }
% endif
    // The first lane stands for its SIMD group.
    ${index} tile_total;
    ${index} place = carry + group_scan_exclusive_add(lane_id() ? (${index})0 : sum, &tile_total) - (lane_id() ? sum : (${index})0);
    #pragma unroll
    for (uint item = 0; item < ${items}u; ++item) {
        if (keeps[item] >> lane_id() & 1u) {
            const ${index} to = place + lanemask_count(keeps[item] & lane_mask_lt());
            ${capture(caller.store, i="(first + item * LANES)", place="to").strip()}
        }
        place += lanemask_count(keeps[item]);
    }
    carry += tile_total;
}
</%def>
