## decide: the end of an iteration, of either kind.
##
## kernel()      at file scope of power.cl, whose names it takes: power_decide

<%namespace name="group" file="/group/group.mako"/>
<%namespace name="lanes" file="/lanes/lanes.mako"/>

<%def name="kernel()">\
// Add up an iteration, and see which columns have converged. One work-group.
${lanes.kernel(shares["group_size"])} power_decide(
    const uint groups,
    const real_t tolerance,
% if affine and dangling:
    const real_t portion,                       // of what is held, to each that receives
% endif
    __global const real_t *restrict errors,     // [groups, COLUMNS]
% if affine and dangling:
    __global const real_t *restrict held,       // [groups, COLUMNS]
    __global real_t *restrict dangling,         // [COLUMNS] in/out
% endif
    __global real_t *restrict error,            // [COLUMNS] in/out: the change of the last iteration
    __global uint *restrict state)              // [COLUMNS] in/out
{
    ${lanes.setup()}
    ${group.setup()}
    for (uint c = 0u; c < COLUMNS; ++c) {
        if (state[c] & CONVERGED) continue;
        real_t sum = 0;
% if affine and dangling:
        real_t hold = 0;
% endif
        uint alone = 0u;                        // what is before that is loaded by fours
% if shares["columns"] == 1:
        alone = groups / 4u * 4u;
        ${real}4 sums = 0;
% if affine and dangling:
        ${real}4 holds = 0;
% endif
#pragma unroll 4
        for (uint i = (uint)get_local_id(0); i < groups / 4u; i += GROUP) {
            sums += ((__global const ${real}4 *)errors)[i];
% if affine and dangling:
            holds += ((__global const ${real}4 *)held)[i];
% endif
        }
        sum = (sums.x + sums.y) + (sums.z + sums.w);
% if affine and dangling:
        hold = (holds.x + holds.y) + (holds.z + holds.w);
% endif
% endif
        for (uint i = alone + (uint)get_local_id(0); i < groups; i += GROUP) {
            sum += errors[i * COLUMNS + c];
% if affine and dangling:
            hold += held[i * COLUMNS + c];
% endif
        }
        lane_converge();
        sum = group_reduce_add(sum);
% if affine and dangling:
        hold = group_reduce_add(hold);
% endif
        barrier(CLK_GLOBAL_MEM_FENCE);          // all have looked whether this column goes on
        if (get_local_id(0) == 0) {
            error[c] = sum;
% if affine and dangling:
            dangling[c] = portion * hold;
% endif
            state[c] = (state[c] + 1u) | (sum < tolerance ? CONVERGED : 0u);
        }
    }
}
</%def>
