## philox: random numbers that are a function of a key and a counter (Philox4x32-10).
##
## vocabulary()  at file scope, once
## bunches(count)  at file scope, once: philox_bunch(x, y, z, w, key), the same for `count` counters, whose words are in
##               these arrays, and of which the words come to be there; compilers for processors make vectors of it
## In scope      nothing
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
##
## uint4 philox(uint4 counter, uint2 key)   four words, independent between counters and between keys
## uint random_below(uint word, uint count)        0 .. count - 1, or 0 if count is
## ulong random_below_ulong(uint2 words, ulong count)
##
## J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
## SC 2011.

<%!
    ROUNDS = 10
    MULTIPLIERS = ("0xD2511F53u", "0xCD9E8D57u")
    WEYL = ("0x9E3779B9u", "0xBB67AE85u")
%>

<%def name="one_round(x, y, z, w)">\
// Both halves of a product at once: where mul_hi() is a function it takes most of the time.
const ulong first = (ulong)${MULTIPLIERS[0]} * ${x}, third = (ulong)${MULTIPLIERS[1]} * ${z};
            ${x} = (uint)(third >> 32) ^ ${y} ^ key.x;
            ${y} = (uint)third;
            ${z} = (uint)(first >> 32) ^ ${w} ^ key.y;
            ${w} = (uint)first;
</%def>

<%def name="vocabulary()">\
static inline uint4 philox(uint4 counter, uint2 key) {
    for (uint round = 0u; round < ${ROUNDS}u; ++round) {
        ${one_round("counter.x", "counter.y", "counter.z", "counter.w")}
        key += (uint2)(${WEYL[0]}, ${WEYL[1]});
    }
    return counter;
}

// The bias of a product's high half is below count / 2^32, and count / 2^64.
static inline uint random_below(uint word, uint count) { return (uint)((ulong)word * count >> 32); }

static inline ulong random_below_ulong(uint2 words, ulong count) {
    return mul_hi(upsample(words.x, words.y), count);
}
</%def>

<%def name="bunches(count)">\
static inline void philox_bunch(uint *restrict x, uint *restrict y, uint *restrict z, uint *restrict w, uint2 key) {
    for (uint round = 0u; round < ${ROUNDS}u; ++round) {
        for (uint k = 0u; k < ${count}u; ++k) {
            ${one_round("x[k]", "y[k]", "z[k]", "w[k]")}
        }
        key += (uint2)(${WEYL[0]}, ${WEYL[1]});
    }
}
</%def>
