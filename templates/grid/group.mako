## group: names for a work-item's place, and work-group barriers that vanish for groups of one.
##
## declarations()   at file scope, after the vocabularies of lanes and of memory
## words(clocked)   the same with those, and the device's clock if it is asked for
## kernel()         what stands before the name of an entry point whose work-groups have GROUP_SIZE work-items
## module        has_one_item(config): whether work-items are groups of their own, which need no barrier
##               and no local memory

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="clock" file="/memory/clock.mako"/>

<%!
    def has_one_item(config):
        return config.group_size == 1
%>
<%def name="kernel()">${lanes.kernel(config.group_size)}</%def>

<%def name="words(clocked=False)">
${lanes.vocabulary()}
${memory.vocabulary()}
% if clocked:
${clock.vocabulary()}
% endif
${declarations()}
</%def>

<%def name="declarations()">
#define GROUP_SIZE ${config.group_size}u
#define GROUP_LANES ${config.group_size // config.lanes}u   // SIMD groups in a work-group
#define LANE_GROUP ((uint)get_local_id(0) / LANES)
#define NO_SPACE 0xffffffffu
% if has_one_item(config):
#define group_barrier()
#define group_barrier_global()
% else:
#define group_barrier() barrier(CLK_LOCAL_MEM_FENCE)
% if traits.memory_ops == "ptx":
// The barrier orders the group's accesses to all memory; only fence_device() reaches further.
#define group_barrier_global() barrier(CLK_LOCAL_MEM_FENCE)
% else:
#define group_barrier_global() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
% endif
% endif
% if config.wide_offsets:
typedef ulong offset_t;
#define SHUFFLE_OFFSET(x, lane) lane_shuffle_ulong(x, lane)
typedef ulong edges_t;    // a sum of degrees
#define EDGES_REDUCE(x) lane_reduce_add_ulong(x)
#define EDGES_ADD(p, x) atom_add((p), (x))
% else:
typedef uint offset_t;
#define SHUFFLE_OFFSET(x, lane) lane_shuffle(x, lane)
typedef uint edges_t;    // a sum of degrees
#define EDGES_REDUCE(x) lane_reduce_add(x)
#define EDGES_ADD(p, x) atomic_add((p), (x))
% endif
</%def>
