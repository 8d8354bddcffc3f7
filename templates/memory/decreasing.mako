## decreasing: put a number into global memory where it is less than what is there, and tell whether.
##
## body(kind, p, x)   the body of a function: returns 1 for who decreased it, else 0
## decreases(kind)    whether the device can, of numbers of a C type
## In scope      traits (DeviceTraits); memory.vocabulary() came before
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
## Order         relaxed; real numbers must not be NaN

<%!
    WHOLE = {"int": "atomic_min", "uint": "atomic_min", "long": "atom_min", "ulong": "atom_min"}
    REAL = {"float": ("uint", "atomic_cmpxchg"), "double": ("ulong", "atom_cmpxchg")}

    def decreases(context, kind):
        """Whether numbers of this C type can be decreased by several work-items at once."""
        traits = context["traits"]
        if kind not in WHOLE and kind not in REAL:
            return False
        return kind in ("int", "uint", "float") or traits.int64_atomics
%>
<%def name="body(kind, p, x)">\
% if kind in WHOLE:
return ${x} < ${WHOLE[kind]}(${p}, ${x});
% else:
<% bits, exchange = REAL[kind] %>\
volatile __global ${bits} *const word = (volatile __global ${bits} *)${p};
    ${bits} seen = load_relaxed${"" if bits == "uint" else "_ulong"}(word);
    while (${x} < as_${kind}(seen)) {
        const ${bits} before = ${exchange}(word, seen, as_${bits}(${x}));
        if (before == seen) return 1;
        seen = before;
    }
    return 0;
% endif
</%def>
