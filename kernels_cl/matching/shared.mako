## What the kernels of subgraph matching share: types, and how alike a query vertex and a target vertex are.
##
## prologue()      at file scope, once
## likeness()      likeness(score, weight), at file scope: how alike neighbourhoods are, to a high power,
##                 fixed point, where a score is a similarity of `weight` times how alike they are
## has_edge()      the body of a function of u and v, an edge from one to the other or not
## similarity(row, t)   fixed point, 0 .. ONE; in scope n and `alike` arguments
## alike()         kernel parameters behind it
<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="bisect" file="/rows/bisect.mako"/>

<%def name="prologue()">\
${lanes.vocabulary()}
typedef ${"ulong" if wide_offsets else "uint"} offset_t;
#define KERNEL LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
#define ONE ${one}u
## The name alone is the def below.
% if context["likeness"] == "stored":
#define SAME_LABEL 0x80000000u  // beside a likeness, where labels are the same
% endif
</%def>

## Whether v is in the ascending row of u.
<%def name="has_edge()">
    offset_t low = indptr[u], high = indptr[u + 1u];
    const offset_t end = high;
    ${bisect.first("low", "high", "indices[middle] < v", "offset_t")}
    return low < end && indices[low] == v;
</%def>

<%def name="likeness()">\
static inline uint likeness(uint score, uint weight) {
    ulong alike = min((ulong)score * ONE / weight, (ulong)ONE);
% for squaring in range(likeness_squarings):
    alike = alike * alike / ONE;
% endfor
    return (uint)alike;
}
</%def>

<%def name="alike()">\
% if by_labels:
    __global const uint *restrict row_labels,   // [rows]
    __global const uint *restrict labels,       // [n], of the target
% else:
    __global const uint *restrict similarities, // [rows, n]
% endif
</%def>

<%def name="similarity(row, t)">\
% if by_labels:
(row_labels[${row}] == labels[${t}] ? ONE : 0u)\
% else:
similarities[(ulong)(${row}) * n + (${t})]\
% endif
</%def>
