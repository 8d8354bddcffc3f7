## short_rows: rows of at most SHORT_ROW ranks sorted by a SIMD group each, by counting smaller ones.
##
## kernel()      orient_short_rows
## In scope      takes: what each kernel takes; config.packed: whether rows are packed too; config.tiny: edges
##               of the longest rows that are left to others

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
<%namespace name="row_at" file="/frontier/rows.mako"/>
<%namespace name="signature" file="/grid/signature.mako"/>

<%def name="kernel()">\
// Rows of at most SHORT_ROW edges, each by a SIMD group, which sorts by counting smaller ones. Of a few
// rows at a time a lane each knows where it lies and what there was in it.
${group.kernel()} orient_short_rows(
${signature.parameters(takes["short_rows"], last=True)}\
{
    ${lanes.setup()}
    __local uint4 kept[GROUP_LANES * SHORT_ROW / 4u];
    __local uint4 *const smaller_by_four = kept + LANE_GROUP * (SHORT_ROW / 4u);
    __local uint *const smaller = (__local uint *)smaller_by_four;
    const uint units = (uint)get_num_groups(0) * GROUP_LANES;
    const uint first = starts[SHORT_ROW + 1u];  // buckets of more edges have ended there
% if config.tiny:
    const uint end = starts[TINY_ROW + 1u];
% else:
    const uint end = n;
% endif
    uint batch = first + ((uint)get_group_id(0) * GROUP_LANES + LANE_GROUP) * BATCH;
    for (; batch < end; batch += units * BATCH) {
        const uint mine = batch + lane_id();
        const int known = lane_id() < BATCH && mine < end;
        const uint my_vertex = known ? vertices[mine] : 0u;
        const offset_t my_begin = known ? indptr[my_vertex] : 0u;
        const uint my_degree = known ? (uint)(indptr[my_vertex + 1u] - my_begin) : 0u;
% if config.rows == "blocks":
        const offset_t my_source = known ? ${row_at.stored("my_begin", "my_vertex")} : 0u;
% endif
        uint my_below = 0u;
% if config.packed:
        const uint my_unit = PACKED_BEGIN(my_begin, my_vertex);
        uint my_few = 0u;                       // ranks that are packed
% endif
        for (lanemask_t left = lane_ballot(my_degree != 0u); left; left &= left - 1u) {
            const uint owner = lanemask_first(left);
            const uint r = batch + owner;
            const offset_t begin = SHUFFLE_OFFSET(my_begin, owner);
            const uint degree = lane_shuffle(my_degree, owner);
% if config.rows == "blocks":
            const offset_t source = SHUFFLE_OFFSET(my_source, owner);
% endif
            uint below = 0u, above = 0u;
% if config.packed:
            uint few = 0u;
% endif
            for (uint k = 0u; k < degree; k += LANES) {
                const uint at = k + lane_id();
                const uint x = at < degree ? ranks[indices[${"source" if config.rows == "blocks" else "begin"} + at]] : r;
                const lanemask_t low = lane_ballot(x < r), high = lane_ballot(x > r);
                if (x < r) smaller[below + lanemask_count(low & lane_mask_lt())] = x;
                if (x > r) rows[begin + degree - 1u - above - lanemask_count(high & lane_mask_lt())] = x;
% if config.packed:
                few += lanemask_count(lane_ballot(x < min(r, PACKED_RANKS)));
% endif
                below += lanemask_count(low);
                above += lanemask_count(high);
            }
            const uint fours = (below + 3u) / 4u;
            for (uint k = below + lane_id(); k < 4u * fours; k += LANES) smaller[k] = NOTHING;
            lane_converge();
% if config.packed:
            __global ushort *const words = packed + (size_t)lane_shuffle(my_unit, owner) * PACKED_UNIT;
% endif
            for (uint k = lane_id(); k < below; k += LANES) {
                const uint x = smaller[k];
                uint place = 0u;
                for (uint i = 0u; i < fours; ++i) {
                    const uint4 others = smaller_by_four[i];
                    place += (others.s0 < x) + (others.s1 < x) + (others.s2 < x) + (others.s3 < x);
                }
                rows[begin + place] = x;
% if config.packed:
                if (x < PACKED_RANKS) words[place] = (ushort)x;
% endif
            }
% if config.packed:
            packed_fill(words, few, lane_id(), LANES);
            if (lane_id() == owner) my_few = few;
% endif
            if (lane_id() == owner) my_below = below;
            lane_converge();
        }
        if (known) {
% if config.packed:
            heads[mine] = (uint2)(my_unit, my_few);
% endif
            begins[mine] = my_begin;
            outs[mine] = my_below;
            degrees[mine] = my_degree;
        }
    }
}
</%def>
