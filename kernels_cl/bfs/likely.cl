// The likeliest parents of each vertex: of its first in-neighbours, those with the most out-edges${"," if layout == "part" else "."}
% if layout == "part":
// as far as these lead to the vertices whose rows are here.
% endif

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
% if layout == "part":
#define OUT_EDGES(v) ((offset_t)out_edges[v])
% elif layout == "blocks":
#define OUT_EDGES(v) ((offset_t)row_lengths[v])
% else:
#define OUT_EDGES(v) (indptr[(v) + 1] - indptr[v])
% endif
% if layout == "blocks":
#define IN_EDGES(v) OUT_EDGES(v)        // each edge is there in both directions
% else:
#define IN_EDGES(v) (in_indptr[(v) + 1] - in_indptr[v])
% endif

% if layout == "part":
__kernel void bfs_in_neighbours(
    __global const uint *restrict in_indices,       // [m]
    const ulong m,
    volatile __global uint *out_edges)              // [vertices of the graph] in/out, 0 on entry
{
    for (ulong e = get_global_id(0); e < m; e += get_global_size(0)) atomic_inc(&out_edges[in_indices[e]]);
}

% endif
__kernel void bfs_likely(
% if layout == "part":
    __global const uint *restrict out_edges,        // [vertices of the graph]
    const uint first,                               // vertex of the graph that is 0 here
% else:
    __global const offset_t *restrict indptr,       // [n + 1], in blocks [n]
% endif
% if layout == "blocks":
    __global const uint *restrict row_lengths,      // [n]
% endif
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose, in blocks [n]
    % if addressed:
    const ulong in_indices_address,                 // of [m] in host memory
    % else:
    __global const uint *restrict in_indices,       // [m]
    % endif
    const uint n,
    const uint most,                                // in-neighbours that are looked at
    __global uint *restrict likely)                 // [${kept} n] out, likeliest first; itself where it has no more
{
    % if addressed:
    __global const uint *const in_indices = (__global const uint *)in_indices_address;
    % endif
    for (uint v = get_global_id(0); v < n; v += get_global_size(0)) {
        const offset_t row_begin = in_indptr[v];
        const uint degree = (uint)min(IN_EDGES(v), (offset_t)most);
        % for k in range(kept):
        uint best${k} = ${"first + v" if layout == "part" else "v"};
        offset_t edges${k} = 0;
        % endfor
        for (uint rank = 0; rank < degree; ++rank) {
            uint u = in_indices[row_begin + rank];
            offset_t edges = OUT_EDGES(u);
            % for k in range(kept):
            if (edges > edges${k}) {
                const uint less = best${k};
                const offset_t less_edges = edges${k};
                best${k} = u;
                edges${k} = edges;
                u = less;
                edges = less_edges;
            }
            % endfor
        }
        % for k in range(kept):
        likely[(size_t)v * ${kept} + ${k}] = best${k};
        % endfor
    }
}
