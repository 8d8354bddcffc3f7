## philox: random numbers that are a function of a key and a counter (Philox4x32-10).
##
## vocabulary()  at file scope, once
## In scope      nothing
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
##
## uint4 philox(uint4 counter, uint2 key)   four words, independent between counters and between keys
## uint random_below(uint word, uint count)        0 .. count - 1; count is not 0
## ulong random_below_ulong(uint2 words, ulong count)
##
## J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
## SC 2011.

<%!
    ROUNDS = 10
    MULTIPLIERS = ("0xD2511F53u", "0xCD9E8D57u")
    WEYL = ("0x9E3779B9u", "0xBB67AE85u")
%>

<%def name="vocabulary()">\
static inline uint4 philox(uint4 counter, uint2 key) {
    for (uint round = 0u; round < ${ROUNDS}u; ++round) {
        counter = (uint4)(
            mul_hi(${MULTIPLIERS[1]}, counter.z) ^ counter.y ^ key.x, ${MULTIPLIERS[1]} * counter.z,
            mul_hi(${MULTIPLIERS[0]}, counter.x) ^ counter.w ^ key.y, ${MULTIPLIERS[0]} * counter.x);
        key += (uint2)(${WEYL[0]}, ${WEYL[1]});
    }
    return counter;
}

// The bias of a product's high half is below count / 2^32, and count / 2^64.
static inline uint random_below(uint word, uint count) { return mul_hi(word, count); }

static inline ulong random_below_ulong(uint2 words, ulong count) {
    return mul_hi(upsample(words.x, words.y), count);
}
</%def>
