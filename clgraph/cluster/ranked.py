"""Results of several ranks: what each has, and the whole on the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.ranks.comm import Communicator, Program, Swap, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.parts.partition import Ownership
    from clgraph.cluster.parts.share import Share

__all__ = ["Ranked", "RankedStats", "gathered"]


@dataclass(frozen=True, slots=True)
class RankedStats:
    """Times and counts of one run.

    Attributes
    ----------
    kernel_ms : float
        From the first launch to the last look, by the host's clock.
    total_ms : float
        Host wall clock of ``run``.
    rounds : int
        How often ranks exchanged what they had.
    message_rounds : int
        Rounds of messages that this took: one for what went straight, several in a butterfly.
    sent_bytes : int
        Between ranks, by all together, for what was computed: not counts, nor trees, verification
        and what rank 0 gathers.
    devices : tuple of str
        Names of the devices of this process.
    """

    kernel_ms: float
    total_ms: float
    rounds: int
    message_rounds: int
    sent_bytes: int
    devices: tuple[str, ...]


class Ranked:
    """Arrays with an element for each vertex, as several ranks have them.

    Attributes
    ----------
    vertices : int64 array
        Those of this process.
    own : dict of str to array
        Their values, by name.
    whole : dict of str to array
        Of all vertices: on rank 0, if they were gathered; else empty.
    stats : RankedStats
        Times, counts, bytes.
    """

    def __init__(
        self,
        vertices: NDArray[np.int64],
        own: dict[str, NDArray[Any]],
        whole: dict[str, NDArray[Any]],
        stats: RankedStats,
        **facts: Any,
    ) -> None:
        self.vertices, self.own, self.whole, self.stats = vertices, own, whole, stats
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        """Report how many vertices this process has, and which arrays of them."""
        return f"Ranked(vertices={self.vertices.size}, arrays={list(self.own)})"

    def __getattr__(self, name: str) -> Any:
        """Give an array of all vertices, None where it is not here."""
        if name.startswith("_") or "own" not in self.__dict__:
            raise AttributeError(name)
        if name not in self.own and name not in ("predecessors",):
            raise AttributeError(f"this result has no {name}; it has {', '.join(self.own)}")
        return self.whole.get(name)

    @classmethod
    def of(
        cls,
        comm: Communicator,
        shares: Sequence[Share],
        arrays: Sequence[dict[str, NDArray[Any] | None]],
        stats: RankedStats,
        *,
        gather: bool,
        **facts: Any,
    ) -> Ranked:
        """Put together what ranks found.

        Parameters
        ----------
        comm : Communicator
            The ranks.
        shares, arrays
            Of each rank of this process; arrays are of its owned vertices.
        stats : RankedStats
            Of the run.
        gather : bool
            Whether rank 0 is to have all.
        **facts
            Other attributes.
        """
        here = [{name: array for name, array in own.items() if array is not None} for own in arrays]
        names = np.concatenate([share.owned.names for share in shares])
        order = np.argsort(names)
        own = {name: np.concatenate([part[name] for part in here])[order] for name in here[0]}
        whole: dict[str, NDArray[Any]] = {}
        if len(comm.ranks) == comm.size:
            whole = own
        elif gather:
            owners = shares[0].partition.shares
            program = gathered(owners, shares[0].rank, shares[0].facts.n, here[0])
            whole = run(comm, [program])[0]
        return cls(names[order], own, whole, stats, **facts)


def gathered(
    owners: Sequence[Ownership], rank: int, n: int, arrays: dict[str, NDArray[Any]], fill: int = 0
) -> Program:
    """Give rank 0 the arrays of all n vertices, of which each rank has those that it owns."""
    whole = {}
    for name, array in arrays.items():
        received = yield Swap([array if peer == 0 else array[:0] for peer in range(len(owners))])
        if rank == 0:
            found = np.full(n, fill, array.dtype)
            for owned, values in zip(owners, received, strict=True):
                found[owned.vertices] = values
            whole[name] = found
    return whole
