## tiny_rows: rows of at most TINY_ROW ranks sorted by as many lanes each, which compare what each has.
##
## kernel()      orient_tiny_rows
## In scope      takes: what each kernel takes; config.packed: whether rows are packed too

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>

<%def name="kernel()">\
${group.kernel()} orient_tiny_rows(
${signature.parameters(takes["tiny_rows"], last=True)}\
{
    ${lanes.setup()}
    const uint end = starts[1u];            // buckets of more edges have ended there
    const uint part = lane_id() % TINY_ROW, tile = lane_id() - part;
    const lanemask_t mates = (ALL_LANES >> (LANES - TINY_ROW)) << tile;
    uint base = starts[TINY_ROW + 1u] + ((uint)get_group_id(0) * GROUP_LANES + LANE_GROUP) * (LANES / TINY_ROW);
    for (; base < end; base += (uint)get_global_size(0) / TINY_ROW) {
        const uint r = base + lane_id() / TINY_ROW;
        const int there = r < end;
        const uint v = there ? vertices[r] : 0u;
        const offset_t begin = there ? indptr[v] : 0;
        const uint degree = there ? (uint)(indptr[v + 1u] - begin) : 0u;
        const uint x = part < degree ? ranks[indices[${row_at.stored("begin", "v")} + part]] : NOTHING;
        uint place = 0u;
        for (uint i = 0u; i < TINY_ROW; ++i) place += lane_shuffle(x, tile + i) < x;
        const uint below = lanemask_count(lane_ballot(x < r) & mates);
        if (part < degree) rows[begin + place] = x;
% if config.packed:
        const uint few = lanemask_count(lane_ballot(x < min(r, PACKED_RANKS)) & mates);
        const uint unit = PACKED_BEGIN(begin, v);
        __global ushort *const words = packed + (size_t)unit * PACKED_UNIT;
        if (x < min(r, PACKED_RANKS)) words[place] = (ushort)x;
        packed_fill(words, few, part, TINY_ROW);
% endif
        if (part == 0u && there) {
% if config.packed:
            heads[r] = (uint2)(unit, few);
% endif
            begins[r] = begin;
            outs[r] = below;
            degrees[r] = degree;
        }
    }
    // Vertices without edges.
    for (uint r = end + (uint)get_global_id(0); r < n; r += (uint)get_global_size(0)) {
% if config.packed:
        heads[r] = (uint2)(0u, 0u);
% endif
        begins[r] = 0;
        outs[r] = 0u;
        degrees[r] = 0u;
    }
}
</%def>
