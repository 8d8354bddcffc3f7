## normed: what follows a product that is brought to length 1.
##
## kernels()     at file scope of power.cl, whose names it takes: power_length and power_scale

<%namespace name="group" file="/group/group.mako"/>
<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="rows" file="/balance/row_sums.mako"/>
<%namespace name="share" file="/grid/items.mako"/>

<%def name="kernels()">\
// Squares of what the product left.
${lanes.kernel(shares["group_size"])} power_length(
    const uint n,
    __global const uint *restrict state,        // [1]
    __global const real_t *restrict x,          // [n]
    __global real_t *restrict squares)          // [groups] out
{
    ${lanes.setup()}
    ${group.setup()}
    if (all_converged(state)) return;
    real_t square = 0;
    <%share:each_item count="n">
        square += x[item] * x[item];
    </%share:each_item>
    lane_converge();
    const real_t total = group_reduce_add(square);
    if (get_local_id(0) == 0) squares[get_group_id(0)] = total;
}

// Bring it to length 1, and find by how much each entry changed.
${lanes.kernel(shares["group_size"])} power_scale(
    const uint n,
    __global const uint *restrict state,        // [1]
    __global const real_t *restrict squares,    // [groups]
    __global const real_t *restrict product,    // [n]
    __global real_t *restrict x,                // [n] in/out
    __global real_t *restrict errors)           // [groups] out
{
    ${lanes.setup()}
    ${group.setup()}
    if (all_converged(state)) return;
    real_t length = 0;
    for (uint i = (uint)get_local_id(0); i < (uint)get_num_groups(0); i += GROUP) length += squares[i];
    lane_converge();
    length = group_reduce_add(length);
    const real_t scale = length > 0 ? 1 / sqrt(length) : 1;
    real_t error = 0;
    <%share:each_item count="n">
        const real_t now = product[item] * scale;
        error += ${rows.magnitude("now - x[item]")};
        x[item] = now;
    </%share:each_item>
    lane_converge();
    const real_t total = group_reduce_add(error);
    if (get_local_id(0) == 0) errors[get_group_id(0)] = total;
}
</%def>
