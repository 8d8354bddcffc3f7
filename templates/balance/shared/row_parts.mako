## row_parts: rows by SIMD groups: those that are long in parts, as the host cut them, then the others.
##
## Body sees     v, e, row_end: a vertex, and the edges [e, row_end) of it that are this item's
##               is_part: whether these are a part of a long row
## In scope      n, parts, part_vertices, part_begins, PART_EDGES; unit, units: SIMD groups
## Called by     all lanes of SIMD groups, each in uniform control flow
## Barriers      none here
## Local memory  none

<%def name="each_row(begins)">
const ulong items = (ulong)parts + n;
for (ulong tile = (ulong)unit * ${config.tile}u; tile < items; tile += (ulong)units * ${config.tile}u)
for (ulong item = tile; item < min(tile + ${config.tile}u, items); ++item) {
    const int is_part = item < parts;
    const uint v = is_part ? part_vertices[item] : (uint)(item - parts);
    offset_t e = is_part ? part_begins[item] : ${begins}[v];
    offset_t row_end = ${begins}[v + 1];
    if (is_part) row_end = min(row_end, e + PART_EDGES);
    else if (row_end - e > PART_EDGES) continue;
    ${caller.body()}
}
</%def>
