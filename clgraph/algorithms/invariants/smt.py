"""Writing invariants for solvers, in the SMT-LIB 2 format."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.invariants.expressions import Node

__all__ = ["smt_script"]

WRITTEN = {
    "add": "(+ {} {})", "sub": "(- {} {})", "mul": "(* {} {})", "div": "(/ {} {})",
    "pow": "(^ {} {})", "neg": "(- {})", "abs": "(ite (>= {0} 0.0) {0} (- {0}))",
    "min": "(ite (<= {0} {1}) {0} {1})", "max": "(ite (>= {0} {1}) {0} {1})",
    "sqrt": "(sqrt {})", "log": "(log {})", "exp": "(exp {})",
    "eq": "(= {} {})", "ne": "(not (= {} {}))", "lt": "(< {} {})", "gt": "(> {} {})",
    "le": "(<= {} {})", "ge": "(>= {} {})",
    "and": "(and {} {})", "or": "(or {} {})", "xor": "(xor {} {})", "iff": "(= {} {})",
    "not": "(not {})",
}  # fmt: skip
# What the format's theory of reals has no function for is declared as an unknown one.
UNINTERPRETED = ("sqrt", "log", "exp")


def smt_script(invariants: Sequence[tuple[Node, Sequence[str]]]) -> str:
    """Declare all variables and assert all conditions.

    Parameters
    ----------
    invariants : sequence of (Node, sequence of str)
        A condition and the names of its variables.

    Returns
    -------
    str
        Declarations, assertions, and nothing to check: add ``(check-sat)`` to your own question.
    """
    sorts: dict[str, str] = {}
    functions: set[str] = set()
    asserted = []
    for node, names in invariants:
        _collect(node, names, sorts, functions)
        asserted.append(f"(assert {_written(node, names)})")
    lines = [f"(declare-fun {name} (Real) Real)" for name in sorted(functions)]
    lines += [f"(declare-const {_symbol(name)} {sort})" for name, sort in sorts.items()]
    return "\n".join([*lines, *asserted])


def _collect(node: Node, names: Sequence[str], sorts: dict[str, str], functions: set[str]) -> None:
    if node.op == "variable":
        sorts.setdefault(names[int(node.value)], "Bool" if node.type == "truth" else "Real")
    if node.op in UNINTERPRETED:
        functions.add(node.op)
    for arg in node.args:
        _collect(arg, names, sorts, functions)


def _written(node: Node, names: Sequence[str]) -> str:
    if node.op == "variable":
        return _symbol(names[int(node.value)])
    if node.op == "constant":
        if node.type == "truth":
            return "true" if node.value else "false"
        return _number(Fraction(node.value))
    return WRITTEN[node.op].format(*(_written(arg, names) for arg in node.args))


def _number(value: Fraction) -> str:
    """Write it exactly: every float is a fraction of whole numbers."""
    whole = f"{abs(value.numerator)}.0"
    if value.denominator != 1:
        whole = f"(/ {whole} {value.denominator}.0)"
    return f"(- {whole})" if value < 0 else whole


def _symbol(name: str) -> str:
    """Quote a name; a quoted symbol may hold anything but these two characters."""
    return "|" + name.replace("\\", "_").replace("|", "_") + "|"
