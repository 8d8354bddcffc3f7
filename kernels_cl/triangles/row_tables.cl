<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="table" file="/intersect/table.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
// Triangles of vertices or edges as in row_tiles.cl, for rows too long for registers: what is needed of
// the row of u is in a hash table in local memory, as much at a time as it holds.
//
// Races: none that shows; sums are integers.

${group.words()}
#define INTERSECT_STEP()
${intersect.functions()}
${intersect.block_functions("offset_t")}
${table.functions(config.slots)}

#define SPAN ${config.span}u            // work-items of a row, at most LANES
#define ROWS (LANES / SPAN)             // rows that a SIMD group takes at a time
% if config.per == "vertex":
${sums.declarations(config.sum_bits)}\
% endif

${group.kernel()} triangles_row_tables(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    __local uint tables[GROUP_LANES * ROWS * TABLE_SLOTS];
    __local uint *const mine = tables + (LANE_GROUP * ROWS + lane_id() / SPAN) * TABLE_SLOTS;
    const uint part = lane_id() % SPAN;
    for (uint i = part; i < TABLE_SLOTS; i += SPAN) mine[i] = TABLE_EMPTY;
    ulong total = 0ul;
    const ulong step = (ulong)get_num_groups(0) * GROUP_LANES * ROWS;
    for (ulong base = first + ((ulong)get_group_id(0) * GROUP_LANES + LANE_GROUP) * ROWS; base < end; base += step) {
        const ulong slot = base + lane_id() / SPAN;
        const int there = slot < end;
        const uint u = there ? (uint)slot : 0u;
        const offset_t row = there ? ${row_at.first("u")} : 0;
        const uint degree = there ? (uint)(${row_at.behind("u", "1u")} - row) : 0u;
        __global const uint *const a = indices + row;
% if config.per == "vertex":
        if (there && part == 0u) spare[u] = 0u;
        uint of_u = 0u;
        const uint size = lower_bound(a, degree, u);
% else:
        const uint size = degree;
% endif
        for (uint from = 0u; lane_any(from < size); from += TABLE_HOLDS) {
            const uint stop = min(size, from + TABLE_HOLDS);
            for (uint k = from + part; k < stop; k += SPAN) table_put(mine, a[k]);
            lane_converge();
            for (uint k = part; from < size && k < size; k += SPAN) {
                const uint v = a[k];
                if (v >= u) break;
                const offset_t begin = ${row_at.first("v")}, end_v = ${row_at.behind("v", "1u")};
                uint both = 0u;
% if config.per == "edge":
                offset_t mirror = 0;            // the edge's place in the row of v
% endif
                for (offset_t block = begin / 4; 4 * block < end_v; ++block) {
                    const uint4 y = block_of(indices, m, block, begin, end_v, TABLE_EMPTY - 1u);
                    both += table_has(mine, y.s0) + table_has(mine, y.s1) + table_has(mine, y.s2) + table_has(mine, y.s3);
% if config.per == "edge":
% for i in range(4):
                    if (y.s${i} == u) mirror = 4 * block + ${i};
% endfor
% else:
                    if (y.s3 >= u) break;       // the table has nothing from u on
% endif
                }
                total += both;
% if config.per == "edge":
                if (from) both += found[row + k];
                found[row + k] = both;
                found[mirror] = both;
% else:
                of_u += both;
                if (both) SUM_ADD(found, v, 2u * both);
% endif
            }
            lane_converge();
            for (uint i = part; i < TABLE_SLOTS; i += SPAN) mine[i] = TABLE_EMPTY;
            lane_converge();
        }
% if config.per == "vertex":
        if (of_u) SUM_ADD(found, u, of_u);
% endif
    }
    ${sums.leave()}
}
