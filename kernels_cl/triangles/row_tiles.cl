<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="tile" file="/intersect/tile.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
// Triangles of vertices or edges, by number, straight from the rows of the graph: a few work-items a
// vertex u, which take its edges to smaller numbers v in turn. For graphs of low degree.
//
// What is needed of the row of u is in registers; all of the row of v is compared with it. Of edges that
// is the whole row, and the support is stored at both places of the edge. Of vertices it is N+(u), what
// comes before u: what the row of v has of it closes as many triangles of u with the edge (u, v),
// whichever end comes first; so triangles of u are found twice, those of v once for each u, and no
// comparison is needed to tell one corner from the other. Counts of vertices are doubled.
//
// Counts of vertices are added to zeros: each run leaves zeros for the next one in `spare`.
//
// Races: none that shows; sums are integers.

${group.words()}
#define INTERSECT_STEP()
${intersect.functions()}
${intersect.block_functions("offset_t")}
${tile.functions(config.tile, "offset_t")}

#define TILE ${config.tile}u
#define SPAN ${config.span}u            // work-items of a row
#define BOUND ${"u" if config.per == "vertex" else "0xffffffffu"}    // of what is in registers
% if config.per == "vertex":
${sums.declarations(config.sum_bits)}\
% endif

${group.kernel()} triangles_row_tiles(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    ulong total = 0ul;
    const ulong slots = (ulong)(end - first) * SPAN;
% if config.together:
    // A thread's rows lie side by side.
    const ulong share = (slots + get_global_size(0) - 1u) / get_global_size(0);
    const ulong slots_end = min((get_global_id(0) + 1u) * share, slots);
    for (ulong slot = get_global_id(0) * share; slot < slots_end; ++slot) {
% else:
    for (ulong slot = get_global_id(0); slot < slots; slot += get_global_size(0)) {
% endif
        const uint u = first + (uint)(slot / SPAN), part = (uint)(slot % SPAN);
% if config.per == "vertex":
        if (part == 0u) spare[u] = 0u;
% endif
        const offset_t row = ${row_at.first("u")};
        const uint degree = (uint)(${row_at.behind("u")} - row);
        __global const uint *const a = indices + row;
        // The next edge is loaded while one is compared.
        uint next = part < degree ? a[part] : u;
        if (next >= u) continue;
        offset_t next_begin = ${row_at.first("next")}, next_end = ${row_at.behind("next", "1u")};
        tile_t mine = tile_load(a, degree, BOUND);
% if config.per == "vertex":
        const int whole = degree <= TILE || a[TILE] > u;
        uint of_u = 0u;
% else:
        const int whole = degree <= TILE;
% endif
        for (uint k = part; next < u; k += SPAN) {
            const uint v = next;
            const offset_t begin = next_begin, end_v = next_end;
            next = k + SPAN < degree ? a[k + SPAN] : u;
            if (next < u) {
                next_begin = ${row_at.first("next")};
                next_end = ${row_at.behind("next", "1u")};
            }
            offset_t mirror = 0;                // the edge's place in the row of v
            uint both = 0u;
            if (whole) both = tile_met(mine, indices, m, begin, end_v, u, &mirror);
            else for (uint base = 0u; base < degree; base += TILE) {
                mine = tile_load(a + base, degree - base, BOUND);
                both += tile_met(mine, indices, m, begin, end_v, u, &mirror);
% if config.per == "vertex":
                if (base + TILE < degree && a[base + TILE] > u) break;
% endif
            }
% if config.per == "vertex":
            if (both) SUM_ADD(found, v, 2u * both);
            of_u += both;
        }
        if (of_u) SUM_ADD(found, u, of_u);
        total += of_u;
% else:
            found[row + k] = both;
            found[mirror] = both;
            total += both;
        }
% endif
    }
    ${sums.leave()}
}
