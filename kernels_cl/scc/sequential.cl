<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="share" file="/grid/items.mako"/>
// Strongly connected components by one depth-first search on one work-item.
//
// Tarjan's algorithm in Pearce's form, which keeps one word a vertex: 0 before the visit, then the
// least index that the vertex is known to reach, at last COMPONENT_KNOWN with the component's
// representative. Known words are above all indices, so they need no test of their own: only a
// smaller word lowers a vertex. There is no recursion, and a launch pauses when its budget is spent.
//
// A vertex on the search path is not yet among the waiting ones, so both stacks share n places:
// the path grows from the front, vertices that wait for their component from the back.
//
// Races: none, one work-item does everything; the kernel that prepares touches each word once.

${lanes.vocabulary()}
${memory.vocabulary()}

typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define COMPONENT_KNOWN ${COMPONENT_KNOWN}u
% for name, index in words.items():
#define ${name} ${index}
% endfor

// Forget whatever an earlier step noted about vertices without a component.
${lanes.kernel(group_size)} scc_forget(
    __global uint *component,               // [n] in/out
    const uint n,
    const uint keep,                        // 0 for a search of the whole graph
    __global uint *progress)                // [words] out
{
    <%share:each_item count="n">
        const uint v = item;
        const uint known = keep ? component[v] : 0u;
        component[v] = known & COMPONENT_KNOWN ? known : 0u;
    </%share:each_item>
    if (get_global_id(0) == 0) {
        progress[FINISHED] = progress[DEPTH] = progress[INDEX] = progress[START] = 0;
        progress[WAITING] = n;
    }
}

// Ask for the words of a row that is about to be read, as far as they fit two cache lines.
<%def name="look_ahead()">
for (uint k = 0; k < 8u && row + k < row_end; ++k) prefetch_global(component + indices[row + k]);
</%def>

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scc_sequential(
    __global const offset_t *restrict indptr,   // [n + 1]
    __global const uint *restrict indices,      // [m]
    const uint n,
    __global uint *component,                   // [n] in/out
    __global uint4 *path,                       // [n] vertex, edges taken, index, least index
    __global uint *waiting,                     // [n] filled from the back
    __global uint *progress,                    // [words] in/out
    const ulong budget)                         // edges and vertices before the launch must pause
{
    uint depth = progress[DEPTH], first_waiting = progress[WAITING];
    uint index = progress[INDEX], start = progress[START];
    ulong work = 0;
    for (;;) {
        uint v, own, least;
        offset_t row, row_end;
        if (work > budget) goto paused;
        if (depth) {
            const uint4 frame = path[--depth];
            v = frame.x;
            row = indptr[v] + frame.y;
            row_end = indptr[v + 1];
            own = frame.z;
            least = frame.w;
        } else {
            while (start < n && component[start]) ++start;
            if (start == n) break;
            v = start++;
            row = indptr[v];
            row_end = indptr[v + 1];
            least = own = ++index;
            component[v] = own;
        }
        for (;;) {
            uint child = n;
            const offset_t before = row;
            while (row < row_end) {
                const uint u = indices[row++];
                const uint word = component[u];
                if (word == 0) {
                    child = u;
                    break;
                }
                least = word < least ? word : least;
            }
            work += (ulong)(row - before) + 1;
            if (child != n) {
                path[depth++] = (uint4)(v, (uint)(row - indptr[v]), own, least);
                v = child;
                row = indptr[v];
                row_end = indptr[v + 1];
                ${look_ahead()}
                least = own = ++index;
                component[v] = own;
                if (work <= budget) continue;
                path[depth++] = (uint4)(v, 0u, own, least);
                goto paused;
            }
            if (least == own) {
                const uint known = COMPONENT_KNOWN | v;
                component[v] = known;
                while (first_waiting < n && component[waiting[first_waiting]] >= own)
                    component[waiting[first_waiting++]] = known;
                least = COMPONENT_KNOWN;
            } else {
                component[v] = least;
                waiting[--first_waiting] = v;
            }
            if (depth == 0) break;
            const uint4 frame = path[--depth];
            v = frame.x;
            row = indptr[v] + frame.y;
            row_end = indptr[v + 1];
            own = frame.z;
            least = frame.w < least ? frame.w : least;
        }
    }
    progress[FINISHED] = 1;
paused:
    progress[DEPTH] = depth;
    progress[WAITING] = first_waiting;
    progress[INDEX] = index;
    progress[START] = start;
}
