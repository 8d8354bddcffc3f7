"""Random numbers of a seed, of whose making Ctrl-C leaves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clgraph.apart import apart

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["seeded"]


def seeded(seed: int | Sequence[int] | None) -> np.random.Generator:
    """Give the random numbers of a seed, or of chance; overflows are ignored while it is mixed."""
    return apart(np.random.default_rng, seed)
