## What OpenCL C declares of itself, as far as kernels call it: an eighth of the whole, which some
## compilers read for each program. Every function has all of its scalar types, so that none is taken
## for another; a call of anything else, of many functions of vectors too, is an error.
<%
    INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
    FLOATS = ("float", "double")
    SCALARS = (*INTEGERS, *FLOATS)
    UNSIGNED = {kind: kind if kind[0] == "u" else "u" + kind for kind in INTEGERS}
    WIDER = {"char": "short", "short": "int", "int": "long"}
    WIDER |= {"u" + narrow: "u" + wide for narrow, wide in WIDER.items()}
    SAME_SIZE = {"float": "int", "double": "long"}
    WIDTHS = (2, 3, 4, 8, 16)
    TESTS = ("isfinite", "isinf", "isnan", "isnormal", "signbit")
    MATH_OF_ONE = """acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi
        degrees erf erfc exp exp10 exp2 expm1 fabs floor lgamma log log10 log1p log2 logb radians
        rint round rsqrt sign sin sinh sinpi sqrt tan tanh tanpi tgamma trunc""".split()
%>
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define FOUND __attribute__((overloadable))
#define PURE __attribute__((overloadable, const))
#define MEETS __attribute__((overloadable, convergent))

uint PURE get_work_dim(void);
% for name in ("global_size", "global_id", "local_size", "local_id", "num_groups", "group_id", "global_offset"):
size_t PURE get_${name}(uint);
% endfor
void MEETS barrier(cl_mem_fence_flags);
% for name in ("mem_fence", "read_mem_fence", "write_mem_fence"):
void FOUND ${name}(cl_mem_fence_flags);
% endfor

% for kind in INTEGERS:
% for width in ("", *WIDTHS):
<% of = f"{kind}{width}" %>\
${UNSIGNED[kind]}${width} PURE abs(${of});
${UNSIGNED[kind]}${width} PURE abs_diff(${of}, ${of});
% for name in ("clz", "popcount"):
${of} PURE ${name}(${of});
% endfor
% for name in ("add_sat", "hadd", "max", "min", "mul_hi", "rhadd", "rotate", "sub_sat"):
${of} PURE ${name}(${of}, ${of});
% endfor
% for name in ("clamp", "mad_hi", "mad_sat"):
${of} PURE ${name}(${of}, ${of}, ${of});
% endfor
% endfor
% if kind in WIDER:
${WIDER[kind]} PURE upsample(${kind}, ${UNSIGNED[kind]});
% endif
% if kind[0] != "u":
% for width in ("", *WIDTHS):
int PURE all(${kind}${width});
int PURE any(${kind}${width});
% endfor
% endif
% endfor
% for kind in ("int", "uint"):
${kind} PURE mul24(${kind}, ${kind});
${kind} PURE mad24(${kind}, ${kind}, ${kind});
% endfor

% for kind in FLOATS:
% if kind == "double":
#ifdef cl_khr_fp64
% endif
% for name in MATH_OF_ONE:
${kind} PURE ${name}(${kind});
% endfor
% for name in ("atan2", "atan2pi", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "max", "maxmag", "min", "minmag", "nextafter", "pow", "powr", "remainder", "step"):
${kind} PURE ${name}(${kind}, ${kind});
% endfor
% for name in ("clamp", "fma", "mad", "mix", "smoothstep"):
${kind} PURE ${name}(${kind}, ${kind}, ${kind});
% endfor
int PURE ilogb(${kind});
% for name in ("ldexp", "pown", "rootn"):
${kind} PURE ${name}(${kind}, int);
% endfor
% for name in ("isequal", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isnotequal", "isordered", "isunordered"):
int PURE ${name}(${kind}, ${kind});
% endfor
% for name in TESTS:
int PURE ${name}(${kind});
% endfor
% for width in WIDTHS:
<% of = f"{kind}{width}" %>\
% for name in ("ceil", "exp", "fabs", "floor", "log", "sqrt"):
${of} PURE ${name}(${of});
% endfor
% for name in ("fmax", "fmin", "max", "min", "pow"):
${of} PURE ${name}(${of}, ${of});
% endfor
% for name in TESTS:
${SAME_SIZE[kind]}${width} PURE ${name}(${of});
% endfor
% endfor
% if kind == "double":
#endif
% endif
% endfor
% for name in ("cos", "exp", "exp10", "exp2", "log", "log10", "log2", "recip", "rsqrt", "sin", "sqrt", "tan"):
float PURE native_${name}(float);
% endfor
float PURE native_divide(float, float);

% for to in FLOATS:
% for of in SCALARS:
% if "double" in (to, of):
#ifdef cl_khr_fp64
% endif
% for rounding in ("", "_rte", "_rtz", "_rtp", "_rtn"):
${to} PURE convert_${to}${rounding}(${of});
% endfor
% if "double" in (to, of):
#endif
% endif
% endfor
% endfor

% for to in ("char", "int", "uint", "long", "ulong", "float", "double"):
% for of in SCALARS:
% if "double" in (to, of):
#ifdef cl_khr_fp64
% endif
% for width in WIDTHS:
${to}${width} PURE convert_${to}${width}(${of}${width});
% endfor
% if "double" in (to, of):
#endif
% endif
% endfor
% endfor

% for kind in SCALARS:
% if kind == "double":
#ifdef cl_khr_fp64
% endif
% for width in ("", *WIDTHS):
<% size = SAME_SIZE.get(kind, kind).removeprefix("u") %>\
${kind}${width} PURE select(${kind}${width}, ${kind}${width}, ${size}${width});
${kind}${width} PURE select(${kind}${width}, ${kind}${width}, u${size}${width});
void FOUND prefetch(const global ${kind}${width} *, size_t);
% endfor
% for width in WIDTHS:
% for space in ("global", "local", "private"):
${kind}${width} PURE vload${width}(size_t, const ${space} ${kind} *);
void FOUND vstore${width}(${kind}${width}, size_t, ${space} ${kind} *);
% endfor
${kind}${width} PURE vload${width}(size_t, const constant ${kind} *);
% endfor
% if kind == "double":
#endif
% endif
% endfor

% for space in ("global", "local"):
% for kind in ("int", "uint", "long", "ulong"):
<% stem = "atomic" if "int" in kind else "atom" %>\
% for name in ("add", "and", "max", "min", "or", "sub", "xchg", "xor"):
${kind} FOUND ${stem}_${name}(volatile ${space} ${kind} *, ${kind});
% endfor
% for name in ("dec", "inc"):
${kind} FOUND ${stem}_${name}(volatile ${space} ${kind} *);
% endfor
${kind} FOUND ${stem}_cmpxchg(volatile ${space} ${kind} *, ${kind}, ${kind});
% endfor
float FOUND atomic_xchg(volatile ${space} float *, float);
% endfor
#undef FOUND
#undef PURE
#undef MEETS
