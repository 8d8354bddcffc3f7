## group: scans, reductions and broadcasts over a work-group, for any associative operator.
##
## vocabulary(group_size)   at file scope, once, after lanes.vocabulary()
## named(name, type)        at file scope: declares an operator of /group/operators.mako
## operator(name, type, identity)   the same for any other; its body sees a and b, the names of two
##                          values, and is the expression that combines a, then b
## setup()                  a kernel's first statement, after lanes.setup()
## Called by                all work-items of the group, in uniform control flow
## Barriers                 two or three a call, none where the group is one SIMD group; the local
##                          memory is free for the next call on return
## Local memory             8 * (group_size / LANES + 1) bytes where a group has several SIMD groups
##
## An operator is associative and need not commute: values combine in the order of local ids. A type
## T is uint, int, float, uint2, ulong, long or double; OP is the operator's name.
## GROUP_SIZE                              work-items of a group
## GROUP_PARAMS, GROUP_ARGS                what LANE_PARAMS and LANE_ARGS are, for these words too
## T group_scan_exclusive_OP(x, T *total)  all before x; total: the whole group, on all work-items
## T group_scan_inclusive_OP(x, T *total)  all up to x
## T group_reduce_OP(x)                    the same on all work-items
## uint group_broadcast(x, item)           x of work-item `item`, which is the same on all
## T OP_identity(), T OP_combine(T a, T b)

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="lane_scan" file="/group/lane_scan.mako"/>
<%namespace name="operators" file="/group/operators.mako"/>

<%def name="vocabulary(group_size)">\
<%
    simd_groups = lanes.module.groups_of(context, group_size)
    several = simd_groups > 1
%>\
#define GROUP_SIZE ${group_size}u
#define GROUP_PARAMS LANE_PARAMS ${"__local ulong *group_scratch," if several else ""}
#define GROUP_ARGS LANE_ARGS ${"group_scratch," if several else ""}
#define GROUP_SETUP ${f"__local ulong group_scratch[{simd_groups + 1}];" if several else ""}
#define group_broadcast(x, item) group_broadcast_from(GROUP_ARGS (x), (item))

LANE_FUNCTION uint group_broadcast_from(GROUP_PARAMS uint x, uint item) {
% if several:
    if (get_local_id(0) == item) {
        group_scratch[0] = x;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint y = (uint)group_scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return y;
% else:
    return lane_broadcast(x, item);
% endif
}
</%def>

<%def name="setup()">\
GROUP_SETUP
</%def>

<%def name="named(name, type)">\
${functions(name, type, operators.module.identity(name, type), operators.module.expression(name))}\
</%def>

<%def name="operator(name, type, identity)">\
${functions(name, type, identity, capture(caller.body, a="a", b="b").strip())}\
</%def>

<%def name="functions(name, type, identity, expression)">\
${lane_scan.functions(name, type, identity, expression)}
#define group_scan_exclusive_${name}(x, total) group_scan_in_${name}(GROUP_ARGS (x), 0, (total))
#define group_scan_inclusive_${name}(x, total) group_scan_in_${name}(GROUP_ARGS (x), 1, (total))
#define group_reduce_${name}(x) group_reduce_in_${name}(GROUP_ARGS (x))

LANE_FUNCTION ${type} group_scan_in_${name}(GROUP_PARAMS ${type} x, int inclusive, ${type} *sum) {
    x = lane_scan_inclusive_in_${name}(LANE_ARGS x);
${totals(name, type, "x")}\
    *sum = total;
    if (!inclusive) {
        x = ${name}_shuffle_up(LANE_ARGS x, 1u);
        x = lane_id() == 0u ? ${name}_identity() : x;
    }
    return ${name}_combine(before, x);
}

LANE_FUNCTION ${type} group_reduce_in_${name}(GROUP_PARAMS ${type} x) {
    x = lane_reduce_in_${name}(LANE_ARGS x);
${totals(name, type, "x")}\
    (void)before;
    return total;
}
</%def>

## Declares `before`, what all lower SIMD groups combine to, and `total`, what all combine to, given
## what one's own combines to in `mine` on the last lane.
<%def name="totals(name, type, mine)">\
#if GROUP_SIZE == LANES
    const ${type} before = ${name}_identity();
    const ${type} total = ${name}_shuffle(LANE_ARGS ${mine}, LANES - 1u);
#else
    const uint lane_group = (uint)get_local_id(0) / LANES;
    const uint simd_groups = GROUP_SIZE / LANES;
    __local ${type} *totals = (__local ${type} *)group_scratch;
    if (lane_id() == LANES - 1u) {
        totals[lane_group] = ${mine};
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if GROUP_SIZE <= LANES * LANES
    // Every SIMD group scans all totals for itself, which spares a barrier.
    ${type} scanned = lane_id() < simd_groups ? totals[lane_id()] : ${name}_identity();
    scanned = lane_scan_inclusive_in_${name}(LANE_ARGS scanned);
    const ${type} total = ${name}_shuffle(LANE_ARGS scanned, simd_groups - 1u);
    const ${type} below = ${name}_shuffle(LANE_ARGS scanned, lane_group == 0u ? 0u : lane_group - 1u);
    const ${type} before = lane_group == 0u ? ${name}_identity() : below;
#else
    if (get_local_id(0) == 0) {
        ${type} running = ${name}_identity();
        for (uint slot = 0u; slot < simd_groups; ++slot) {
            const ${type} next = totals[slot];
            totals[slot] = running;
            running = ${name}_combine(running, next);
        }
        totals[simd_groups] = running;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ${type} before = totals[lane_group];
    const ${type} total = totals[simd_groups];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
</%def>
