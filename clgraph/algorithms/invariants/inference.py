"""What follows about Boolean templates from facts about their variables, without a look at a trace.

A fact is exact: "constant" or "not", "equal", "opposite" or "neither". So the values that a tuple
takes are one of few sets, and a template that holds on all of them, or on none, needs no mining.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.invariants.expressions import BOOLEAN
from clgraph.algorithms.invariants.templates import Template

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ALWAYS", "EQUAL", "FALSE", "FREE", "MINE", "NEVER", "OPPOSITE", "TRUE", "UNKNOWN",
           "UNRELATED", "VARIES", "Facts", "decisions"]  # fmt: skip

# What is known of a variable, and of a pair of them.
FALSE, TRUE, VARIES, UNKNOWN = range(4)
EQUAL, OPPOSITE, UNRELATED, FREE = range(4)  # FREE: nothing known
# What follows for a template.
NEVER, ALWAYS, MINE = range(3)

IS_TRUE = Template.of("v1 == True", BOOLEAN).canonical()
IS_FALSE = Template.of("v1 == False", BOOLEAN).canonical()
ARE_EQUAL = Template.of("v1 == v2", BOOLEAN).canonical()
ARE_OPPOSITE = Template.of("v1 != v2", BOOLEAN).canonical()


@functools.cache
def _observations(arity: int) -> list[tuple[NDArray[np.bool_], tuple[int, ...], tuple[int, ...]]]:
    """Every set of values a tuple may take, with its constants and the relations of its pairs."""
    points = list(itertools.product((False, True), repeat=arity))
    found = []
    for chosen in range(1, 2 ** len(points)):
        seen = np.array([p for i, p in enumerate(points) if chosen >> i & 1], bool)
        constants = tuple(
            int(column[0]) if (column == column[0]).all() else VARIES for column in seen.T
        )
        relations = []
        for i, j in itertools.combinations(range(arity), 2):
            same = seen[:, i] == seen[:, j]
            relations.append(EQUAL if same.all() else UNRELATED if same.any() else OPPOSITE)
        found.append((seen, constants, tuple(relations)))
    return found


@functools.cache
def decisions(template: Template, constants: tuple[int, ...], relations: tuple[int, ...]) -> int:
    """Report what facts about its variables say of a template.

    Parameters
    ----------
    template : Template
        A Boolean one.
    constants : tuple of {FALSE, TRUE, VARIES, UNKNOWN}
        Of its variables.
    relations : tuple of {EQUAL, OPPOSITE, UNRELATED, FREE}
        Of the pairs (1, 2), (1, 3), (2, 3), as far as it has so many variables.

    Returns
    -------
    {NEVER, ALWAYS, MINE}
        MINE where the facts leave it open.
    """
    outcomes = set()
    for seen, own_constants, own_relations in _observations(template.arity):
        if _fits(constants, own_constants, UNKNOWN) and _fits(relations, own_relations, FREE):
            outcomes.add(bool(np.all(template.node.evaluate(list(seen.T)))))
    if len(outcomes) == 1:
        return ALWAYS if outcomes.pop() else NEVER
    return MINE


def _fits(known: tuple[int, ...], own: tuple[int, ...], unknown: int) -> bool:
    return all(k in (o, unknown) for k, o in zip(known, own, strict=True))


class Facts:
    """What is known of n Boolean variables.

    Attributes
    ----------
    constants : numpy.ndarray
        int8 [n] of FALSE, TRUE, VARIES, UNKNOWN.
    relations : numpy.ndarray
        int8 [n, n] of EQUAL, OPPOSITE, UNRELATED, FREE; symmetric.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.constants = np.full(n, UNKNOWN, np.int8)
        self.relations = np.full((n, n), FREE, np.int8)
        np.fill_diagonal(self.relations, EQUAL)

    def learn_constants(self, true: NDArray[np.uint32], false: NDArray[np.uint32]) -> None:
        """Take the variables found to be constant; all others vary."""
        self.constants[:] = VARIES
        self.constants[true] = TRUE
        self.constants[false] = FALSE
        fixed = self.constants != VARIES
        # A constant and a variable that varies are equal here and opposite there.
        self.relations[fixed[:, None] != fixed[None, :]] = UNRELATED
        both = fixed[:, None] & fixed[None, :]
        same = self.constants[:, None] == self.constants[None, :]
        self.relations[both & same] = EQUAL
        self.relations[both & ~same] = OPPOSITE

    def relate(self, a: int, b: int, relation: int) -> None:
        """Take what was found of a pair, and what follows for the classes of both.

        A class is the variables known to be equal or opposite to one; another class is related to
        all of them or to none.
        """
        ours, theirs = (np.flatnonzero(self.relations[x] <= OPPOSITE) for x in (a, b))
        if relation == UNRELATED:
            result = np.full((len(ours), len(theirs)), UNRELATED, np.int8)
        else:
            parity = self.relations[a, ours][:, None] ^ self.relations[b, theirs][None, :]
            result = (parity ^ relation).astype(np.int8)
        self.relations[np.ix_(ours, theirs)] = result
        self.relations[np.ix_(theirs, ours)] = result.T
        if relation != UNRELATED:
            # What one of the two is known not to be related to, the other is not either.
            for members, others in ((ours, theirs), (theirs, ours)):
                apart = np.flatnonzero((self.relations[others] == UNRELATED).any(axis=0))
                self.relations[np.ix_(members, apart)] = UNRELATED
                self.relations[np.ix_(apart, members)] = UNRELATED

    def decide(
        self, templates: tuple[Template, ...], tuples: NDArray[np.uint32]
    ) -> NDArray[np.int8]:
        """Report what follows for templates on tuples.

        Parameters
        ----------
        templates : tuple of Template
            Boolean, of one arity.
        tuples : numpy.ndarray
            uint32 [count, arity].

        Returns
        -------
        numpy.ndarray
            int8 [count, templates] of NEVER, ALWAYS, MINE.
        """
        arity = tuples.shape[1]
        pairs = list(itertools.combinations(range(arity), 2))
        digits = [self.constants[tuples[:, i]] for i in range(arity)]
        digits += [self.relations[tuples[:, i], tuples[:, j]] for i, j in pairs]
        codes = np.zeros(len(tuples), np.int64)
        for digit in digits:
            codes = codes * 4 + digit
        kinds, inverse = np.unique(codes, return_inverse=True)
        table = np.empty((len(kinds), len(templates)), np.int8)
        for row, code in zip(table, kinds.tolist(), strict=True):
            values = tuple(code >> 2 * (len(digits) - 1 - i) & 3 for i in range(len(digits)))
            row[:] = [decisions(t, values[:arity], values[arity:]) for t in templates]
        result: NDArray[np.int8] = table[inverse]
        return result
