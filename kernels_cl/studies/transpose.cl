// Transpose of a square matrix by tiles in local memory.
//
// A work-group moves tiles of ${tile} x ${tile} elements; rows of a tile are ${tile + padding} apart, so
// that a column meets ${"each bank once" if padding else "few banks many times"}. No races: tiles are apart.

#define TILE ${tile}u
#define ROW ${tile + padding}u

__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void transpose(
    __global const uint *restrict from,         // [n, n]
    __global uint *restrict to,                 // [n, n] out
    const uint n)                               // a multiple of TILE
{
    __local uint words[${tile * (tile + padding)}];
    const uint lid = (uint)get_local_id(0), x = lid % TILE;
    const uint across = n / TILE, tiles = across * across;
    for (uint t = (uint)get_group_id(0); t < tiles; t += (uint)get_num_groups(0)) {
        const uint left = t % across * TILE, top = t / across * TILE;
        for (uint y = lid / TILE; y < TILE; y += ${group_size // tile}u)
            words[y * ROW + x] = from[(size_t)(top + y) * n + left + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint y = lid / TILE; y < TILE; y += ${group_size // tile}u)
            to[(size_t)(left + y) * n + top + x] = words[x * ROW + y];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
