<%namespace name="stress" file="/lanes/stress/stress.mako"/>\
// Repeats one instruction in a straight line, on as many unrelated chains as are asked for.
//
// With `barriers` the line is cut by that many barriers of the work-group. With `paths` the lanes part
// into that many ways which all take the same steps, one after the other. Units from `units` on leave
// at once, so the others compute alone.
//
// No races: each work-item keeps to itself, and the first lane of each SIMD group writes its span.
${stress.vocabulary()}
__kernel __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void operations(
    const uint rounds,
    const ${kind} first, const ${kind} second, const ${kind} third,     // operands no compiler knows
    const uint units,                           // compute units that take part
    const uint never,                           // no local id; keeps the results alive
    __global ulong *restrict spans,             // [SIMD groups, 3] out: start, end, 1 + unit
    __global ${kind} *restrict sink)            // [1]
{
    if (unit_id() >= units) return;
    ${stress.registers(kind, chains)}\
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong start = cycle_counter();
    #pragma unroll 1
    for (uint round = 0u; round < rounds; ++round) {
% if paths:
% for path in range(paths):
        if ((uint)get_local_id(0) % ${lanes}u * ${paths}u / ${lanes}u == ${path}u) {
            ${stress.path_steps(path, unroll)}\
        }
% endfor
% else:
% for part in range(max(barriers, 1)):
        ${stress.steps(operation, unroll // max(barriers, 1), chains)}\
% if barriers:
        barrier(CLK_LOCAL_MEM_FENCE);
% endif
% endfor
% endif
    }
    keep_span(spans, start);
    if ((uint)get_local_id(0) == never) {
        sink[0] = ${stress.result(chains)};
    }
}
