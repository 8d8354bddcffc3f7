## rows: where a vertex's edges begin and end.
##
## begin(v), past(v)        the first edge and the one behind the last, as expressions
## first(v), behind(v)      the same, by the coherent path in any case; not side by side
## stored(begin, v)         where a row is stored, if `begin` edges are before it: in blocks pointer[v],
##                          where indptr has sums of lengths beside it
## degree(v)                how many they are; at_least(v, bound) whether these are so many
## in_begin(v), in_past(v), in_degree(v)   the same of the transpose, which is never side by side
## In scope      indptr; in_indptr for the latter; row_lengths and entries where rows are in blocks
## Choice        config.rows: "csr" (n + 1 offsets, two overlapping reads a vertex), "pairs" (begin
##               and end of each vertex side by side, one read of twice the size) or "blocks" (n
##               offsets, nobody knows of what where a row is empty, and n lengths; the transpose is
##               in the same blocks, so these are of graphs that have every edge both ways); config.cache
##               "read-only": offsets of 32 bits by the path that is not coherent

<%!
    def in_blocks(config):
        return getattr(config, "rows", "csr") == "blocks"

    def offset(context, v):
        config = context["config"]
        whole = config.wide_offsets or getattr(config, "cache", "") != "read-only"
        return f"indptr[{v}]" if whole else f"load_read_only(indptr + ({v}))"

    # Zero for an empty row, without a branch: neither read waits for the other.
    def first_of_block(array, v):
        return f"({array}[{v}] & -(offset_t)(row_lengths[{v}] != 0u))"

    def past_block(array, v):
        return f"(({array}[{v}] + row_lengths[{v}]) & -(offset_t)(row_lengths[{v}] != 0u))"
%>

<%def name="declarations()">
% if config.rows == "pairs":
typedef ${"ulong2" if config.wide_offsets else "uint2"} row_t;
% endif
</%def>

<%def name="type()">${"row_t" if config.rows == "pairs" else "offset_t"}</%def>

<%def name="begin(v)">${f"indptr[{v}].x" if config.rows == "pairs" else first_of_block("indptr", v) if in_blocks(config) else offset(context, v)}</%def>

<%def name="past(v)">${f"indptr[{v}].y" if config.rows == "pairs" else past_block("indptr", v) if in_blocks(config) else offset(context, f"{v} + 1")}</%def>

<%def name="stored(begin, v)">${f"pointer[{v}]" if in_blocks(config) else begin}</%def>

## The same by the path that is coherent, whatever config.cache.
<%def name="first(v)">${first_of_block("indptr", v) if in_blocks(config) else f"indptr[{v}]"}</%def>

<%def name="behind(v, one='1')">${past_block("indptr", v) if in_blocks(config) else f"indptr[{v} + {one}]"}</%def>

<%def name="in_begin(v)">${first_of_block("in_indptr", v) if in_blocks(config) else f"in_indptr[{v}]"}</%def>

<%def name="in_past(v)">${past_block("in_indptr", v) if in_blocks(config) else f"in_indptr[{v} + 1]"}</%def>

<%def name="degree(v)">\
% if in_blocks(config):
row_lengths[${v}]\
% else:
((uint)(${past(v if config.rows == "pairs" else f"({v})")} - ${begin(v)}))\
% endif
</%def>

<%def name="in_degree(v)">${f"row_lengths[{v}]" if in_blocks(config) else f"((uint)(in_indptr[({v}) + 1] - in_indptr[{v}]))"}</%def>

## Whether a vertex has so many edges.
<%def name="at_least(v, bound)">\
% if in_blocks(config):
(row_lengths[${v}] >= ${bound})\
% else:
(${past(f"({v})")} - ${begin(v)} >= ${bound})\
% endif
</%def>

## How many entries `indices` has.
<%def name="entries()">${"entries" if in_blocks(config) else "m"}</%def>

## A parameter that goes behind indptr, in blocks.
<%def name="lengths()">\
% if in_blocks(config):
    __global const uint *restrict row_lengths,  // [n]
% endif
</%def>

## Sets `row` and `degree`, with as few reads as there may be.
<%def name="load(row, degree, v)">
% if config.rows == "pairs":
{
    const row_t pair = indptr[${v}];
    ${row} = pair.x;
    ${degree} = (uint)(pair.y - pair.x);
}
% elif config.rows == "blocks":
${degree} = row_lengths[${v}];
${row} = indptr[${v}] & -(offset_t)(${degree} != 0u);
% else:
${row} = indptr[${v}];
${degree} = (uint)(indptr[${v} + 1] - ${row});
% endif
</%def>
