<%namespace name="control" file="/control/set_point.mako"/>
// A controller by itself: each work-item turns one of its own, by made-up counts.
${control.declarations()}

#define BLOCK ${block_words}u

__kernel void check_control(
    const uint rounds,
    __global const double *restrict begins,     // [work-items, 4] set point, degree, delta, unit
    __global const double *restrict counts,     // [work-items, rounds, 9] as control_turn takes them
    volatile __global uint *blocks,             // [work-items, BLOCK] scratch
    __global double *restrict found)            // [work-items, rounds, 17] out
{
    const uint item = (uint)get_global_id(0);
    volatile __global uint *const control_block = blocks + item * BLOCK;
    __global const double *const begin = begins + item * 4u;
    control_begin(control_block, begin[1], begin[2], begin[3]);
    for (uint round = 0; round < rounds; ++round) {
        __global const double *const seen = counts + (item * rounds + round) * 9u;
        __global double *const out = found + (item * rounds + round) * 17u;
        out[0] = (double)control_turn(control_block, begin[0], ${", ".join(f"seen[{k}]" for k in range(9))});
        % for k, name in enumerate(("DELTA", "BOUND", "BELOW", "STEPS", "NEAR", "CHANGE")):
        out[${1 + k}] = CONTROL(${name});
        % endfor
        for (uint k = 0; k < 5u; ++k) {
            out[7u + k] = CONTROL_MODEL(DEGREE)[k];
            out[12u + k] = CONTROL_MODEL(DENSITY)[k];
        }
    }
}

__kernel void check_model(
    __global const double *restrict seen,       // [work-items, 2] x and y
    volatile __global double *models)           // [work-items, 5] in, out
{
    const uint item = (uint)get_global_id(0);
    model_update(models + item * 5u, seen[item * 2u], seen[item * 2u + 1u]);
}
