<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="form" file="${'/bfs/parts_' + context['exchange'] + '.mako'}"/>
// Breadth-first search over several devices: what each does with its part of the vertices, a kernel
// for each step of a level. Between steps the host carries what devices have to tell each other.
//
// Vertices of a part have local numbers; queues and rows are by these, neighbours by global ones.

${lanes.vocabulary()}
${memory.vocabulary()}
${group.declarations()}

#define UNREACHED (${UNREACHED})
#define PARTS ${parts}u
// Local number and owner of a vertex, by turns or by ranges.
% if exchange == "candidates":
#define GLOBAL(local_) ((local_) * PARTS + own_part)
#define LOCAL(vertex_) ((vertex_) / PARTS)
#define OWNER(vertex_) ((vertex_) % PARTS)
% else:
#define GLOBAL(local_) ((local_) + first_vertex)
% endif
typedef uint entry_t;
#define ENTRY_VERTEX(entry_) (entry_)
#define ENTRY_BEGIN(entry_) indptr[entry_]
#define ENTRY_DEGREE(entry_) ((uint)(indptr[(entry_) + 1] - indptr[entry_]))
// Strides of lane groups over [0, count), all lanes together: `first` is the first lane's.
#define FIRST_OF_LANES ((LANE_GROUP * (uint)get_num_groups(0) + (uint)get_group_id(0)) * LANES)
#define STRIDE_OF_LANES (GROUP_LANES * (uint)get_num_groups(0) * LANES)
#define KERNEL __kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))

KERNEL void part_fill(const uint count, const int value, __global int *restrict words) {
    for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) words[i] = value;
}

KERNEL void part_source(
    const uint place,                               // of the source in both
    const int vertex,
    __global int *restrict distances,
    __global int *restrict predecessors)            // or one element
{
    if (get_global_id(0) == 0) {
        distances[place] = 0;
        % if problem.predecessors:
        predecessors[place] = vertex;
        % endif
    }
}

${form.kernels()}
