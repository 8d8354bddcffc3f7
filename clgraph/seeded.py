"""Random numbers of a seed, of whose making Ctrl-C leaves nothing."""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["seeded"]


def seeded(seed: int | Sequence[int] | None) -> np.random.Generator:
    """Give the random numbers of a seed, or of chance.

    NumPy ignores overflows while it mixes a seed, and where Ctrl-C comes before it has noted how
    that was, it would ignore those of the whole program from then on: so it has a context of its
    own, which is dropped.
    """
    return contextvars.copy_context().run(np.random.default_rng, seed)
