// Transpose of a square matrix, by tiles in local memory and without.
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

// Without local memory: a work-group moves blocks of ${block} columns, so that either reads or writes, or
// both to a part, are of neighbouring words.
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void transpose_directly(
    __global const uint *restrict from,
    __global uint *restrict to,
    const uint n)                               // a multiple of ${block} and of ${group_size // block}
{
    const uint lid = (uint)get_local_id(0), x = lid % ${block}u, y = lid / ${block}u;
    const uint across = n / ${block}u, blocks = across * (n / ${group_size // block}u);
    for (uint b = (uint)get_group_id(0); b < blocks; b += (uint)get_num_groups(0)) {
        const uint column = b % across * ${block}u + x, row = b / across * ${group_size // block}u + y;
        to[(size_t)column * n + row] = from[(size_t)row * n + column];
    }
}
