## sort: the numbers of a work-group in its local memory, ascending.
##
## bitonic(keys, size)   `size` is a power of two and the same on all work-items
## ranked(keys, count)   each number counts those below it, so no two may be equal: for few of them, at most
##                  GROUP_SIZE, which is the same on all work-items
## In scope         GROUP_SIZE
## Called by        all work-items, in uniform control flow, with `keys` written and a barrier passed
## Barriers         bitonic: one a step, log2(size) * (log2(size) + 1) / 2 in all; ranked: two; none is
##                  needed behind them
## Local memory     none but the keys

<%def name="bitonic(keys, size)">\
for (uint width = 2u; width <= ${size}; width <<= 1) {
    for (uint step = width >> 1; step; step >>= 1) {
        for (uint pair = (uint)get_local_id(0); pair < ${size} / 2u; pair += GROUP_SIZE) {
            const uint low = 2u * pair - (pair & (step - 1u)), high = low + step;
            if ((${keys}[low] > ${keys}[high]) == ((low & width) == 0u)) {
                const ulong swapped = ${keys}[low];
                ${keys}[low] = ${keys}[high];
                ${keys}[high] = swapped;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
</%def>

<%def name="ranked(keys, count)">\
{
    const uint own = (uint)get_local_id(0);
    const ulong ranked_key = own < ${count} ? ${keys}[own] : 0ul;
    uint rank = 0u;
    if (own < ${count}) {
        for (uint other = 0u; other < ${count}; ++other) rank += ${keys}[other] < ranked_key;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own < ${count}) ${keys}[rank] = ranked_key;
    barrier(CLK_LOCAL_MEM_FENCE);
}
</%def>
