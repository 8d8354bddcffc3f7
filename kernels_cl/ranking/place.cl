<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="units" file="/rows/units.mako"/>\
// Rows whose edges name places of shares instead of vertices, in the order of places: numbers of row and
// place in one word, which are sorted, and what of them is left.
${lanes.vocabulary()}

typedef uint offset_t;
${units.functions()}

${lanes.kernel(group_size)} place_name(
    __global const uint *restrict indptr,       // [n + 1]
    __global const uint *restrict indices,      // [m]
    __global const uint *restrict places,       // [n]
    const uint n,
    const uint m,
    const uint bits,                            // of a place
    __global ulong *restrict words)             // [m] out
{
    <%units:each_unit sums="indptr" rows="n" total="m">
        words[unit] = (ulong)row << bits | places[indices[unit]];
    </%units:each_unit>
}

${lanes.kernel(group_size)} place_keep(
    const uint m,
    const uint bits,
    __global const ulong *restrict words,       // [m]
    __global uint *restrict placed)             // [m] out
{
    <%share:each_item count="m">
        placed[item] = (uint)(words[item] & ((1ul << bits) - 1ul));
    </%share:each_item>
}
