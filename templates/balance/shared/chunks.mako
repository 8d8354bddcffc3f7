## chunks: what the balancers share that cut the units of a whole list into equal chunks.
##
## The grid's work-groups take chunks in turn. chunk_items says which items begin one: unit c * chunk
## lies in item chunk_items[c], and the last entry is the item of the last unit. In the merge form a
## chunk is cut out of items and units together: `chunk` is the number of both in it, so that it
## never touches more than `chunk` + 1 items, and chunk_items[c] says how many end before it.
##
## Size          config.chunks.units for bare units; in a search what LEVEL_CHUNK says, which is decided anew
##               for each frontier, so that a small one is cut for all work-items too: see `decided`
##
## In scope      prefix sums of the list, chunk_items [chunks + 1]
## Called by     all work-items of the grid, in uniform control flow
## Declares      first_unit, past_unit; slice_first, slice_items and BOUND(i), the prefix sum of the
##               i-th item of the slice, i <= slice_items: out of local memory if `fits`
## Barriers      one after loading; one is due before the next chunk
## Local memory  config.chunks.slice prefix sums, also the place that units are put in order in

<%namespace name="items" file="/balance/shared/items.mako"/>

<%def name="setup()">
__local offset_t chunk_slice[${config.chunks.slice}] __attribute__((aligned(16)));
</%def>

## Units in a chunk of a frontier with so many edges, for so many work-items: as many for each as all
## of them need, but no more than it has registers for.
<%def name="decided(edges, work_items)">\
${config.chunks.step}u * (uint)clamp(((ulong)(${edges}) + (${work_items}) - 1) / (${work_items}), 1ul, ${config.chunks.units // config.chunks.step}ul)\
</%def>

<%def name="size()">\
const uint chunk_units = ${f"{config.chunks.units}u" if items.module.bare(config) else "state[LEVEL_CHUNK]"};
</%def>

## Also `run`: how many units a work-item finds by one search, config.chunks.run at most.
<%def name="count(queue, count)">\
${size()}
% if items.module.bare(config):
const uint run = ${config.chunks.run}u;
% else:
const uint searches = (chunk_units / GROUP_SIZE + ${config.chunks.run - 1}u) / ${config.chunks.run}u;
const uint run = (chunk_units / GROUP_SIZE + searches - 1u) / searches;
% endif
const offset_t units = ${items.module.prefix_at(config, queue, count)};
const uint chunks = (uint)((units + ${"(offset_t)(" + count + ") + " if config.balance.partition == "merge" else ""}chunk_units - 1u) / chunk_units);
</%def>

<%def name="load(queue, count, chunk)">
% if config.balance.partition == "merge":
const offset_t first_unit = (offset_t)${chunk} * chunk_units - chunk_items[${chunk}];
const offset_t past_unit = min((offset_t)(${chunk} + 1u) * chunk_units, units + (${count})) - chunk_items[${chunk} + 1];
const uint slice_first = chunk_items[${chunk}];
const uint slice_items = min(chunk_items[${chunk} + 1] - slice_first + 1u, (uint)(${count}) - slice_first);
% else:
const offset_t first_unit = (offset_t)${chunk} * chunk_units;
const offset_t past_unit = min(first_unit + chunk_units, units);
const uint slice_first = chunk_items[${chunk}];
const uint slice_items = chunk_items[${chunk} + 1] - slice_first + 1u;
% endif
const int fits = slice_items < ${config.chunks.slice}u;
#define BOUND(i) (fits ? chunk_slice[i] : ${items.module.prefix_at(config, queue, "slice_first + (i)")})
if (fits) {
    ${copy(queue)}
} else if (get_local_id(0) == 0) {
    ${items.tally("MISFITS")}
}
group_barrier();
</%def>

## As many loads as a full slice takes, all under way before the first is stored; clamped, so that
## their number is known.
<%def name="copy(queue)">
<% staged = -(-config.chunks.slice // config.group_size) %>
% if staged <= 16:
% for k in range(staged):
const offset_t staged${k} = ${items.module.prefix_at(config, queue, f"slice_first + min((uint)get_local_id(0) + {k * config.group_size}u, slice_items)")};
% endfor
% for k in range(staged):
if ((uint)get_local_id(0) + ${k * config.group_size}u <= slice_items) chunk_slice[get_local_id(0) + ${k * config.group_size}u] = staged${k};
% endfor
% else:
for (uint i = (uint)get_local_id(0); i <= slice_items; i += GROUP_SIZE) chunk_slice[i] = ${items.module.prefix_at(config, queue, "slice_first + i")};
% endif
</%def>
