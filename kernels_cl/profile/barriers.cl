// Barriers at which nobody waits for long, one after the other: what a barrier alone costs.
__kernel void barriers(const uint rounds)
{
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) barrier(CLK_LOCAL_MEM_FENCE);
}
