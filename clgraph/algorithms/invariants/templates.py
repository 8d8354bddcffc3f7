"""Invariant templates, the two published sets, and how kernels check several of them at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.algorithms.invariants.expressions import BOOLEAN, NUMERIC, Kind, Node, parse
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FORMAL_NAMES", "SET_I", "SET_II", "Family", "Template", "families_of", "templates_of"]

FORMAL_NAMES = ("v1", "v2", "v3")
MOST_ATOMS = 32  # one bit each of an entry's word
MOST_TEMPLATES = 256
# A comparison in terms of three that all six share; a NaN fails all but "ne".
SHARED = {"lt": ("le", "ne"), "gt": ("ge", "ne"), "eq": ("le", "ge"),
          "le": ("le",), "ge": ("ge",), "ne": ("ne",)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Template:
    """A condition on one, two or three variables of one kind.

    Attributes
    ----------
    kind : {"numeric", "boolean"}
        Which variables it is tried on.
    node : Node
        The condition.
    arity : int
        How many variables it has.
    """

    kind: Kind
    node: Node
    arity: int

    @classmethod
    def of(cls, text: str, kind: Kind) -> Template:
        """Parse a condition over variables of one kind; see `expressions.parse`."""
        node, arity = parse(text, kind)
        return cls(kind, node, arity)

    def __str__(self) -> str:
        """Write it with formal variables."""
        return self.node.text(FORMAL_NAMES)

    def swapped(self, i: int, j: int) -> Template:
        """Exchange two of its variables."""
        places = list(range(self.arity))
        places[i], places[j] = j, i
        return Template(self.kind, self.node.renamed(places).canonical(), self.arity)

    def canonical(self) -> Template:
        """Give the one of all templates with this meaning that `swapped` gives too."""
        return Template(self.kind, self.node.canonical(), self.arity)


def _set(numeric: Iterable[str], boolean: Iterable[str]) -> tuple[Template, ...]:
    return tuple(
        Template.of(text, kind)
        for kind, texts in ((NUMERIC, numeric), (BOOLEAN, boolean))
        for text in texts
    )


_CONSTANT = ("v1 == True", "v1 == False")
SET_I = _set([f"v1 {sign} v2" for sign in ("==", "!=", "<", ">", "<=", ">=")], _CONSTANT)
SET_II = _set(
    (
        *("v1 == 7", "v1 != 0", "v1 < 10", "v1 <= 10"),
        *("v1 == v2", "v1 <= v2", "v1 < sqrt(v2)", "v1 == log(v2)", "v1 < v2 + 1", "v1 == v2 * 2"),
        *("v1 == v2 ** v3", "v1 == min(v2, v3)", "v1 == max(v2, v3)", "v1 < v2 * v3"),
        "v1 <= v2 + v3",
    ),
    (
        *_CONSTANT,
        *("v1 == v2", "v1 != v2"),
        *("v1 == (v2 and v3)", "v1 == (v2 or v3)", "v1 == (v2 ^ v3)"),
    ),
)
SETS = {"I": SET_I, "II": SET_II}


def templates_of(given: str | Sequence[str | Template], arity: int) -> tuple[Template, ...]:
    """Give the templates that a caller names or writes.

    Parameters
    ----------
    given : {"I", "II"} or sequence of str or Template
        A published set, or conditions; text that makes sense for both kinds of variables, such as
        ``"a == b"``, stands for a template of each.
    arity : int
        Templates of more variables are left out.

    Raises
    ------
    InvalidArgumentError
        If there is no such set, a condition is none, or nothing is left.
    """
    arity = whole("arity", arity, most=3)
    if isinstance(given, str):
        if given not in SETS:
            raise InvalidArgumentError(
                f"there is no template set {given!r}; use 'I', 'II', or a list of conditions such "
                'as ["a <= b + c"].'
            )
        found = list(SETS[given])
    else:
        found = []
        if not isinstance(given, Iterable):
            raise InvalidArgumentError(
                f"templates={shown(given)} is neither 'I' nor 'II' nor a list of conditions."
            )
        for item in given:
            found.extend([item] if isinstance(item, Template) else _both_kinds(item))
    found = [template for template in dict.fromkeys(found) if template.arity <= arity]
    if not found:
        raise InvalidArgumentError(f"there is no template of at most {arity} variables to try.")
    if len(found) > MOST_TEMPLATES:
        raise InvalidArgumentError(
            f"{len(found)} templates are too many at once; use at most {MOST_TEMPLATES}."
        )
    return tuple(found)


def _both_kinds(text: object) -> list[Template]:
    if not isinstance(text, str):
        raise InvalidArgumentError(f"a template is a string such as 'a <= b'; got {text!r}.")
    found, problem = [], None
    kinds: tuple[Kind, Kind] = (NUMERIC, BOOLEAN)
    for kind in kinds:
        try:
            found.append(Template.of(text, kind))
        except InvalidArgumentError as error:
            problem = problem or error
    if not found and problem is not None:
        raise problem
    return found


@dataclass(frozen=True, slots=True)
class Family:
    """Templates that are tried on the same tuples, by one kernel.

    Attributes
    ----------
    kind : {"numeric", "boolean"}
        Of their variables.
    arity : int
        Of all of them.
    symmetry : tuple of (int, int)
        Pairs of places whose exchange changes nothing: one order of them is enough.
    templates : tuple of Template
        In the order they were given.
    atoms : tuple of Node
        What the kernel watches: conditions of which each is found to fail somewhere or nowhere.
    masks : tuple of int
        For each template the atoms that must never fail, as bits.
    """

    kind: Kind
    arity: int
    symmetry: tuple[tuple[int, int], ...]
    templates: tuple[Template, ...]
    atoms: tuple[Node, ...]
    masks: tuple[int, ...]


def families_of(templates: Sequence[Template], tolerance: int = 0) -> tuple[Family, ...]:
    """Sort templates into families: numeric before Boolean, fewer variables first.

    Parameters
    ----------
    templates : sequence of Template
        Without repetition.
    tolerance : int
        Units in the last place within which numbers are equal; then equality is no matter of
        ``<=`` and ``>=``.
    """
    groups: dict[tuple[Kind, int, tuple[tuple[int, int], ...]], list[Template]] = {}
    kinds: tuple[Kind, Kind] = (NUMERIC, BOOLEAN)
    for kind, arity in itertools.product(kinds, (1, 2, 3)):
        chosen = [t for t in templates if t.kind == kind and t.arity == arity]
        known = {template.canonical() for template in chosen}
        for template in chosen:
            groups.setdefault((kind, arity, _symmetry(template, known)), []).append(template)
    found = []
    for (kind, arity, symmetry), members in groups.items():
        # So many templates at a time that their atoms surely have bits enough.
        for part in _parts(members):
            atoms, masks = _atoms(part, tolerance)
            found.append(Family(kind, arity, symmetry, tuple(part), atoms, masks))
    return tuple(found)


def _symmetry(template: Template, known: set[Template]) -> tuple[tuple[int, int], ...]:
    if template.arity == 1:
        return ()
    if template.arity == 2:
        # The other order of a pair says nothing new if each template's mirror image is there too.
        return ((0, 1),) if all(other.swapped(0, 1) in known for other in known) else ()
    same = template.canonical()
    return tuple(pair for pair in ((0, 1), (0, 2), (1, 2)) if template.swapped(*pair) == same)


def _parts(members: list[Template]) -> list[list[Template]]:
    parts: list[list[Template]] = [[]]
    bits = 0
    for template in members:
        wanted = 2 * len(_conjuncts(template.node))
        if wanted > MOST_ATOMS:
            raise InvalidArgumentError(
                f"template '{template}' joins too many conditions with 'and'; split it up."
            )
        if bits + wanted > MOST_ATOMS:
            parts.append([])
            bits = 0
        parts[-1].append(template)
        bits += wanted
    return parts


def _conjuncts(node: Node) -> list[Node]:
    if node.op == "and":
        return [part for arg in node.args for part in _conjuncts(arg)]
    return [node]


def _atoms(templates: list[Template], tolerance: int) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    parts = [_conjuncts(template.node) for template in templates]
    operators: dict[tuple[Node, ...], set[str]] = {}
    for node in itertools.chain.from_iterable(parts):
        if node.op in SHARED and not (tolerance and node.op in ("eq", "ne")):
            operators.setdefault(node.args, set()).add(node.op)
    atoms: dict[Node, int] = {}
    masks = []
    for template_parts in parts:
        mask = 0
        for node in template_parts:
            for atom in _shared(node, operators.get(node.args, set()), tolerance):
                mask |= 1 << atoms.setdefault(atom, len(atoms))
        masks.append(mask)
    return tuple(atoms), tuple(masks)


def _shared(node: Node, operators: set[str], tolerance: int) -> list[Node]:
    """Give the atoms of a condition: fewer where comparisons of the same operands share them."""
    if node.op not in operators:
        return [node]
    needed = {name for op in operators for name in SHARED[op]}
    if len(needed) >= len(operators) or (tolerance and "ne" in needed):
        return [node]
    return [Node(op, node.args, 0, node.type) for op in SHARED[node.op]]
