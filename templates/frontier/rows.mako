## rows: where a vertex's edges begin and end.
##
## In scope      indptr
## Choice        config.rows: "csr" (n + 1 offsets, two overlapping reads a vertex) or "pairs" (begin
##               and end of each vertex side by side, one read of twice the size); config.cache
##               "read-only": offsets of 32 bits by the path that is not coherent

<%!
    def offset(context, v):
        config = context["config"]
        whole = config.wide_offsets or getattr(config, "cache", "") != "read-only"
        return f"indptr[{v}]" if whole else f"load_read_only(indptr + ({v}))"
%>

<%def name="declarations()">
% if config.rows == "pairs":
typedef ${"ulong2" if config.wide_offsets else "uint2"} row_t;
% endif
</%def>

<%def name="type()">${"row_t" if config.rows == "pairs" else "offset_t"}</%def>

<%def name="begin(v)">${f"indptr[{v}].x" if config.rows == "pairs" else offset(context, v)}</%def>

<%def name="past(v)">${f"indptr[{v}].y" if config.rows == "pairs" else offset(context, f"{v} + 1")}</%def>

## Sets `row` and `degree`, with as few reads as there may be.
<%def name="load(row, degree, v)">
% if config.rows == "pairs":
{
    const row_t pair = indptr[${v}];
    ${row} = pair.x;
    ${degree} = (uint)(pair.y - pair.x);
}
% else:
${row} = indptr[${v}];
${degree} = (uint)(indptr[${v} + 1] - ${row});
% endif
</%def>
