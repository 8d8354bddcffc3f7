## keys: path lengths as unsigned integers in the same order, in the type of the weights.
##
## Gives         key_t, weight_t, KEY_ZERO (no length at all), KEY_NONE (no path: above every length),
##               KEY_LEAST (a sum below what the type holds); key_add, key_raise, length_of
## In scope      keys: .weight (the weights' type in OpenCL C), .bits, .real, .signed (whether lengths
##               may be negative), .sign (the sign bit), .guarded (whether a sum of integers may be
##               more than the type holds)
## Order         an integer that cannot be negative is its own key and so is the pattern of a
##               floating-point number; a negative integer is shifted by the sign bit; of negative
##               floating-point numbers all bits are turned round, of others the sign
<%def name="declarations()">
typedef ${keys.weight} weight_t;
typedef ${"ulong" if keys.bits == 64 else "uint"} key_t;
<%
    suffix = "ul" if keys.bits == 64 else "u"
    zero = keys.sign if keys.signed else 0
    none = keys.none
    as_real, as_key = f"as_{keys.weight}", f"as_{'ulong' if keys.bits == 64 else 'uint'}"
%>
#define KEY_ZERO ((key_t)${hex(zero)}${suffix})
#define KEY_NONE ((key_t)${hex(none)}${suffix})
#define KEY_LEAST ((key_t)${hex(keys.least)}${suffix})
% if keys.bits == 64:
#define ATOMIC_MIN_KEY(p, x) atom_min(p, x)
#define LOAD_KEY(p) load_relaxed_ulong(p)
#define REDUCE_MIN_KEY(x) lane_reduce_min_ulong(x)
% else:
#define ATOMIC_MIN_KEY(p, x) atomic_min(p, x)
#define LOAD_KEY(p) load_relaxed(p)
#define REDUCE_MIN_KEY(x) lane_reduce_min(x)
% endif

% if keys.real and keys.signed:
static inline weight_t length_of(const key_t key) {
    return ${as_real}(key & ${hex(keys.sign)}${suffix} ? key ^ ${hex(keys.sign)}${suffix} : ~key);
}

static inline key_t key_add(const key_t from, const weight_t weight) {
    const key_t sum = ${as_key}((weight_t)(length_of(from) + weight) + (weight_t)0);   // + 0: no minus zero
    return sum & ${hex(keys.sign)}${suffix} ? ~sum : sum ^ ${hex(keys.sign)}${suffix};
}
% elif keys.real:
static inline weight_t length_of(const key_t key) { return ${as_real}(key); }

static inline key_t key_add(const key_t from, const weight_t weight) {
    return ${as_key}((weight_t)(${as_real}(from) + weight));
}
% else:
static inline weight_t length_of(const key_t key) { return (weight_t)(key ^ KEY_ZERO); }

static inline key_t key_add(const key_t from, const weight_t weight) {
    const key_t sum = from + (key_t)weight;
% if keys.signed:
    return weight < 0 ? (sum > from ? KEY_LEAST : sum) : (sum < from ? KEY_NONE : sum);
% elif keys.guarded and none == 2**keys.bits - 1:
    return sum < from ? KEY_NONE : sum;
% else:
    return sum;   // both are below half of what a key holds
% endif
}
% endif

// A key some way above another, at least the next one and at most the last that is a length.
static inline key_t key_raise(const key_t from, const weight_t by) {
    const key_t sum = key_add(from, by);
    return sum == from ? from + 1 : sum < from || sum >= KEY_NONE ? KEY_NONE - 1 : sum;
}
</%def>
