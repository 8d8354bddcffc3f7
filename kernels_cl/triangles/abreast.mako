## abreast: several owners that a unit has at a time, each with work-items and tables of its own.
##
## declarations(count)   at file scope, after those of units; more than one owner is for units of lanes
## next(left)            sets `one` to the place in the mask of the owner that these work-items get, and
##                       `there` to 1 if there is one; takes those that were given from the mask
## add_up(x, count)      the sum of x over the lanes of an owner, in each; over a SIMD group for one
## Called by             next, add_up: all lanes of a SIMD group; next with the same mask, not 0
##
## ABREAST               owners of a unit
## ITEM, ITEMS           which of an owner's work-items this is, and how many there are
## OWNED                 which of the group's owners it is for

<%def name="declarations(count)">\
#define ABREAST ${count}u
% if count > 1:
#define ITEMS (LANES / ABREAST)
#define ITEM (lane_id() % ITEMS)
#define OWNED (UNIT * ABREAST + lane_id() / ITEMS)
% else:
#define ITEMS UNIT_ITEMS
#define ITEM UNIT_ITEM
#define OWNED UNIT
% endif
</%def>

<%def name="next(left)">\
int there = 0;
            uint one = 0u;
            for (uint i = 0u; i < ABREAST && ${left}; ++i, ${left} &= ${left} - 1u) {
                if (i != lane_id() / ITEMS) continue;
                there = 1;
                one = lanemask_first(${left});
            }\
</%def>

<%def name="add_up(x, count)">\
% if count > 1:
for (uint near = 1u; near < ITEMS; near *= 2u) ${x} += lane_shuffle(${x}, lane_id() ^ near);\
% else:
${x} = lane_reduce_add(${x});\
% endif
</%def>
