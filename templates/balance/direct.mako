## direct: every edge is looked up for itself, in the prefix sums of the whole list.
##
## Contract      /balance/advance.mako
## Scope         grid: needs the list's prefix sums
## Cost          log2(count) scattered reads an edge; perfectly even, and edges are read in order
## Local memory  none

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="find" file="/balance/shared/find.mako"/>
<%namespace name="chunks" file="/balance/shared/chunks.mako"/>

<%def name="setup()"></%def>

<%def name="expand(queue, count, visit)">
{
    const offset_t units = ${items.module.prefix_at(config, queue, count)};
    ${chunks.size()}
    const uint chunks = (uint)((units + chunk_units - 1u) / chunk_units);
    <%tiles:each_tile count="chunks" size="1u">
        const offset_t first_unit = (offset_t)tile_begin * chunk_units;
        const offset_t past_unit = min(first_unit + chunk_units, units);
        for (offset_t first = first_unit; first < past_unit; first += LANES) {
            const offset_t unit0 = first + lane_id();
            const int active0 = unit0 < past_unit;
            const offset_t key0 = active0 ? unit0 : first;
            ${find.binary("item0", items.module.prefix_at(config, queue, "{}"), count, "key0")}
            ${items.unit(0, queue, "item0", "key0")}
            ${visit(1)}
        }
    </%tiles:each_tile>
}
</%def>
