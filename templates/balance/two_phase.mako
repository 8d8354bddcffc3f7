## two_phase: a work-group takes a chunk of units, each work-item a run of its units.
##
## The first phase, which says where each chunk begins, is the caller's: chunk_items.
##
## Contract      /balance/advance.mako
## Scope         grid: needs the list's prefix sums and chunk_items
## Cost          a search for each work-item of a chunk; units are read with the stride of a run
## Local memory  /balance/shared/chunks.mako
##
## Reference     S. Odeh et al., "Merge path", IPDPSW 2012

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="find" file="/balance/shared/find.mako"/>
<%namespace name="chunks" file="/balance/shared/chunks.mako"/>

<%def name="setup()">
${chunks.setup()}
</%def>

<%def name="expand(queue, count, visit)">
{
    ${chunks.count(queue, count)}
    <%tiles:each_group_tile count="chunks" size="1u">
        ${chunks.load(queue, count, "tile_begin")}
        offset_t unit = first_unit + (uint)get_local_id(0) * run;
        const offset_t unit_end = min(unit + run, past_unit);
        uint owner = 0;
        offset_t bound = 0;
        if (unit < unit_end) {
            ${find.binary("found", "BOUND({})", "slice_items", "unit")}
            owner = found;
            bound = BOUND(owner + 1);
        }
        for (uint k = 0; k < run; ++k, ++unit) {
            const int active0 = unit < unit_end;
            if (active0)
                while (unit >= bound) {
                    ++owner;
                    bound = BOUND(owner + 1);
                }
            const uint item0 = slice_first + owner;
            ${items.unit(0, queue, "item0", "unit")}
            ${visit(1)}
        }
        #undef BOUND
        group_barrier();
    </%tiles:each_group_tile>
}
</%def>
