## operators: the associative operators that have a name, for every type they are defined on.
##
## identity(name, type), expression(name)    Python functions of this file's module
## In scope      nothing
## Called by     templates, while rendering
## Barriers      none
## Local memory  none
##
## affine holds the map x -> p x + q modulo 2^32 as (p, q) in a uint2; combining is "first a, then b",
## which does not commute.

<%!
    LOWEST = {"uint": "0u", "int": "INT_MIN", "ulong": "0ul", "long": "LONG_MIN", "float": "-INFINITY", "double": "-INFINITY"}
    HIGHEST = {"uint": "UINT_MAX", "int": "INT_MAX", "ulong": "ULONG_MAX", "long": "LONG_MAX", "float": "INFINITY", "double": "INFINITY"}
    ZERO = {name: "0" for name in LOWEST}
    WHOLE = {name: "0" for name in ("uint", "int", "ulong", "long")}

    OPERATORS = {
        "add": (ZERO, "a + b"),
        "min": (HIGHEST, "min(a, b)"),
        "max": (LOWEST, "max(a, b)"),
        "or": (WHOLE, "a | b"),
        "affine": ({"uint2": "(uint2)(1u, 0u)"}, "(uint2)(b.x * a.x, b.x * a.y + b.y)"),
    }

    def identity(name, type):
        return OPERATORS[name][0][type]

    def expression(name):
        return OPERATORS[name][1]
%>
