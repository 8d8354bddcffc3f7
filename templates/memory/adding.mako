## adding: atomic additions of floating-point numbers to global memory.
##
## vocabulary()  at file scope, once, after memory.vocabulary()
## In scope      traits (DeviceTraits)
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
##
## void atomic_add_float(volatile __global float *p, float x)
## void atomic_add_double(volatile __global double *p, double x)   where traits.fp64 and int64_atomics
## Order         relaxed; sums of several work-items round in the order in which they arrive

<%!
    def adds(context, kind):
        """Whether a state of this C type can be added to, of those that any device can."""
        traits = context["traits"]
        return kind != "double" or (traits.fp64 and traits.int64_atomics)
%>
<%def name="vocabulary()">\
<%
    kinds = [("float", "uint", "atomic_cmpxchg", "f32", "f", (2, 0))]
    if adds(context, "double"):
        kinds.append(("double", "ulong", "atom_cmpxchg", "f64", "d", (6, 0)))
%>\
% if traits.fp64:
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
% endif
% for kind, bits, exchange, width, register, capability in kinds:
static inline void atomic_add_${kind}(volatile __global ${kind} *p, ${kind} x) {
% if traits.memory_ops == "ptx" and (traits.compute_capability or (3, 0)) >= capability:
    asm volatile("red.global.add.${width} [%0], %1;" : : "l"(p), "${register}"(x) : "memory");
% else:
    volatile __global ${bits} *const word = (volatile __global ${bits} *)p;
    ${bits} seen = load_relaxed${"" if bits == "uint" else "_ulong"}(word);
    for (;;) {
        const ${bits} before = ${exchange}(word, seen, as_${bits}(as_${kind}(seen) + x));
        if (before == seen) break;
        seen = before;
    }
% endif
}

% endfor
</%def>
