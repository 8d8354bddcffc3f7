## radix_served: ranks of keys that carry nothing, by the order in which local memory serves lanes.
##
## count            how many keys of each digit a SIMD group has, and how many each key found there before it
## places           from those to places in the tile
## scatter          writes the tile in order to the output, and looks whether it is in order
## mended           puts a tile right that was not, and writes it again
## In scope         the names of /grid/radix.mako's sweep
## Called by        all work-items, in uniform control flow
## Barriers         places: one; mended: one, and some more a round where a tile is wrong
## Local memory     none but the sweep's
##
## An atomic addition to local memory says how many were there before, which would be a key's rank if lanes
## that meet at a word were served in their order. OpenCL does not promise that; an H200 did it for all of
## 10^9 keys. So it is made use of and looked at: keys that carry nothing need no more than to rise by the bits
## sorted so far, and two neighbours of a tile that do not are put right by exchanges. With matched lanes a
## pass of 2^27 keys of 4 bytes took 0.61 ms there, 0.48 so; looking at the order 0.01 of that, and writing in runs,
## not in one, 0.06.

<%def name="count(items)">\
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) rank[item] = atomic_inc(&ours[DIGIT(loaded[item])]);
</%def>

## The digit's bits are read anew, so that no compiler keeps where each key's digit was counted in registers.
<%def name="places(items, at_bit)">\
{
    const uint shift = ${at_bit};
    #pragma unroll
    for (uint item = 0u; item < ${items}u; ++item) rank[item] += ours[DIGIT(loaded[item])];
}
barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) tile_keys[rank[item]] = loaded[item];
</%def>

## There is a key before the tile's first, 0. What stands behind the last element is as large as a key can be.
<%def name="scatter(index, key, items, sorted)">\
const ${key} so_far = shift + DIGIT_BITS < 8u * sizeof(${key}) ? ((${key})1 << (shift + DIGIT_BITS)) - 1u : ~(${key})0;
uint falls = 0u;
#pragma unroll
for (uint item = 0u; item < ${items}u; ++item) {
    const uint at = lid + item * GROUP_SIZE;
    const ${key} x = tile_keys[at];
    falls |= (uint)((x & so_far) < (tile_keys[(int)at - 1] & so_far));
    const ${index} to = offset[DIGIT(x)] + at;
    if (at < filled) ${sorted}[to] = x;
}
for (uint at = filled + lid; at < TILE; at += GROUP_SIZE) falls |= (uint)(tile_keys[at] != (${key})~(${key})0);
</%def>

<%def name="mended(key, sorted, wrong)">\
if (falls) ${wrong} = 1u;
barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
if (${wrong}) {
    while (${wrong}) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid == 0u) ${wrong} = 0u;
        for (uint odd = 0u; odd < 2u; ++odd) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint at = 2u * lid + odd; at + 1u < TILE; at += 2u * GROUP_SIZE) {
                const ${key} x = tile_keys[at], y = tile_keys[at + 1u];
                const int behind = x == (${key})~(${key})0 && y != x;     // what stands behind the last element
                if ((x & so_far) < (y & so_far) || ((x & so_far) == (y & so_far) && !behind)) continue;
                tile_keys[at] = y;
                tile_keys[at + 1u] = x;
                ${wrong} = 1u;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint at = lid; at < filled; at += GROUP_SIZE) ${sorted}[offset[DIGIT(tile_keys[at])] + at] = tile_keys[at];
}
</%def>
