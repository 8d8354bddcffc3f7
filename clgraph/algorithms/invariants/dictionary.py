"""Dictionaries: the tuples of variables that templates are tried on."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.algorithms.invariants.templates import Family

__all__ = ["batches", "size"]

BATCH = 1 << 20  # tuples made at a time


def size(n: int, family: Family) -> int:
    """How many tuples of n variables a family is tried on."""
    orders = {0: 1, 1: 2, 3: 6}[len(family.symmetry)]
    return math.perm(n, family.arity) // orders


def batches(n: int, family: Family) -> Iterator[NDArray[np.uint32]]:
    """Make the tuples of n variables that a family is tried on.

    Parameters
    ----------
    n : int
        Variables of the family's kind.
    family : Family
        Its symmetry says which orders of the same variables are different.

    Yields
    ------
    numpy.ndarray
        uint32 [up to about a million, arity], all variables of a tuple different.
    """
    rest = n ** (family.arity - 1)
    step = max(BATCH // max(rest, 1), 1)
    for begin in range(0, n, step):
        first = np.arange(begin, min(begin + step, n))
        others = [np.arange(n)] * (family.arity - 1)
        grid = np.stack(np.meshgrid(first, *others, indexing="ij"), axis=-1)
        tuples = grid.reshape(-1, family.arity).astype(np.uint32)
        keep = np.ones(len(tuples), bool)
        for i, j in itertools.combinations(range(family.arity), 2):
            ordered = (i, j) in family.symmetry
            a, b = tuples[:, i], tuples[:, j]
            keep &= (a < b) if ordered else (a != b)
        if keep.any():
            yield tuples[keep]
