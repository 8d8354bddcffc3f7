## classes: which size of block a row of some length needs.
##
## functions()      at file scope
## Called by        any work-item, in any control flow
## Barriers         none

<%def name="functions()">\
// The class of a row: 0 without entries, else one more than the number of its block's size. Powers of
// two up to a block array of 2^block_bits entries, from `least` entries on; then up to four to each, as
// clgraph.dynamic.storage.sizes has them.
static inline uint class_of(const uint length, const uint least, const uint block_bits) {
    if (length == 0u) return 0u;
    const uint last = max(length, least) - 1u;
    const uint bits = last ? 32u - clz(last) : 0u;
    if (bits <= block_bits) return bits + 1u;
    const uint over = bits - block_bits, step_bits = min(over - 1u, 2u);
    const uint before = over <= 3u ? (1u << step_bits) - 1u : 4u * over - 9u;
    return block_bits + 2u + before + (last >> (bits - 1u - step_bits)) - (1u << step_bits);
}
</%def>
