## mix: a number of 32 bits for each vertex and seed that looks drawn at random.
##
## vocabulary()  at file scope, once
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
##
## uint mixed(uint x, uint2 seed)   a function of both; for one seed no two x have the same
##
## Two finalizers in a row, each of which permutes the numbers; see C. Wellons' survey of such hashes.

<%def name="vocabulary()">\
static inline uint mixed_once(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static inline uint mixed(const uint x, const uint2 seed) {
    return mixed_once(mixed_once(x ^ seed.x) ^ seed.y);
}
</%def>
