## swept_rows: scans in one launch. The elements of a SIMD group are neighbours in rows, of
## which each lane has one vector; all rows are read before any of them is looked at.
##
## flags()          at file scope: flag_bits, four bytes to four bits that say which are not zero
## scan             what all elements before each of `values` combine to
## segments         the same, beginning anew where a byte of `heads` is not zero; and itself, if `inclusive`.
##                  An operator "segment" is on pairs of uint: whether a segment begins there, and a value
## In scope         /grid/swept.mako's words and arguments and what they need; `n` elements, of positions
##                  of type `index`
## Called by        as of /grid/swept.mako; `items` is a multiple of four
## Barriers, local memory   those of the group vocabulary and of /grid/swept.mako
##
## A scan leaves what all combine to in `*total`. `fetched` are hinted at `ahead` tiles before they are read:
## loads of a tile then wait for a cache alone, and its followers for fewer that come late.

<%namespace name="group" file="/group/group.mako"/>
<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="swept" file="/grid/swept.mako"/>

<%!
    def of(type, wide):
        """Name a vector of so many elements."""
        return f"{type}{wide}" if wide > 1 else type
%>

<%def name="flags()">\
static inline uint flag_bits(const uint bytes) {
    // The highest bit of a byte is set if one of its bits is, and no byte carries into the next.
    const uint set = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes;
    return (set >> 7 & 0x01010101u) * 0x10204080u >> 28;
}
</%def>

## Declares where a lane's first element is, and whether the tile is full and what it lies in are vectors.
<%def name="rows_of(index, items, wide, arrays, fetched)">\
${swept.take(f"(GROUP_SIZE * {items}u)")}
const ${index} tile = (${index})number * TILE;
const ${index} mine = tile + lid / LANES * (LANES * ${items}u) + lane_id() * ${wide}u;
const int full = n - tile >= TILE && ${" && ".join(f"(size_t){array} % {size_bytes}u == 0u" for array, size_bytes in arrays)};
% if ahead:
{
    const ${index} later = tile + ${ahead}u * TILE;
% for array in fetched:
    for (uint i = lid * (128u / (uint)sizeof(*${array})); i < TILE && later + i < n; i += GROUP_SIZE * (128u / (uint)sizeof(*${array})))
        prefetch_global(${array} + (later + i));
% endfor
}
% endif
</%def>

## Reads `x`, row by row.
<%def name="load_rows(name, type, index, items, wide, values)">\
${type} x[${items}];
if (full) {
% for row in range(items // wide):
    const ${of(type, wide)} row${row} = *(__global const ${of(type, wide)} *)(${values} + mine + ${row}u * (LANES * ${wide}u));
% endfor
% for item in range(items):
    x[${item}] = row${item // wide}${f".s{item % wide}" if wide > 1 else ""};
% endfor
} else {
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const ${index} i = mine + item / ${wide}u * (LANES * ${wide}u) + item % ${wide}u;
        x[item] = i < n ? ${values}[i] : ${name}_identity();
    }
}
</%def>

## Writes `y` to where `first` is.
<%def name="store_row(type, wide, scanned)">\
    if (full) {
        *(__global ${of(type, wide)} *)(${scanned} + first) = (${of(type, wide)})(${", ".join(f"y[{part}]" for part in range(wide))});
    } else {
        #pragma unroll
        for (uint part = 0u; part < ${wide}u; ++part)
            if (first + part < n) ${scanned}[first + part] = y[part];
    }
</%def>

## Declares what lower SIMD groups combine to, and the tile, given what one's own does on the last lane.
<%def name="tile_totals(name, type, own)">\
${type} groups_before, all;
{
    ${group.totals(name, type, own)}
    groups_before = before;
    all = total;
}
</%def>

<%def name="leave_total(name, total)">\
if (lid == 0u && number == (uint)get_num_groups(0) - 1u) *${total} = ${name}_combine(prefix, all);
</%def>

<%def name="scan(name, type, index, items, looks, values, scanned, total)">\
<% wide = 1 if type == "uint2" else 16 // lane_scan.module.BYTES[type] %>\
${rows_of(index, items, wide, [(values, 16), (scanned, 16)], [values])}
${load_rows(name, type, index, items, wide, values)}
${type} rows_before[${items // wide}], own = ${name}_identity();
% for row in range(items // wide):
{
    ${type} sum = x[${row * wide}];
% for part in range(1, wide):
    sum = ${name}_combine(sum, x[${row * wide + part}]);
% endfor
    sum = lane_scan_inclusive_in_${name}(LANE_ARGS sum);
    const ${type} lower = ${name}_shuffle_up(LANE_ARGS sum, 1u);
    rows_before[${row}] = lane_id() ? ${name}_combine(own, lower) : own;
    own = ${name}_combine(own, ${name}_shuffle(LANE_ARGS sum, LANES - 1u));
}
% endfor
${tile_totals(name, type, "own")}
${swept.hand(name, type, index, looks, f"{values}[i]", in_place=f"{values} == {scanned}")}
groups_before = ${name}_combine(prefix, groups_before);
% for row in range(items // wide):
{
    const ${index} first = mine + ${row}u * (LANES * ${wide}u);
    ${type} y[${wide}], here = ${name}_combine(groups_before, rows_before[${row}]);
% for part in range(wide):
    y[${part}] = here;
    here = ${name}_combine(here, x[${row * wide + part}]);
% endfor
${store_row(type, wide, scanned)}\
}
% endfor
${leave_total(name, total)}\
</%def>

<%def name="segments(name, type, index, items, looks, values, heads, inclusive, scanned)">\
${rows_of(index, items, 4, [(values, 16), (scanned, 16), (heads, 4)], [values, heads])}
${load_rows(name, type, index, items, 4, values)}
// A bit for each element that begins a segment; for each row where segments of lower rows go on.
uint begins = 0u, goes_on = 0u;
if (full) {
% for row in range(items // 4):
    begins |= flag_bits(*(__global const uint *)(${heads} + mine + ${row}u * (LANES * 4u))) << ${4 * row}u;
% endfor
} else {
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) {
        const ${index} i = mine + item / 4u * (LANES * 4u) + item % 4u;
        begins |= (uint)(i < n && ${heads}[i] != 0) << item;
    }
}
${type} rows_before[${items // 4}], own = ${name}_identity();
uint begun = 0u;
% for row in range(items // 4):
{
    const uint here = begins >> ${4 * row}u & 15u;
    ${type} sum = x[${4 * row}];
% for part in range(1, 4):
    sum = here >> ${part}u & 1u ? x[${4 * row + part}] : ${name}_combine(sum, x[${4 * row + part}]);
% endfor
    const lanemask_t marked = lane_ballot(here != 0u), below = marked & lane_mask_lt();
    // Lanes below that belong to what goes on in mine.
    const uint reach = here ? 0u : lane_id() - (below ? lanemask_last(below) : 0u);
% for step in (1 << bit for bit in range(lanes.module.count(context).bit_length() - 1)):
    {
        const ${type} lower = ${name}_shuffle_up(LANE_ARGS sum, ${step}u);
        if (reach >= ${step}u) sum = ${name}_combine(lower, sum);
    }
% endfor
    const ${type} lower = ${name}_shuffle_up(LANE_ARGS sum, 1u), last = ${name}_shuffle(LANE_ARGS sum, LANES - 1u);
    rows_before[${row}] = !lane_id() ? own : below ? lower : ${name}_combine(own, lower);
    goes_on |= (uint)(!begun && !below) << ${row}u;
    own = marked ? last : ${name}_combine(own, last);
    begun |= marked != 0;
}
% endfor
uint2 groups_before, whole_tile;
{
    const uint2 pair = (uint2)(begun, as_uint(own));
    ${group.totals("segment", "uint2", "pair")}
    groups_before = before;
    whole_tile = total;
}
const ${type} all = as_${type}(whole_tile.y);
${swept.hand(name, type, index, looks, f"{values}[i]", head=f"{heads}[i] != 0", whole="whole_tile.x != 0u")}
const ${type} lower_groups = as_${type}(groups_before.y);
own = groups_before.x ? lower_groups : ${name}_combine(prefix, lower_groups);
% for row in range(items // 4):
{
    const ${index} first = mine + ${row}u * (LANES * 4u);
    ${type} y[4], here = goes_on >> ${row}u & 1u ? ${name}_combine(own, rows_before[${row}]) : rows_before[${row}];
% for part in range(4):
    {
        const int anew = begins >> ${4 * row + part}u & 1u;
        const ${type} next = anew ? x[${4 * row + part}] : ${name}_combine(here, x[${4 * row + part}]);
        y[${part}] = ${inclusive} ? next : anew ? ${name}_identity() : here;
        here = next;
    }
% endfor
${store_row(type, 4, scanned)}\
}
% endfor
</%def>
