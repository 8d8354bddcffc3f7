## stress, ptx flavour: every instruction is written down, in one statement for each sequence.
##
## Contract      /lanes/stress/stress.mako
## Note          two reciprocals in a row are none, so each is guarded by a predicate that is true.
##               `volatile` binds the OpenCL compiler only. The assembler behind it improves what it can
##               prove, so chains are such that it can prove nothing: each step needs the one before,
##               by a register whose value only the kernel's arguments tell. A multiply-add of three
##               registers waits for the register file where lanes read two a cycle, so the usual one
##               has one: c comes out of a uniform register or the constant bank.
<%!
    # Steps of an operation, taken in turn, with | between them; {a}, {b} and {c} are registers of one chain, p its predicate.
    STEPS = {
        "add_int": "add.u32 {a},{a},{b};|add.u32 {b},{b},{a};",
        "sub_int": "sub.u32 {a},{a},{b};|sub.u32 {b},{b},{a};",
        "mul_int": "mul.lo.u32 {a},{a},{b};|mul.lo.u32 {b},{b},{a};",
        "mad_int": "mad.lo.u32 {a},{a},{b},{c};",
        "clz": "clz.b32 {a},{a};",
        "brev": "brev.b32 {a},{a};",
        "bfind": "bfind.u32 {a},{a};",
        "bfi": "bfi.b32 {a},{b},{a},{c},{c};",
        "bfe": "bfe.u32 {a},{b},{a},{c};",
        "shl": "shl.b32 {a},{b},{a};",
        "shr": "shr.u32 {a},{b},{a};",
        "less": "setp.lt.xor.s32 {p},{a},{b},{p};",
        "greater": "setp.gt.xor.s32 {p},{a},{b},{p};",
        "less_equal": "setp.le.xor.s32 {p},{a},{b},{p};",
        "greater_equal": "setp.ge.xor.s32 {p},{a},{b},{p};",
        "min_int": "min.s32 {a},{a},{b};|min.s32 {b},{b},{c};|min.s32 {c},{c},{a};",
        "max_int": "max.s32 {a},{a},{b};|max.s32 {b},{b},{c};|max.s32 {c},{c},{a};",
        "popcount": "popc.b32 {a},{a};",
        "rem_int": "rem.u32 {a},{b},{a};",
        "add_long": "add.u64 {a},{a},{b};|add.u64 {b},{b},{a};",
        "sub_long": "sub.u64 {a},{a},{b};|sub.u64 {b},{b},{a};",
        "add_float": "add.rn.f32 {a},{a},{b};",
        "sub_float": "sub.rn.f32 {a},{a},{b};",
        "mul_float": "mul.rn.f32 {a},{a},{b};",
        "fma_float": "fma.rn.f32 {a},{a},{c},{a};",
        "fma_three_registers": "fma.rn.f32 {a},{a},{b},{c};",
        "div_exact": "div.rn.f32 {a},{b},{a};",
        "div_exact_flushed": "div.rn.ftz.f32 {a},{b},{a};",
        "div_fast": "div.approx.f32 {a},{b},{a};",
        "div_fast_flushed": "div.approx.ftz.f32 {a},{b},{a};",
        "sin": "sin.approx.ftz.f32 {a},{a};",
        "cos": "cos.approx.ftz.f32 {a},{a};",
        "exp2": "ex2.approx.ftz.f32 {a},{a};",
        "log2": "lg2.approx.ftz.f32 {a},{a};",
        "rsqrt": "rsqrt.approx.ftz.f32 {a},{a};",
        "rcp": "@{p} rcp.approx.ftz.f32 {a},{a};",
        "add_double": "add.rn.f64 {a},{a},{b};",
        "sub_double": "sub.rn.f64 {a},{a},{b};",
        "fma_double": "fma.rn.f64 {a},{a},{b},{c};",
    }
    A_LINE = 8  # instructions

    def constraint(operation):
        for ending, letter in (("long", "l"), ("double", "d")):
            if operation.endswith(ending):
                return letter
        floats = ("float", "registers", "exact", "flushed", "fast", "sin", "cos", "exp2", "log2", "rsqrt", "rcp")
        return "f" if operation.endswith(floats) else "r"

    def quoted(instructions):
        rows = [instructions[k : k + A_LINE] for k in range(0, len(instructions), A_LINE)]
        return "\n".join('        "' + " ".join(row) + '"' for row in rows)
%>\
<%def name="vocabulary()">\
static inline ulong cycle_counter(void) {
    ulong now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
    return now;
}

static inline uint unit_id(void) {
    uint unit;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    return unit;
}
</%def>

<%def name="steps(operation, count, chains)">\
<%
    turns = STEPS[operation].split("|")
    predicate = "{p}" in STEPS[operation]
    letter = constraint(operation)
    text = []
    for step in range(count):
        chain, turn = step % chains, step // chains
        a, b, c = (f"%{3 * chain + k}" for k in range(3))
        text.append(turns[turn % len(turns)].format(a=a, b=b, c=c, p=f"p{chain}"))
    if predicate:
        names = ", ".join(f"p{chain}" for chain in range(chains))
        before = [f"{{ .reg .pred {names};"]
        test, zero = ("neu.f32", "0f00000000") if letter == "f" else ("ne.u32", "0")
        before += [f"setp.{test} p{chain}, %{3 * chain + 2}, {zero};" for chain in range(chains)]
        # A comparison leaves its result in c; where a predicate only guards, it stays as it is.
        words = [f"selp.u32 %{3 * chain + 2}, 1, 0, p{chain};" for chain in range(chains)]
        after = [*(words if letter == "r" else []), "}"]
        text = before + text + after
    bound = ", ".join(f'"+{letter}"({name}{chain})' for chain in range(chains) for name in "abc")
%>\
    asm volatile(
${quoted(text)}
        : ${bound});
</%def>

<%def name="path_steps(path, count)">\
    asm volatile(
${quoted([f"mad.lo.u32 %0,%0,%1,{2 * (path * count + step) + 1};" for step in range(count)])}
        : "+r"(a0) : "r"(b0));
</%def>

<%def name="touches(space, way, base, offsets, width)">\
<%
    # The assembler removes loads that nobody uses, but not volatile ones to registers of their own.
    order = ".volatile"
    state = {"global": "global", "local": "shared"}[space]
    vector = f".v{width}" if width > 1 else ""
    def registers(names):
        return "{" + ",".join(names) + "}" if vector else names[0]
    if way == "load":
        text = [
            f"ld{order}.{state}{vector}.u32 {registers([f't{width * k + j}' for j in range(width)])}, [%0+{offset}];"
            for k, offset in enumerate(offsets)
        ]
        text = [f"{{ .reg .u32 t<{width * len(offsets)}>;", *text, "}"]
    else:
        text = [
            f"st{order}.{state}{vector}.u32 [%0+{offset}], {registers(['%1'] * width)};"
            for offset in offsets
        ]
%>\
    asm volatile(
${quoted(text)}
        : : "l"((ulong)(size_t)(${base})), "r"(value) : "memory");
</%def>

<%def name="chase(space, place, count)">\
<%
    # Whatever is written between two launches must be seen, so no non-coherent loads.
    load = {"global": "ld.relaxed.gpu.global.u64", "cached": "ld.global.ca.u64", "local": "ld.volatile.shared.u64", "constant": "ld.const.u64"}[space]
    if (traits.compute_capability or (3, 0)) < (7, 0):
        load = load.replace("relaxed.gpu", "volatile")
%>\
    asm volatile(
${quoted([f"{load} %0, [%0];"] * count)}
        : "+l"(${place}) : : "memory");
</%def>
