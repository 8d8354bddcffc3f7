## swept_kept: compaction in one launch. The elements of a SIMD group are neighbours in rows, of which each lane
## has one element.
##
## keep             moves what is kept of `arrays` (type, values, where they go), and leaves how much that is in
##                  `*total`
## In scope         as of /grid/swept_rows.mako, with its flags and "add" on `index`; `items` is 4, 8 or 16
## Called by        as of /grid/swept.mako
## Barriers, local memory   those of the group vocabulary and of /grid/swept.mako
##
## The tile's mask is vectors of which a lane's bytes belong to other lanes: a byte a load takes longer than the values.
## Values are read once it is known where they go: what tiles wait for is then said earlier.

<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="swept" file="/grid/swept.mako"/>
<%namespace name="rows" file="/grid/swept_rows.mako"/>

<%!
    def bits_of(vector, words):
        """Give the expression for a bit of each byte of a vector of so many words, or of one."""
        parts = [f"{vector}.s{part}" for part in range(words)] if words > 1 else [vector]
        return " | ".join(f"flag_bits({word}) << {4 * part}u" for part, word in enumerate(parts))
%>

## Declares `keeps`, a bit for each row: whether the lane's element is kept.
<%def name="keeps_of(mask, items)">\
<% vector = rows.module.of("uint", items // 4) %>\
uint keeps = 0u;
if (full) {
    const ${vector} bytes = *(__global const ${vector} *)(${mask} + mine - lane_id() + lane_id() * ${items}u);
    const uint flags = ${bits_of("bytes", items // 4)};
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const uint at = item * LANES + lane_id();
        keeps |= (lane_shuffle(flags, at / ${items}u) >> at % ${items}u & 1u) << item;
    }
} else {
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item)
        keeps |= (uint)(mine + item * LANES < n && ${mask}[mine + item * LANES] != 0) << item;
}
</%def>

<%def name="keep(index, items, looks, mask, arrays, total)">\
${rows.rows_of(index, items, 1, [(mask, items)], [mask, *(values for _, values, _ in arrays)])}
${keeps_of(mask, items)}
const ${index} own = lane_reduce_add(popcount(keeps));
${rows.tile_totals("add", index, "own")}
${swept.hand("add", index, index, looks, f"({index})({mask}[i] != 0)")}
% for type, values, kept in arrays:
{
    ${type} loaded[${items}];
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item)
        if (keeps >> item & 1u) loaded[item] = ${values}[mine + item * LANES];
    ${index} place = prefix + groups_before;
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const lanemask_t row = lane_ballot(keeps >> item & 1u);
        if (keeps >> item & 1u) ${kept}[place + lanemask_count(row & lane_mask_lt())] = loaded[item];
        place += lanemask_count(row);
    }
}
% endfor
${rows.leave_total("add", total)}\
</%def>
