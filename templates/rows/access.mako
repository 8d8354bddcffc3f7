## access: where the rows of a graph are, in compressed sparse rows or in blocks.
##
## params(layout)   a kernel's parameters that say it; "packed" or "blocks"
## functions(layout)    at file scope: ROW_BEGIN(v), ROW_LENGTH(v), on these parameters
## In scope         offset_t
## Called by        any work-item, in any control flow
## Barriers         none
## Local memory     none

<%def name="params(layout)">\
% if layout == "blocks":
    __global const offset_t *restrict row_begins,   // [n]
    __global const uint *restrict row_lengths,      // [n]
% else:
    __global const offset_t *restrict row_begins,   // [n + 1]
% endif
</%def>

<%def name="functions(layout)">\
#define ROW_BEGIN(v) row_begins[v]
% if layout == "blocks":
#define ROW_LENGTH(v) row_lengths[v]
% else:
#define ROW_LENGTH(v) ((uint)(row_begins[(v) + 1u] - row_begins[v]))
% endif
</%def>
