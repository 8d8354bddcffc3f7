## multi_phase: two_phase with units handed out in order, and several searches to a chunk.
##
## Each work-item finds the items of config.balance.iterations runs of its units at most and keeps them
## in registers; then the prefix sums are done with, and their local memory is the place where each
## SIMD group turns its runs into rows: consecutive lanes get consecutive units.
##
## Contract      /balance/advance.mako; where units are bare and the batch is a multiple of four, a
##               lane gets four consecutive units at a time, `visit(4)`
## Scope         grid: needs the list's prefix sums and chunk_items
## Cost          a search for each run; two barriers a chunk, however many iterations
## Local memory  /balance/shared/chunks.mako, of which GROUP_SIZE * unit_batch words are used twice
## Origin        the searches, iterations and slots of the paper; its own unrolling, staged loads and
##               16-byte accesses
##
## Reference     F. Busato, N. Bombieri, "A dynamic approach for workload partitioning on GPU
##               architectures", IEEE TPDS 28(6), 2017

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="items" file="/balance/shared/items.mako"/>
<%namespace name="find" file="/balance/shared/find.mako"/>
<%namespace name="chunks" file="/balance/shared/chunks.mako"/>

<%def name="setup()">
${chunks.setup()}
</%def>

<%def name="expand(queue, count, visit)">
{
    __local uint *const staging = (__local uint *)chunk_slice + LANE_GROUP * ${config.lanes * config.balance.unit_batch}u;
    ${chunks.count(queue, count)}
    <%tiles:each_group_tile count="chunks" size="1u">
        ${chunks.load(queue, count, "tile_begin")}
        % for q in range(config.balance.iterations):
        ${fill(q)}
        % endfor
        group_barrier();
        % for q in range(config.balance.iterations):
        ${drain(q, queue, visit)}
        % endfor
        #undef BOUND
        group_barrier();
    </%tiles:each_group_tile>
}
</%def>

<%def name="fill(q)">
% for k in range(config.balance.unit_batch):
uint item_${q}_${k};
% endfor
{
    offset_t unit = first_unit + (${q * config.group_size}u + (uint)get_local_id(0)) * run;
    uint owner = 0;
    offset_t bound = 0;
    if (unit < past_unit) {
        ${find.binary("found", "BOUND({})", "slice_items", "unit")}
        owner = found;
        bound = BOUND(owner + 1);
    }
    % for k in range(config.balance.unit_batch):
    if (${"" if items.module.bare(config) else f"{k}u < run && "}unit < past_unit)
        while (unit >= bound) {
            ++owner;
            bound = BOUND(owner + 1);
        }
    item_${q}_${k} = slice_first + owner;
    ++unit;
    % endfor
}
</%def>

<%def name="drain(q, queue, visit)">
<%
    K = config.balance.unit_batch
    step = 4 if items.module.bare(config) and K % 4 == 0 else 1
%>
% if not items.module.bare(config):
% for k in range(K):
if (${k}u < run) staging[lane_id() * run + ${k}u] = item_${q}_${k};
% endfor
% elif K % 4 == 0:
% for k in range(0, K, 4):
*(__local uint4 *)(staging + lane_id() * ${K}u + ${k}u) = (uint4)(item_${q}_${k}, item_${q}_${k + 1}, item_${q}_${k + 2}, item_${q}_${k + 3});
% endfor
% else:
% for k in range(K):
staging[lane_id() * ${K}u + ${k}u] = item_${q}_${k};
% endfor
% endif
lane_converge();
{
    const offset_t row = first_unit + (${q * config.group_size}u + LANE_GROUP * LANES) * run;
    % if items.module.bare(config):
    #pragma unroll
    % endif
    for (uint k = 0; k < run; k += ${step}u) {
        const uint place = k * LANES + lane_id() * ${step}u;
        % if step == 4:
        const uint4 four = *(__local const uint4 *)(staging + place);
        % for j in range(4):
        const offset_t unit${j} = row + place + ${j}u;
        const int active${j} = unit${j} < past_unit;
        const uint item${j} = four.s${j};
        ${items.unit(j, queue, f"item{j}", f"unit{j}")}
        % endfor
        % else:
        const offset_t unit0 = row + place;
        const int active0 = unit0 < past_unit;
        const uint item0 = staging[place];
        ${items.unit(0, queue, "item0", "unit0")}
        % endif
        ${visit(step)}
    }
}
lane_converge();
</%def>
