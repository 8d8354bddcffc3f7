<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/group/group.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="rows" file="/balance/row_sums.mako"/>
<%namespace name="normed" file="/ranking/normed.mako"/>
<%namespace name="decide" file="/ranking/decide.mako"/>
// Rankings by repeated products with a graph's matrix, several columns at once, each until it changes
// little enough. Rows hold the edges that lead to a vertex.
//
// affine: x becomes scale * (sum over edges of weight * share[u]) + what every vertex is given, where
// share is x over the weight that leaves u; what vertices without edges hold is given to all. Shares
// alone are kept: x is found from them, and of vertices without edges, whose share nobody reads, is it.
// normed: x becomes the sum, and x itself where `shifted`, over its Euclidean length.
//
// Iterations are launched ahead of knowing whether the last one was needed: once a column has
// converged it is left alone, and once all have, launches return at once.
//
// placed: shares are not in the order of vertices. Those that many edges read come first, near each
// other, so that a cache holds most of what is read; edges name places instead of vertices, row by
// row in their order, and are loaded past that cache.
//
// No races: every vertex is written by the work-item that owns its row, and shares are read from one
// array and written to the other. Totals are taken in an order that depends on the device alone.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.vocabulary(shares["group_size"])}
${group.named("add", real)}
typedef ${"ulong" if wide_offsets else "uint"} offset_t;
typedef ${real} real_t;
#define COLUMNS ${shares["columns"]}u
#define GROUP ${shares["group_size"]}u
// Of each column: iterations done, or one more than them with the sign set once it has converged.
#define CONVERGED 0x80000000u
#define AT(row, c) ((size_t)(row) * COLUMNS + (c))

static inline int all_converged(__global const uint *restrict state) {
    for (uint c = 0u; c < COLUMNS; ++c)
        if (!(state[c] & CONVERGED)) return 0;
    return 1;
}

## What the work-items of a group found, column by column, in their order.
<%def name="kept(name, array)">
% if shares["columns"] == 1:
    {
        const real_t total = group_reduce_add(${name});
        if (get_local_id(0) == 0) ${array}[get_group_id(0)] = total;
    }
% elif shares["ranges"]:
    for (uint c = 0u; c < COLUMNS; ++c) ${array}[get_group_id(0) * COLUMNS + c] = ${name}_of[c];
% else:
    columns_scratch[get_local_id(0)] = ${name};
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < COLUMNS) {
        real_t total = 0;
        for (uint i = (uint)get_local_id(0); i < GROUP; i += COLUMNS) total += columns_scratch[i];
        ${array}[get_group_id(0) * COLUMNS + get_local_id(0)] = total;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
% endif
</%def>

## A private sum for each column that the work-item serves, and how to add to it.
<%def name="sums(*names)">
% for name in names:
% if shares["ranges"] and shares["columns"] > 1:
    real_t ${name}_of[COLUMNS] = {0};
% else:
    real_t ${name} = 0;
% endif
% endfor
% if not shares["ranges"] and shares["columns"] > 1:
    __local real_t columns_scratch[GROUP];
% endif
</%def>
<%def name="add(name, c)">${f"{name}_of[{c}]" if shares["ranges"] and shares["columns"] > 1 else name}</%def>

% for entry, pieced in (("power_pull", False), ("power_pull_pieces", True)):
% if not pieced or shares["pieced"]:
${lanes.kernel(shares["group_size"])} ${entry}(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
% if weighted:
    __global const real_t *restrict weights,    // [m]
% endif
    __global const uint *restrict state,        // [COLUMNS]
    __global const real_t *restrict from,       // [n, COLUMNS] shares, or x where it is normed
    ${rows.arguments("real_t")}
% if affine:
    const real_t scale,
    const real_t uniform,                       // what every vertex is given in every iteration
% if given:
    __global const real_t *restrict given,      // [n, COLUMNS] and what each is given of its own
% endif
% if dangling:
% if not mirrored:
    __global const real_t *restrict outgoing,   // [n] the weight that leaves a vertex
% endif
    __global const real_t *restrict dangling,   // [COLUMNS] what vertices without edges hold
% endif
% if placed:
    __global const uint *restrict places,       // [n] of the share of each vertex
% endif
% if dangling == "own":
    __global const real_t *restrict receives,   // [n, COLUMNS] how that is shared out
% endif
    __global real_t *restrict share,            // [n, COLUMNS] out
% if dangling:
    __global real_t *restrict held,             // [groups, COLUMNS] out: what such vertices hold now
% endif
    __global real_t *restrict errors)           // [groups, COLUMNS] out
% else:
    __global real_t *restrict x)                // [n, COLUMNS] out
% endif
{
    ${lanes.setup()}
    ${group.setup()}
    if (all_converged(state)) return;
% if affine:
    ${sums(*(("error", "hold") if dangling else ("error",)))}
% endif
    <%rows:each_sum type="real_t" pieced="${pieced}">
        <%def name="term(e, c)">${f"weights[{e}] * " if weighted else ""}from[AT(${"load_streaming(indices + (" + e + "))" if placed else f"indices[{e}]"}, ${c})]</%def>
        <%def name="ahead(row, c, leads)">
% if affine:
% if placed:
            const uint place = ${leads} ? places[${row}] : 0u;
% else:
            const uint place = ${row};
% endif
            const real_t share_before = ${leads} ? from[AT(place, ${c})] : 0;
% if dangling:
            const real_t leaves = ${leads} ? ${f"indptr[{row} + 1u] - indptr[{row}]" if mirrored else f"outgoing[{row}]"} : 0;
% endif
% endif
        </%def>
        <%def name="done(row, c, sum)">
% if affine:
        {
            const real_t before = ${"leaves > 0 ? share_before * leaves : share_before" if dangling else "share_before"};
            real_t now = before, share_now = share_before;
            if (!(state[${c}] & CONVERGED)) {
                now = scale * ${sum} + uniform;
% if given:
                now += given[AT(${row}, ${c})];
% endif
% if dangling == "own":
                now += scale * dangling[${c}] * receives[AT(${row}, ${c})];
% elif dangling == "uniform":
                now += scale * dangling[${c}];
% endif
                share_now = ${"leaves > 0 ? now / leaves : now" if dangling else "now"};
            }
            share[AT(place, ${c})] = share_now;
            ${add("error", c)} += ${rows.magnitude("now - before")};
% if dangling:
            if (!(leaves > 0)) ${add("hold", c)} += now;
% endif
        }
% elif shifted:
        x[AT(${row}, ${c})] = ${sum} + from[AT(${row}, ${c})];
% else:
        x[AT(${row}, ${c})] = ${sum};
% endif
        </%def>
    </%rows:each_sum>
% if affine:
    lane_converge();
    ${kept("error", "(errors + PIECED_FROM)" if pieced else "errors")}
% if dangling:
    ${kept("hold", "(held + PIECED_FROM)" if pieced else "held")}
% endif
% endif
}
% endif
% if not pieced:
#define PIECED_FROM ((size_t)${groups}u * COLUMNS)
% endif
% endfor

% if not affine:
${normed.kernels()}
% endif

${decide.kernel()}
