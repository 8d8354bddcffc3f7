## stress, portable flavour: plain OpenCL C whose values the compiler is kept from knowing.
##
## Contract      /lanes/stress/stress.mako
## Note          a compiler chooses the instructions, so figures are indicative. Where it takes inline
##               assembly of the host's processor, an empty statement hides each value from it.
<%!
    # Steps of an operation, taken in turn, with @ between them.
    STEPS = {
        "add_int": "{a} = {a} + {b};@{b} = {b} + {a};",
        "sub_int": "{a} = {a} - {b};@{b} = {b} - {a};",
        "mul_int": "{a} = {a} * {b};@{b} = {b} * {a};",
        "mad_int": "{a} = {a} * {b} + {c};",
        "clz": "{a} = clz({a});",
        "brev": "{a} = ({a} >> 16) | ({a} << 16); {a} = (({a} >> 8) & 0xff00ffu) | (({a} & 0xff00ffu) << 8); {a} = (({a} >> 4) & 0xf0f0f0fu) | (({a} & 0xf0f0f0fu) << 4); {a} = (({a} >> 2) & 0x33333333u) | (({a} & 0x33333333u) << 2); {a} = (({a} >> 1) & 0x55555555u) | (({a} & 0x55555555u) << 1);",
        "bfind": "{a} = 31u - clz({a});",
        "bfi": "{a} = ({a} & ~(((1u << ({c} & 15u)) - 1u) << ({c} & 15u))) | (({b} & ((1u << ({c} & 15u)) - 1u)) << ({c} & 15u));",
        "bfe": "{a} = ({b} >> ({a} & 31u)) & ((1u << ({c} & 31u)) - 1u);",
        "shl": "{a} = {b} << ({a} & 31u);",
        "shr": "{a} = {b} >> ({a} & 31u);",
        "less": "{c} ^= (int){a} < (int){b};",
        "greater": "{c} ^= (int){a} > (int){b};",
        "less_equal": "{c} ^= (int){a} <= (int){b};",
        "greater_equal": "{c} ^= (int){a} >= (int){b};",
        "min_int": "{a} = min({a}, {b});@{b} = min({b}, {c});@{c} = min({c}, {a});",
        "max_int": "{a} = max({a}, {b});@{b} = max({b}, {c});@{c} = max({c}, {a});",
        "popcount": "{a} = popcount({a});",
        "rem_int": "{a} = {b} % ({a} | 1u);",
        "add_long": "{a} = {a} + {b};@{b} = {b} + {a};",
        "sub_long": "{a} = {a} - {b};@{b} = {b} - {a};",
        "add_float": "{a} = {a} + {b};",
        "sub_float": "{a} = {a} - {b};",
        "mul_float": "{a} = {a} * {b};",
        "fma_float": "{a} = fma({a}, {c}, {a});",
        "fma_three_registers": "{a} = fma({a}, {b}, {c});",
        "div_exact": "{a} = {b} / {a};",
        "div_exact_flushed": "{a} = {b} / {a};",
        "div_fast": "{a} = native_divide({b}, {a});",
        "div_fast_flushed": "{a} = native_divide({b}, {a});",
        "sin": "{a} = native_sin({a});",
        "cos": "{a} = native_cos({a});",
        "exp2": "{a} = native_exp2({a});",
        "log2": "{a} = native_log2({a});",
        "rsqrt": "{a} = native_rsqrt({a});",
        "rcp": "{a} = native_recip({a});",
        "add_double": "{a} = {a} + {b};",
        "sub_double": "{a} = {a} - {b};",
        "fma_double": "{a} = fma({a}, {b}, {c});",
    }
%>\
<%def name="vocabulary()">\
#if defined(__x86_64__) || defined(__aarch64__)
#define HIDE(word) __asm__ volatile("" : "+m"(word))
#else
#define HIDE(word)
#endif

static inline ulong cycle_counter(void) { return 0ul; }

static inline uint unit_id(void) { return 0u; }
</%def>

<%def name="steps(operation, count, chains)">\
<%
    turns = STEPS[operation].split("@")
%>\
% for step in range(count):
<%
    chain, turn = step % chains, step // chains
    text = turns[turn % len(turns)].format(a=f"a{chain}", b=f"b{chain}", c=f"c{chain}")
    word = text.split(" ", 1)[0]
%>\
    ${text} HIDE(${word});
% endfor
</%def>

<%def name="path_steps(path, count)">\
% for step in range(count):
    a0 = a0 * b0 + ${2 * (path * count + step) + 1}u; HIDE(a0);
% endfor
</%def>

<%def name="touches(space, way, base, offsets, width)">\
<%
    kind, wide = ("uint4", "(uint4)") if width == 4 else ("uint", "")
    word = f"(volatile __{space} {kind} *)({base})"
    bytes = 4 * width
%>\
% for offset in offsets:
% if way == "load":
    value += (${word})[${offset // bytes}]${'.x' if wide else ''};
% else:
    (${word})[${offset // bytes}] = ${wide}value;
% endif
% endfor
</%def>

<%def name="chase(space, place, count)">\
<%
    kind = {"global": "volatile __global", "cached": "volatile __global", "local": "volatile __local", "constant": "__constant"}[space]
%>\
% for _ in range(count):
    ${place} = *(${kind} ulong *)(size_t)${place}; HIDE(${place});
% endfor
</%def>
