## signature: what a kernel takes, from the table by which its plan allocates and binds it.
##
## parameters()   between the parentheses of an entry point, before stage.parameters()
## parameters(rows, last=True)   all of an entry point's, of this table, and the parenthesis behind them
## In scope      arguments, where no rows are given: rows with name, ctype, access and note, see clgraph/engine/plan.py
## Access        "value"; of arrays "read" (only, and by nobody else written), "own" (through this name
##               alone), "write", "shared" (with groups that run at the same time), "watched" (the host
##               may write it meanwhile)

<%!
    QUALIFIERS = {
        "value": ("const", ""),
        "read": ("__global const", "*restrict "),
        "own": ("__global", "*restrict "),
        "write": ("__global", "*"),
        "shared": ("volatile __global", "*"),
        "watched": ("volatile __global const", "*"),
    }
%>

<%def name="parameters(rows=None, last=False)">\
% for row in context["arguments"] if rows is None else rows:
<%
    before, after = QUALIFIERS[row.access]
    declared = f"    {before} {row.ctype} {after}{row.name}{')' if last and loop.last else ','}"
%>\
${f"{declared:51} // {row.note}" if row.note else declared}
% endfor
</%def>
