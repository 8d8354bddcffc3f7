## sides: every triangle listed at each of its three edges, which are numbered row by row, by rank.
##
## put(a, b, c)     lists a triangle of three edges, given by their numbers
## Race             places in an edge's list go to whoever comes first

<%def name="put(a, b, c)">
{
    const uint side_a = ${a}, side_b = ${b}, side_c = ${c};
    found[atomic_inc(&cursors[side_a])] = (uint2)(side_b, side_c);
    found[atomic_inc(&cursors[side_b])] = (uint2)(side_a, side_c);
    found[atomic_inc(&cursors[side_c])] = (uint2)(side_a, side_b);
}
</%def>
