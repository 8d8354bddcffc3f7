## arrange: copy a queue so that it has prefix sums, for balancers of the whole grid.
##
## A work-group reserves room for its entries and for their edges with one atomic on a word that
## counts both, so that entries and edges come in one and the same order, whichever that is: no scan
## over the grid, and no second stage. Entries without edges are left out. Whoever copies the entry
## in which a chunk begins notes it, so that nobody searches for it later.
##
## Choice        config.leaf_degree: 1 leaves out vertices of one edge too, where edges go both ways
## setup         a kernel's first statements
## entries       by all work-items, in uniform control flow; writes queue_to, prefix and chunk_items
## conclude      by one work-item, when all have arrived; declares `arranged`, how many there are now
## Overflow      where vertices may be queued twice, their edges may be more than there is room for, which
##               is config.limits.queue_percent of m: that raises OVERFLOWED and leaves nothing to expand
## In scope      m, queue_to, prefix, chunk_items, state, slot
## Word          UNITS + slot * SLOT_STRIDE: edges 32 | entries 32
## Barriers      four for GROUP_SIZE entries
## Local memory  8 bytes, and those of group_ranks

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="group_ranks" file="/balance/shared/group_ranks.mako"/>
<%namespace name="chunks" file="/balance/shared/chunks.mako"/>

<%def name="setup()">
__local uint arranged_at, arranged_units;
</%def>

<%def name="entries(queue, count)">
% if config.balance.name != "direct":
${chunks.size()}
% endif
<%tiles:each_group_tile count="${count}" size="${str(config.group_size)}u">
    const uint from_index = tile_begin + (uint)get_local_id(0);
    const int has_entry = from_index < tile_end;
    const entry_t entry = ${queue}[has_entry ? from_index : tile_begin];
    uint degree = has_entry ? ENTRY_DEGREE(entry) : 0u;
    % if getattr(config, "leaf_degree", 0):
    // The only neighbour of such a vertex is the one that found it; the source was found by none.
    if (degree && degree <= ${config.leaf_degree}u && now.level > 1u) {
        degree = 0;
        ${items.tally("LEAVES")}
    }
    % endif
    ${group_ranks.scan("place", "entries_here", "(degree ? 1u : 0u)")}
    ${group_ranks.scan("rank", "units_here", "degree")}
    if (get_local_id(0) == 0) {
        const ulong before = atom_add((volatile __global ulong *)(state + UNITS + slot * SLOT_STRIDE),
                                      (ulong)units_here << 32 | entries_here);
        arranged_at = (uint)before;
        arranged_units = (uint)(before >> 32);
    }
    group_barrier();
    % if not config.exact:
    ## Vertices that are queued twice can have more edges than the graph.
    const int fits = (ulong)arranged_units + units_here <= m * ${config.limits.queue_percent}ul / 100u;
    if (!fits && get_local_id(0) == 0) state[OVERFLOWED] = 1;
    % endif
    if (degree${"" if config.exact else " && fits"}) {
        const uint at = arranged_at + place, unit = arranged_units + rank;
        queue_to[at] = entry;
        prefix[at] = unit;
        % if config.balance.name != "direct":
        for (uint chunk = (unit + chunk_units - 1u) / chunk_units; chunk * chunk_units < unit + degree; ++chunk)
            chunk_items[chunk] = at;
        % endif
    }
    group_barrier();
</%tiles:each_group_tile>
</%def>

<%def name="conclude()">
const ulong arranged_both = load_relaxed_ulong((volatile __global ulong *)(state + UNITS + slot * SLOT_STRIDE));
% if config.exact:
const uint arranged = (uint)arranged_both, arranged_edges = (uint)(arranged_both >> 32);
% else:
const int all_fit = !load_relaxed(state + OVERFLOWED);
const uint arranged = all_fit ? (uint)arranged_both : 0u, arranged_edges = all_fit ? (uint)(arranged_both >> 32) : 0u;
% endif
prefix[arranged] = arranged_edges;
% if config.balance.name != "direct":
{
    ${chunks.size()}
    if (arranged) chunk_items[(arranged_edges + chunk_units - 1u) / chunk_units] = arranged - 1;
}
% endif
</%def>
