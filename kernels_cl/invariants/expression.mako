## expression: a tree of operators as an OpenCL C expression over vectors.
##
## vocabulary(kind, tolerance)   at file scope, after conditions.vocabulary(): functions that it calls
## text(node, names)        the expression; `names` are those of the variables
## In scope      VALUES, TRUTHS
##
## A node has op, args, value and type; see clgraph.algorithms.invariants.expressions. Outcomes are all
## ones or all zeros, so and, or and not are the operators on bits, for packed Booleans too.

<%!
    WRITTEN = {
        "add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "div": "({} / {})", "neg": "(-{})",
        "pow": "power({}, {})", "min": "smaller({}, {})", "max": "larger({}, {})",
        "abs": "fabs({})", "sqrt": "sqrt({})", "log": "log({})", "exp": "exp({})",
        "eq": "({} == {})", "ne": "({} != {})", "lt": "({} < {})", "gt": "({} > {})",
        "le": "({} <= {})", "ge": "({} >= {})",
        "and": "({} & {})", "or": "({} | {})", "xor": "({} ^ {})", "iff": "(~({} ^ {}))", "not": "(~{})",
    }
    NEAR = {"eq": "near({}, {})", "ne": "(~near({}, {}))"}

    def constant(node):
        if node.type == "truth":
            return f"(~(TRUTHS)(0))" if node.value else "(TRUTHS)(0)"
        return f"(VALUES)({float(node.value).hex()}f)"

    def written(node, names, tolerance):
        if node.op == "variable":
            return names[node.value]
        if node.op == "constant":
            return constant(node)
        form = NEAR.get(node.op) if tolerance else None
        return (form or WRITTEN[node.op]).format(*(written(arg, names, tolerance) for arg in node.args))
%>

<%def name="text(node, tolerance)">${written(node, "xyz", tolerance)}</%def>

<%def name="vocabulary(kind, tolerance)">
% if kind == "numeric":
// A product and a sum are rounded one after the other, as the host does.
#pragma OPENCL FP_CONTRACT OFF

// The smaller and the larger of two numbers, and a power: NaN where an operand is.
static inline VALUES smaller(VALUES a, VALUES b) { return select(b, a, (a < b) | isnan(a)); }

static inline VALUES larger(VALUES a, VALUES b) { return select(b, a, (a > b) | isnan(a)); }

static inline VALUES power(VALUES a, VALUES b) {
    return select(pow(a, b), (VALUES)(NAN), isnan(a) | isnan(b));
}

% if tolerance:
// Place of a float in the order of all floats; both zeros are at 0.
static inline TRUTHS place_of(VALUES x) {
    const TRUTHS bits = AS_TRUTHS(x);
    return select(bits, (TRUTHS)(INT_MIN) - bits, bits < (TRUTHS)(0));
}

static inline TRUTHS near(VALUES a, VALUES b) {
    return (abs_diff(place_of(a), place_of(b)) <= ${tolerance}u) & ~isnan(a) & ~isnan(b);
}
% endif
% endif
</%def>
