## lane_scan: an operator's functions on one SIMD group.
##
## functions(name, type, identity, expression)   at file scope; the expression combines a, then b
## In scope      the lane vocabulary
## Called by     /group/group.mako, which describes what is declared here
## Barriers      none but those of the lane vocabulary
## Local memory  none but that of the lane vocabulary

<%namespace name="lanes" file="/lanes/lanes.mako"/>

<%!
    BYTES = {"uint": 4, "int": 4, "float": 4, "uint2": 8, "ulong": 8, "long": 8, "double": 8}
    NATIVE = ("add", "min", "max", "or")
%>

<%def name="functions(name, type, identity, expression)">\
static inline ${type} ${name}_identity(void) { return ${identity}; }

static inline ${type} ${name}_combine(${type} a, ${type} b) { return ${expression}; }

% for word, argument in (("shuffle", "lane"), ("shuffle_up", "delta")):
LANE_FUNCTION ${type} ${name}_${word}(LANE_PARAMS ${type} x, uint ${argument}) {
% if BYTES[type] == 4:
    return as_${type}(lane_${word}(as_uint(x), ${argument}));
% else:
    const uint2 halves = as_uint2(x);
    const uint low = lane_${word}(halves.x, ${argument});
    const uint high = lane_${word}(halves.y, ${argument});
    return as_${type}((uint2)(low, high));
% endif
}

% endfor
LANE_FUNCTION ${type} lane_scan_inclusive_in_${name}(LANE_PARAMS ${type} x) {
% if (name, type) == ("add", "uint"):
    return lane_scan_inclusive_add(x);
% else:
    ${type} below;
% for step in (1 << bit for bit in range(lanes.module.count(context).bit_length() - 1)):
    below = ${name}_shuffle_up(LANE_ARGS x, ${step}u);
    x = lane_id() < ${step}u ? x : ${name}_combine(below, x);
% endfor
    return x;
% endif
}

// In the order of the lanes, and the same on all of them.
LANE_FUNCTION ${type} lane_reduce_in_${name}(LANE_PARAMS ${type} x) {
% if type == "uint" and name in NATIVE:
    return lane_reduce_${name}(x);
% else:
    return ${name}_shuffle(LANE_ARGS lane_scan_inclusive_in_${name}(LANE_ARGS x), LANES - 1u);
% endif
}
</%def>
