## tile: some elements of a list in registers, and which elements of others are among them.
##
## functions(size, offset_t)
##                  at file scope, after intersect.block_functions(offset_t), which loads the others
## In scope         the lane vocabulary
## Called by        any work-item, in any control flow; the elements of a list differ
## Barriers         none
## Local memory     none
##
## tile_t                        `size` elements
## tile_load(list, count, bound) the first of `count` elements of a list, those from `bound` on left out
## tile_met(tile, list, m, begin, end, bound, &at)
##                  how many of the elements from place `begin` of a list of m elements to place `end`
##                  are in the tile; `at` gets the place of the element `bound`, if it is there. All
##                  are compared with all: no load waits for a comparison
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%!
    VECTORS = (4, 8, 16)
%>

<%def name="functions(size, offset_t)">
<% vector = lanes.module.one_lane(context) and size in VECTORS %>\
% if vector:
typedef uint${size} tile_t;
% else:
typedef struct { ${" ".join(f"uint s{i};" for i in range(size))} } tile_t;
% endif
<% names = [f"{i:x}" if vector else str(i) for i in range(size)] %>\

static inline tile_t tile_load(const __global uint *list, const uint count, const uint bound) {
    tile_t tile;
% for i in range(size):
    tile.s${names[i]} = ${i}u < count ? list[${i}] : 0xffffffffu;
% endfor
% for i in range(size):
    tile.s${names[i]} = tile.s${names[i]} < bound ? tile.s${names[i]} : 0xffffffffu;
% endfor
    return tile;
}

static inline uint tile_has(const tile_t tile, const uint y) {
% if vector:
    return (uint)any(tile == (tile_t)y);
% else:
    return ${" | ".join(f"(y == tile.s{i})" for i in range(size))};
% endif
}

static inline uint tile_met(
    const tile_t tile, const __global uint *list, const ${offset_t} m,
    const ${offset_t} begin, const ${offset_t} end, const uint bound, ${offset_t} *at
) {
    uint both = 0u;
    for (${offset_t} block = begin / 4; 4 * block < end; ++block) {
        const uint4 y = block_of(list, m, block, begin, end, 0xfffffffeu);
        both += tile_has(tile, y.s0) + tile_has(tile, y.s1) + tile_has(tile, y.s2) + tile_has(tile, y.s3);
% for i in range(4):
        if (y.s${i} == bound) *at = 4 * block + ${i};
% endfor
    }
    return both;
}
</%def>
