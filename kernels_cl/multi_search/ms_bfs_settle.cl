<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="row_bits" file="/multi_search/ms_bfs_rows.mako"/>
// What searches in shared bits found, from the rows that ms_bfs.cl kept of several levels.
//
// A result is written once, in whole lines of memory, where level by level each line was read and
// written several times (28 ms of 48 for 1,024 searches of four million vertices on an H200).
//
// Races: none; groups add to the sums of a search by atomics.

${memory.vocabulary()}
${adding.vocabulary()}

${row_bits.declarations()}
#define TILE ${config.settle_tile}u                   // neighbouring vertices that a work-item settles

<%def name="settle_arguments()">
    const uint searches,
    const uint first_level,                         // [first_level, level] have been gathered
    __global const uint *restrict seen,
    __global const uint *restrict rows,
    __global const uchar *restrict actives,
    __global ${config.ctype} *out,                  // [searches, n] distances or marks; sums [n] or [searches]
    __global uint *counts,                          // [2, n or searches]: how many; the largest distance
    __global ${config.real} *harmonic,              // [n or searches] sum of 1 / distance
    ${row_bits.arguments()}
</%def>

## The levels to settle that found anything, and those of them that reached a vertex, a bit each.
<%def name="levels_that_found()">
uint found_levels = 0;
for (uint l = first_level; l <= level; ++l)
    if (FOUND(l)) found_levels |= 1u << (l - first_level);
</%def>

<%def name="levels_of(v)">
uint alive = 0;
for (uint rest = found_levels; rest; rest &= rest - 1) {
    const uint l = (uint)popcount(~rest & (rest - 1));
    if (actives[SLOT(first_level + l) + ${v}]) alive |= 1u << l;
}
</%def>

% if config.output == "distances":
// Distances of the levels that were kept, by one work-item a vertex: neighbours write side by side.
__kernel void ms_bfs_settle(${settle_arguments()})
{
    const int initial = first_level == 0;           // then what was not found is written too
    ${levels_that_found()}
    const uint tile_step = (uint)get_global_size(0) * TILE;
    for (ulong tile = get_global_id(0) * (ulong)TILE; tile < n; tile += tile_step) {
        const uint here = ${"min((uint)TILE, n - (uint)tile)" if config.settle_tile > 1 else "1u"};
        uint alive_of[TILE], any[TILE], alive_any = 0;
        % for bit in range(config.level_bits):
        uint plane${bit}[TILE];                     // bit ${bit} of the levels, by search
        % endfor
        for (uint t = 0; t < here; ++t) {
            const uint v = (uint)tile + t;
            ${levels_of("v")}
            alive_of[t] = alive;
            alive_any |= alive;
        }
        if (!alive_any && !initial) continue;
        for (uint w = 0; w * 32u < searches; ++w) {
            uint any_here = 0;
            for (uint t = 0; t < here; ++t) {
                any[t] = 0;
                % for bit in range(config.level_bits):
                plane${bit}[t] = 0;
                % endfor
                for (uint rest = alive_of[t]; rest; rest &= rest - 1) {
                    const uint l = (uint)popcount(~rest & (rest - 1));
                    const uint word = rows[(SLOT(first_level + l) + tile + t) * ROW_WORDS + w];
                    any[t] |= word;
                    % for bit in range(config.level_bits):
                    plane${bit}[t] |= l >> ${bit} & 1u ? word : 0u;
                    % endfor
                }
                any_here |= any[t];
            }
            if (!any_here && !initial) continue;
            for (uint s = 0; s < min(32u, searches - w * 32u); ++s) {
                __global ${config.ctype} *const to = out + ((ulong)w * 32u + s) * n + tile;
                for (uint t = 0; t < here; ++t) {
                    const uint l = ${" | ".join(f"(plane{bit}[t] >> s & 1u) << {bit}" for bit in range(config.level_bits))};
                    const int is_found = any[t] >> s & 1u;
                    if (is_found || initial) to[t] = is_found ? (${config.ctype})(first_level + l) : -1;
                }
            }
        }
    }
}
% elif config.output == "marks":
// What was seen in the end, by one work-item a vertex.
__kernel void ms_bfs_settle(${settle_arguments()})
{
    for (uint v = (uint)get_global_id(0); v < n; v += (uint)get_global_size(0))
        for (uint s = 0; s < searches; ++s)
            out[(ulong)s * n + v] = (uchar)(seen[(ulong)v * ROW_WORDS + s / 32u] >> s % 32u & 1u);
}
% elif config.output == "targets":
// Sums over the searches that reached a vertex, by one work-item a vertex.
__kernel void ms_bfs_settle(${settle_arguments()})
{
    ${levels_that_found()}
    for (uint v = (uint)get_global_id(0); v < n; v += (uint)get_global_size(0)) {
        ${levels_of("v")}
        if (first_level == 0) alive &= ~1u;         // sources themselves
        if (!alive) continue;
        uint reached = 0, farthest = 0;
        ulong sum = 0;
        ${config.real} reciprocals = 0;
        for (uint rest = alive; rest; rest &= rest - 1) {
            farthest = first_level + (uint)popcount(~rest & (rest - 1));
            uint here = 0;
            for (uint w = 0; w < ROW_WORDS; ++w) here += (uint)popcount(rows[(SLOT(farthest) + v) * ROW_WORDS + w]);
            reached += here;
            sum += (ulong)here * farthest;
            reciprocals += here / (${config.real})farthest;
        }
        counts[v] += reached;
        counts[n + v] = max(counts[n + v], farthest);
        out[v] += sum;
        harmonic[v] += reciprocals;
    }
}
% else:
// Sums over the vertices that a search reached, by one work-item a word.
__kernel __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void ms_bfs_settle(${settle_arguments()})
{
    __local uint bits[ROW_WORDS * 32];
    const uint lid = (uint)get_local_id(0);
    for (uint l = max(first_level, 1u); l <= level; ++l) {
        if (!load_relaxed(&FOUND(l))) break;
        for (uint s = lid; s < ROW_WORDS * 32; s += ${config.group_size}u) bits[s] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (ulong x = get_global_id(0); x < (ulong)n * ROW_WORDS; x += get_global_size(0)) {
            if (!actives[SLOT(l) + x / ROW_WORDS]) continue;
            const uint first = (uint)(x % ROW_WORDS) * 32u;
            for (uint rest = rows[SLOT(l) * ROW_WORDS + x]; rest; rest &= rest - 1) {
                const uint s = first + (uint)popcount(~rest & (rest - 1));
                ${"++bits[s]" if config.counts_alone else "atomic_inc(bits + s)"};
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = lid; s < searches; s += ${config.group_size}u) {
            if (!bits[s]) continue;
            atomic_add(counts + s, bits[s]);
            atomic_max(counts + searches + s, l);
            atom_add(out + s, (ulong)bits[s] * l);
            atomic_add_${config.real}(harmonic + s, bits[s] / (${config.real})l);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
% endif
