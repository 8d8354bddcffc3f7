"""Conditions between variables: parsed from text into small typed trees.

Nothing of the text itself reaches a kernel: templates render the tree, in which a constant is a
number and a variable is its place in the tuple.
"""

from __future__ import annotations

import ast
import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clgraph.apart import apart
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["BOOLEAN", "COMPARISONS", "KINDS", "NUMERIC", "Kind", "Node", "parse"]

Kind = Literal["numeric", "boolean"]
NUMERIC: Kind = "numeric"
BOOLEAN: Kind = "boolean"
KINDS = (NUMERIC, BOOLEAN)
NUMBER, TRUTH = "number", "truth"

LONGEST_TEXT = 1000
MOST_NODES = 200
MOST_VARIABLES = 3

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
# What an operator takes and gives, how Python writes it, and how an SMT solver does.
SIGNATURES: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "min", "max"), ((NUMBER, NUMBER), NUMBER)),
    **dict.fromkeys(("neg", "abs", "sqrt", "log", "exp"), ((NUMBER,), NUMBER)),
    **dict.fromkeys(COMPARISONS, ((NUMBER, NUMBER), TRUTH)),
    **dict.fromkeys(("and", "or", "xor", "iff"), ((TRUTH, TRUTH), TRUTH)),
    "not": ((TRUTH,), TRUTH),
}
COMMUTING = frozenset({"add", "mul", "min", "max", "eq", "ne", "and", "or", "xor", "iff"})
MIRRORED = {"gt": "lt", "ge": "le"}

TEXT = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "pow": "{} ** {}",
    "min": "min({}, {})", "max": "max({}, {})", "neg": "-{}", "abs": "abs({})",
    "sqrt": "sqrt({})", "log": "log({})", "exp": "exp({})",
    **{name: f"{{}} {sign} {{}}" for name, sign in COMPARISONS.items()},
    "and": "{} and {}", "or": "{} or {}", "xor": "{} ^ {}", "iff": "{} == {}", "not": "not {}",
}  # fmt: skip
FUNCTIONS = {"min": "min", "max": "max", "abs": "abs", "sqrt": "sqrt", "log": "log", "exp": "exp",
             "pow": "pow"}  # fmt: skip
WRITTEN_AS_CALL = frozenset({"min", "max", "abs", "sqrt", "log", "exp"})
AST_NUMBERS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
AST_TRUTHS = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
AST_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.Gt: "gt", ast.LtE: "le",
                   ast.GtE: "ge"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """An operator with its operands, a constant, or a variable.

    Attributes
    ----------
    op : str
        Name of the operator, ``"constant"`` or ``"variable"``.
    args : tuple of Node
        Operands.
    value : float or bool or int
        Of a constant; of a variable its place in the tuple, from 0.
    type : {"number", "truth"}
        What it gives.
    """

    op: str
    args: tuple[Node, ...] = ()
    value: float | int = 0
    type: str = TRUTH

    def renamed(self, places: Sequence[int]) -> Node:
        """Put variable ``places[i]`` in the place of variable i."""
        if self.op == "variable":
            return Node(self.op, (), places[int(self.value)], self.type)
        return Node(self.op, tuple(arg.renamed(places) for arg in self.args), self.value, self.type)

    def canonical(self) -> Node:
        """Order the operands of what commutes, so that equal conditions are equal trees."""
        args = tuple(arg.canonical() for arg in self.args)
        op = self.op
        if op in MIRRORED:
            op, args = MIRRORED[op], args[::-1]
        if op in COMMUTING:
            args = tuple(sorted(args, key=Node._order))
        return Node(op, args, self.value, self.type)

    def _order(self) -> tuple[Any, ...]:
        """Give what trees are sorted by: not their ``repr``.

        That of dataclasses remembers which objects it is at, and after an interruption is never
        done with them: objects that come to lie there then have none.
        """
        return (self.op, repr(self.value), self.type, *map(Node._order, self.args))

    def text(self, names: Sequence[str]) -> str:
        """Write it as Python would, with these names of the variables."""
        if self.op == "variable":
            return names[int(self.value)]
        if self.op == "constant":
            return str(bool(self.value)) if self.type == TRUTH else f"{self.value:g}"
        parts = [arg.text(names) for arg in self.args]
        if self.op not in WRITTEN_AS_CALL:
            parts = [
                part if not arg.args or arg.op in WRITTEN_AS_CALL else f"({part})"
                for arg, part in zip(self.args, parts, strict=True)
            ]
        return TEXT[self.op].format(*parts)

    def evaluate(
        self, values: Sequence[NDArray[Any]], tolerance: int = 0
    ) -> NDArray[Any] | np.generic:
        """Give its value at every instant, by NumPy in float32: the reference of the kernels.

        Parameters
        ----------
        values : sequence of numpy.ndarray
            float32 or bool [instants], one for each variable.
        tolerance : int
            Units in the last place within which numbers are equal.
        """
        if self.op == "variable":
            return values[int(self.value)]
        if self.op == "constant":
            return np.bool_(self.value) if self.type == TRUTH else np.float32(self.value)
        args = [arg.evaluate(values, tolerance) for arg in self.args]
        if tolerance and self.op in ("eq", "ne"):
            near = _within(np.asarray(args[0]), np.asarray(args[1]), tolerance)
            return near if self.op == "eq" else ~near
        result: NDArray[Any] | np.generic = EVALUATE[self.op](*args)
        return result


EVALUATE: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "pow": lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), np.power(a, b)),
    "min": np.minimum, "max": np.maximum, "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt,
    "log": np.log, "exp": np.exp,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "gt": np.greater, "le": np.less_equal,
    "ge": np.greater_equal,
    "and": np.logical_and, "or": np.logical_or, "xor": np.not_equal, "iff": np.equal,
    "not": np.logical_not,
}  # fmt: skip


def _within(a: NDArray[Any], b: NDArray[Any], tolerance: int) -> NDArray[Any]:
    places = [_ordered(np.asarray(x, np.float32)) for x in (a, b)]
    near: NDArray[Any] = np.abs(places[0] - places[1]) <= tolerance
    result: NDArray[Any] = near & ~np.isnan(a) & ~np.isnan(b)
    return result


def _ordered(x: NDArray[np.float32]) -> NDArray[np.int64]:
    """Give each float its place in the order of all, with both zeros at 0."""
    bits = x.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(2**31) - bits, bits)


class _Parser:
    """Reads one expression with variables of one kind."""

    def __init__(self, text: str, kind: Kind) -> None:
        self.text = text
        self.variable_type = NUMBER if kind == NUMERIC else TRUTH
        self.names: list[str] = []
        self._nodes = 0

    def refuse(self, why: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"template {self.text!r}: {why}.")

    def read(self, tree: ast.expr) -> Node:  # noqa: C901, PLR0911 (a case for each form)
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise self.refuse(f"it has more than {MOST_NODES} parts")
        match tree:
            case ast.Name():
                return self._variable(tree.id)
            case ast.Constant():
                return self._constant(tree.value)
            case ast.BoolOp():
                parts = [self.read(part) for part in tree.values]
                return self._fold("and" if isinstance(tree.op, ast.And) else "or", parts)
            case ast.UnaryOp(op=ast.Not()):
                return self._node("not", [self.read(tree.operand)])
            case ast.UnaryOp(op=ast.Invert()):
                return self._node("not", [self.read(tree.operand)])
            case ast.UnaryOp(op=ast.USub()):
                operand = self.read(tree.operand)
                if operand.op == "constant" and operand.type == NUMBER:
                    return Node("constant", (), -operand.value, NUMBER)
                return self._node("neg", [operand])
            case ast.BinOp():
                op = AST_NUMBERS.get(type(tree.op)) or AST_TRUTHS.get(type(tree.op))
                if op is not None:
                    return self._node(op, [self.read(tree.left), self.read(tree.right)])
            case ast.Compare():
                return self._comparison(tree)
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS and not tree.keywords:
                parts = [self.read(part) for part in tree.args]
                return (self._fold if name in ("min", "max") else self._node)(name, parts)
        raise self.refuse(
            f"{ast.unparse(tree)!r} is none of variables, numbers, True, False, + - * / **, "
            f"comparisons, and, or, not, ^ and {', '.join(FUNCTIONS)}"
        )

    def _variable(self, name: str) -> Node:
        if name not in self.names:
            self.names.append(name)
        if len(self.names) > MOST_VARIABLES:
            raise self.refuse(f"it has more than {MOST_VARIABLES} variables")
        return Node("variable", (), self.names.index(name), self.variable_type)

    def _constant(self, value: object) -> Node:
        if isinstance(value, bool):
            return Node("constant", (), value, TRUTH)
        rounded = math.inf
        if isinstance(value, int | float):
            with contextlib.suppress(OverflowError):
                rounded = apart(np.errstate(over="ignore")(lambda: float(np.float32(value))))
        if math.isfinite(rounded):
            return Node("constant", (), rounded, NUMBER)
        raise self.refuse(f"the constant {value!r} is no finite number of 32 bits")

    def _comparison(self, tree: ast.Compare) -> Node:
        operands = [self.read(part) for part in (tree.left, *tree.comparators)]
        parts = []
        for op, left, right in zip(tree.ops, operands[:-1], operands[1:], strict=True):
            name = AST_COMPARISONS.get(type(op))
            if name is None:
                raise self.refuse("it compares with something else than == != < > <= >=")
            if left.type == TRUTH:
                name = {"eq": "iff", "ne": "xor"}.get(name, name)
            parts.append(self._node(name, [left, right]))
        return self._fold("and", parts)

    def _fold(self, op: str, parts: list[Node]) -> Node:
        if not parts:
            raise self.refuse(f"{op} needs operands")
        result = parts[0]
        for part in parts[1:]:
            result = self._node(op, [result, part])
        return result

    def _node(self, op: str, args: list[Node]) -> Node:
        wanted, result = SIGNATURES[op]
        if tuple(arg.type for arg in args) != wanted:
            got = ", ".join(arg.type for arg in args)
            raise self.refuse(f"{op!r} needs ({', '.join(wanted)}) and was given ({got})")
        return Node(op, tuple(args), 0, result)


def parse(text: str, kind: Kind) -> tuple[Node, int]:
    """Read a condition over variables of one kind.

    Parameters
    ----------
    text : str
        In Python's notation, for example ``"a <= b + c"`` or ``"a == (b and c)"``; any names, of
        which the first to appear stands for the first variable of a tuple. ``^`` is exclusive or.
    kind : {"numeric", "boolean"}
        What the variables are.

    Returns
    -------
    node : Node
        The tree, of type truth.
    arity : int
        How many variables it has, 1 to 3.

    Raises
    ------
    InvalidArgumentError
        If it is no such condition.
    """
    parser = _Parser(text, kind)
    if len(text) > LONGEST_TEXT:
        raise InvalidArgumentError(
            f"a template of {len(text)} characters is too long; use at most {LONGEST_TEXT}."
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        node = parser.read(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise parser.refuse(f"it is not an expression ({error})") from error
    if node.type != TRUTH:
        raise parser.refuse("it gives a number, not whether something holds")
    if not parser.names:
        raise parser.refuse("it has no variable")
    return node, len(parser.names)
