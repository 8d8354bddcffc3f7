## stress: straight lines of one instruction each, for kernels that load one part of a device.
##
## vocabulary()   at file scope, once: declares every word below
## steps(operation, count, chains)   `count` steps of an operation in sequence, on the registers
##                a0, b0, c0 .. of `chains` unrelated chains, which registers() declares
## registers(kind, chains)   declares and fills them from the kernel arguments first, second, third
## result(chains)            one value that depends on every chain
## path_steps(path, count)   steps that no compiler can merge with those of another path
## touches(space, way, base, offsets, width)   a load or a store of `width` words (1 or 4) at each byte
##                offset from `base`
## chase(space, place, count)           `count` loads, each from where the one before said
## In scope       traits (DeviceTraits)
## Called by      any work-item, in any control flow
## Barriers       none
## Local memory   none
## Choice         one sibling file per way to keep a compiler from improving the sequence: "ptx" where
##                the instructions can be named, else "portable", whose figures are indicative
##
## ulong cycle_counter()   cycles of the compute unit; 0 where none can be read
## void keep_span(__global ulong *spans, ulong start)   writes [start, now, 1 + unit] of the SIMD group
## uint unit_id()          which compute unit runs this work-item; 0 where that is unknown
## Spaces         "global" (nearest common cache or beyond), "cached" (any cache), "local", "constant"
<%namespace name="flavour" file="${'/lanes/stress/ptx.mako' if context['traits'].memory_ops == 'ptx' else '/lanes/stress/portable.mako'}"/>\

<%def name="vocabulary()">\
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
% if traits.fp64:
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
% endif
${flavour.vocabulary()}
static inline void keep_span(__global ulong *spans, const ulong start) {
    const ulong end = cycle_counter();
    if ((uint)get_local_id(0) % ${traits.lanes}u == 0u) {
        __global ulong *const span = spans + 3u * ((uint)get_global_id(0) / ${traits.lanes}u);
        span[0] = start;
        span[1] = end;
        span[2] = 1ul + unit_id();
    }
}
</%def>

<%def name="registers(kind, chains)">\
% for chain in range(chains):
    ${kind} a${chain} = first + (${kind})(get_local_id(0) + ${chain}u), b${chain} = second, c${chain} = third;
% endfor
</%def>

<%def name="result(chains)">\
${" + ".join(f"a{chain} + b{chain} + c{chain}" for chain in range(chains))}\
</%def>

<%def name="steps(operation, count, chains=1)">\
${flavour.steps(operation, count, chains)}\
</%def>

<%def name="path_steps(path, count)">\
${flavour.path_steps(path, count)}\
</%def>

<%def name="touches(space, way, base, offsets, width=1)">\
${flavour.touches(space, way, base, offsets, width)}\
</%def>

<%def name="chase(space, place, count)">\
${flavour.chase(space, place, count)}\
</%def>
