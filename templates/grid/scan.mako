## scan: device-wide scan, reduction and compaction in three launches, none of which waits for another
## work-group: fold the chunks, scan the chunks' totals in one group, then scan within the chunks.
##
## chunk_fold      the totals of the chunks; caller.load(i) is an expression
## scan_totals     their exclusive scan in place, by a launch of one work-group
## chunk_scan      caller.load(i) as above; caller.store(i, before, x) are statements for element i,
##                 what all elements before it combine to, and what load(i) gave
## In scope        the group vocabulary with the operator `name` declared on `type`
## Called by       all work-items, in uniform control flow, with the same chunk in all launches
## Barriers        those of the group vocabulary; none allowed in load and store
## Local memory    that of the group vocabulary
##
## Group g owns the elements [g chunk, (g + 1) chunk) below count. Values combine in the order of the
## elements, so the operator need not commute. `index` is the type of positions (uint or ulong) and
## `items` how many neighbouring elements a work-item takes at a time.
## Rejected: one launch in which a group looks back at the totals of the groups before it. It reads the
## input once instead of twice, but a group must wait for another, which needs a bound and a way out.

<%def name="chunk_bounds(index, count, chunk)">\
const ${index} chunk_begin = (${index})get_group_id(0) * ${chunk};
const ${index} chunk_end = min(chunk_begin + ${chunk}, (${index})${count});\
</%def>

<%def name="chunk_fold(name, type, index, count, chunk, items, totals)">\
${chunk_bounds(index, count, chunk)}
${type} carry = ${name}_identity();
for (${index} tile = chunk_begin; tile < chunk_end; tile += GROUP_SIZE * ${items}u) {
    const ${index} first = tile + get_local_id(0) * ${items}u;
    ${type} sum = ${name}_identity();
    for (uint item = 0; item < ${items}u; ++item) {
        if (first + item < chunk_end) {
            sum = ${name}_combine(sum, ${capture(caller.load, i="(first + item)").strip()});
        }
    }
    carry = ${name}_combine(carry, group_reduce_${name}(sum));
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

<%def name="chunk_scan(name, type, index, count, chunk, items, totals)">\
${chunk_bounds(index, count, chunk)}
${type} carry = ${totals}[get_group_id(0)];
for (${index} tile = chunk_begin; tile < chunk_end; tile += GROUP_SIZE * ${items}u) {
    const ${index} first = tile + get_local_id(0) * ${items}u;
    ${type} loaded[${items}];
    ${type} sum = ${name}_identity();
    for (uint item = 0; item < ${items}u; ++item) {
        loaded[item] = ${name}_identity();
        if (first + item < chunk_end) {
            loaded[item] = ${capture(caller.load, i="(first + item)").strip()};
        }
        sum = ${name}_combine(sum, loaded[item]);
    }
    ${type} tile_total;
    ${type} before = ${name}_combine(carry, group_scan_exclusive_${name}(sum, &tile_total));
    for (uint item = 0; item < ${items}u; ++item) {
        if (first + item < chunk_end) {
            ${capture(caller.store, i="(first + item)", before="before", x="loaded[item]").strip()}
        }
        before = ${name}_combine(before, loaded[item]);
    }
    carry = ${name}_combine(carry, tile_total);
}
</%def>
