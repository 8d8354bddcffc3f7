## block_search: a work-group cuts the edges of many entries into equal runs, one a work-item.
##
## The ranks of config.balance.block_items entries a work-item lie in local memory; every work-item finds
## where its run begins by one search and walks on from there.
##
## Contract      /balance/advance.mako
## Scope         group: at most GROUP_SIZE * block_items entries at a time
## Cost          GROUP_SIZE searches for all; edges are read with the stride of a run
## Local memory  (4 or 8 bytes) * (GROUP_SIZE * block_items + 1)

<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="find" file="/balance/shared/find.mako"/>
<%namespace name="group_ranks" file="/balance/shared/group_ranks.mako"/>

<%def name="setup()">
${group_ranks.setup()}
__local offset_t block_ranks[${config.group_size * config.balance.block_items + 1}];
</%def>

<%def name="expand(queue, begin, end, visit)">
{
    const uint item = (uint)get_local_id(0), here = (${end}) - (${begin});
    ${load_ranks(queue, begin)}
    group_barrier();
    const offset_t total = block_ranks[here], run = (total + GROUP_SIZE - 1u) / GROUP_SIZE;
    offset_t unit = min(item * run, total);
    const offset_t unit_end = min(unit + run, total);
    uint owner = 0;
    if (unit < unit_end) {
        ${find.binary("found", "block_ranks[{}]", "here", "unit")}
        owner = found;
    }
    for (offset_t step = 0; step < run; ++step, ++unit) {
        const int active0 = unit < unit_end;
        if (active0)
            while (unit >= block_ranks[owner + 1]) ++owner;
        const entry_t entry0 = ${items.entry(queue, f"({begin}) + owner")};
        const uint u0 = ENTRY_VERTEX(entry0);
        const offset_t e0 = ENTRY_BEGIN(entry0) + (unit - block_ranks[owner]);
        ${items.edge(0)}
        ${visit(1)}
    }
    group_barrier();
}
</%def>

<%def name="load_ranks(queue, begin)">
% if queue:
uint running = 0;
for (uint first = 0; first < here; first += GROUP_SIZE) {
    const int has_entry = first + item < here;
    const uint degree = has_entry ? ENTRY_DEGREE(${items.entry(queue, f"({begin}) + first + item")}) : 0u;
    ${group_ranks.scan("my_rank", "total_here", "degree")}
    if (has_entry) block_ranks[first + item] = running + my_rank;
    running += total_here;
}
if (item == 0) block_ranks[here] = running;
% else:
for (uint i = item; i <= here; i += GROUP_SIZE) block_ranks[i] = ${items.module.prefix_at(config, "", f"({begin}) + i")} - ${items.module.prefix_at(config, "", begin)};
% endif
</%def>
