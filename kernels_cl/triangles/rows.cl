<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="intersect" file="/intersect/intersect.mako"/>
<%namespace name="sides" file="/triangles/sides.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="sums" file="/triangles/sums.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>
// Triangles x < v < u, by number, each at its edge from u to v, straight from the rows of the graph:
// a few work-items a vertex u, which take its edges in turn. For graphs of low degree. The first edge
// of a row has no x before it.
//
// What is counted of x and of v goes to tallies of the row of u, so that vertices take at most one
// global atomic for an edge that closes triangles. Where a work-item has the row to itself and counts
// are small, tallies are bytes of a register, and its edges are taken from the last to the first: what
// is counted of v as an x is then known when its edge comes. Else they are in local memory, which the
// work-items of a row share. They are added to zeros: each run leaves zeros for the next one in `spare`.
//
// Supports of edges: each edge intersects whole rows, four places at a time, and its support is
// stored at both of its places. That finds each triangle three times, and needs neither atomics nor
// zeros to begin with, nor a pass that copies.
//
// Races: none that shows; sums are integers.

${group.words()}
#define INTERSECT_STEP()
${intersect.functions()}
${intersect.block_functions("offset_t")}

#define TALLIES ${config.tallies}u      // edges of a row that are tallied
#define SPAN ${config.span}u            // work-items of a row
% if config.tallied == "register":
#define TALLY(i) ((uint)(tally >> (8u * (i))) & 0xffu)
#define TALLY_ADD(i, x) tally += (ulong)(x) << (8u * (i))
% elif config.shared:
#define TALLY(i) tally[i]
#define TALLY_ADD(i, x) atomic_add(&TALLY(i), (x))
% else:
#define TALLY(i) tally[(i) * ${config.group_size}u]
#define TALLY_ADD(i, x) TALLY(i) += (x)
% endif
% if config.per == "vertex":
${sums.declarations(config.sum_bits)}\
% endif

${group.kernel()} triangles_rows(
${signature.parameters(arguments, last=True)}\
{
    ${lanes.setup()}
    ulong total = 0ul;
% if config.per == "vertex" and config.tallied == "local":
% if config.shared:
    __local uint tallies[(TALLIES + 1u) * (${config.group_size} / SPAN)];
    __local uint *const tally = tallies + get_local_id(0) / SPAN * (TALLIES + 1u);
% else:
    __local uint tallies[TALLIES * ${config.group_size}];
    __local uint *const tally = tallies + get_local_id(0);
% endif
    for (uint i = 0u; i < TALLIES; ++i) TALLY(i) = 0u;
    lane_converge();
% endif
    const ulong slots = (ulong)(end - first) * SPAN;
% if config.together:
    // A thread's rows lie side by side.
    const ulong share = (slots + get_global_size(0) - 1u) / get_global_size(0);
    const ulong slots_end = min((get_global_id(0) + 1u) * share, slots);
    for (ulong slot = get_global_id(0) * share; slot < slots_end; ++slot) {
% elif config.shared:
    for (ulong base = get_global_id(0) - lane_id(); base < slots; base += get_global_size(0)) {
        const ulong slot = base + lane_id();
% else:
    for (ulong slot = get_global_id(0); slot < slots; slot += get_global_size(0)) {
% endif
        const uint u = first + (uint)(slot / SPAN);
% if config.per == "vertex":
        const int there = slot < slots;
        if (there && slot % SPAN == 0u) spare[u] = 0u;
        const offset_t row = there ? ${row_at.first("u")} : 0;
        const uint degree = there ? (uint)(${row_at.behind("u")} - row) : 0u;
% else:
        const offset_t row = ${row_at.first("u")};
        const uint degree = (uint)(${row_at.behind("u")} - row);
% endif
        __global const uint *const a = indices + row;
% if config.per == "vertex":
% if config.tallied == "register":
        ulong tally = 0ul;
% else:
        uint tallied = 0u;                      // edges that have a tally
% endif
        uint of_u = 0u;
% endif
% if config.per == "vertex" and config.tallied == "register":
        uint k = 1u;                            // nothing is to be done at the first
        while (k < degree && a[k] < u) ++k;
        while (k > 1u) {
            const uint v = a[--k];
% else:
        for (uint k = (uint)(slot % SPAN)${" + 1u" if config.per != "edge" else ""}; k < degree; k += SPAN) {
            const uint v = a[k];
            if (v >= u) break;
% endif
            uint both = 0u;
            const offset_t other = ${row_at.first("v")};
            const uint nb = (uint)(${row_at.behind("v")} - other);
            __global const uint *const b = indices + other;
% if config.per == "edge":
            uint mirror;                        // the edge's place in the row of v
            both = common(indices, m, row, degree, other, nb, u, &mirror);
            found[row + k] = both;
            if (mirror < nb) found[other + mirror] = both;
% elif config.per == "total" and config.width > 1:
            uint below;
            both = common(indices, m, row, k, other, nb, u, &below);
% else:
            <%intersect:each_match way="merge" a="a" b="b" na="k" nb="nb" part="0u" parts="1u" args="i, j">
                ++both;
% if config.per == "vertex":
                if (${i} < TALLIES) TALLY_ADD(${i}, 1u);
                else SUM_ADD(found, a[${i}], 1u);
% elif config.per == "list":
                const uint slot = atomic_inc(cursor);
                if (slot < room) vstore3((uint3)(a[${i}], v, u), slot, found);
% elif config.per == "sides":
                ${sides.put("numbered[u] + k", f"numbered[u] + {i}", f"numbered[v] + {j}")}
% endif
            </%intersect:each_match>
% endif
% if config.per == "vertex":
% if config.tallied == "register":
            const uint met = both + (k < TALLIES ? TALLY(k) : 0u);
            if (met) SUM_ADD(found, v, met);
% else:
            if (both) tallied = min(k + 1u, TALLIES);
            if (both && k < TALLIES) TALLY_ADD(k, both);
            else if (both) SUM_ADD(found, v, both);
% endif
            of_u += both;
% endif
            total += both;
        }
% if config.per == "vertex":
% if config.tallied == "register":
        if (TALLY(0u)) SUM_ADD(found, a[0], TALLY(0u));
% else:
% if config.shared:
        // The work-items of a row lie side by side in a SIMD group.
        lane_converge();
        for (uint step = 1u; step < SPAN; step *= 2u) {
            of_u += lane_shuffle(of_u, lane_id() ^ step);
            tallied = max(tallied, lane_shuffle(tallied, lane_id() ^ step));
        }
        const uint part = (uint)(slot % SPAN);
        if (part) of_u = 0u;
        for (uint i = part; i < tallied; i += SPAN) {
% else:
        for (uint i = 0u; i < tallied; ++i) {
% endif
            const uint met = TALLY(i);
            if (met) SUM_ADD(found, a[i], met);
            TALLY(i) = 0u;
        }
% endif
        if (of_u) SUM_ADD(found, u, of_u);
% if config.shared:
        lane_converge();
% endif
% endif
    }
    ${sums.leave()}
}
