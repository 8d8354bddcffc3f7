"""What ranks hold of a graph: parts of it, or all of it each; and what searches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.bfs.config import BFSConfig
from clgraph.cluster.bits import BitExchange
from clgraph.cluster.candidates import CandidateExchange
from clgraph.cluster.config import PartitionPlan, pays_in_bits
from clgraph.cluster.copies import CopyExchange, check_alike
from clgraph.cluster.mailboxes import MailboxExchange
from clgraph.cluster.parts.copies import Gathered
from clgraph.cluster.parts.numbering import numbering_of
from clgraph.cluster.parts.partition import PARTITIONS, Blocks, Copies, chosen, made
from clgraph.cluster.parts.share import deal, facts_of, whole_share
from clgraph.cluster.parts.slices import GraphSlices
from clgraph.cluster.ranks.comm import run
from clgraph.errors import DeviceMemoryError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph.cluster.parts.share import Facts, Share
    from clgraph.cluster.parts.slices import Slices
    from clgraph.cluster.ranks.comm import Communicator
    from clgraph.engine.resolved import Resolved

__all__ = ["Holding", "held", "shares_of"]


@dataclass(frozen=True, slots=True)
class Holding:
    """What the ranks of this process hold for a breadth-first search, and how they search it.

    Attributes
    ----------
    facts : Facts
        Of the graph.
    partition : Blocks
        Who has what.
    shares : sequence of Share
        What each has.
    configs : tuple of Resolved
        Every dimension as decided, for each.
    exchanges : sequence
        What searches on each.
    labels : object
        Names of the vertices, where this process has the graph and it has any.
    """

    facts: Facts
    partition: Blocks
    shares: Sequence[Share]
    configs: tuple[Resolved, ...]
    exchanges: Sequence[Any]
    labels: Any


def held(
    comm: Communicator,
    slices: Slices,
    wanted: BFSConfig,
    partition: str | None,
    *,
    predecessors: bool,
) -> Holding:
    """Have every rank hold the whole graph, if that is asked for or pays and fits, or else a part.

    Parameters
    ----------
    comm : Communicator
        Whose ranks.
    slices : Slices
        Of the graph.
    wanted : BFSConfig
        What was asked for.
    partition : str or None
        Which; None chooses.
    predecessors : bool
        Whether searches label a tree.

    Raises
    ------
    InvalidArgumentError
        If the configuration is not legal, or not for what it is asked for with.
    DeviceMemoryError
        If a part does not fit its device.
    """
    whole = _copies(comm, slices, wanted, partition, predecessors=predecessors)
    if whole is not None:
        return whole
    # A graph without vertices is in parts, whatever is asked for.
    asked = "block" if partition == Copies.name else partition
    return _parts(comm, slices, wanted, asked, predecessors=predecessors)


def shares_of(
    comm: Communicator,
    slices: Slices,
    partition: str | None,
    bits: Callable[[Facts], bool],
    *,
    back: bool,
) -> list[Share]:
    """Give the ranks of this process what they hold of a graph in parts.

    Parameters
    ----------
    comm : Communicator
        Whose ranks.
    slices : Slices
        Of the graph.
    partition : str or None
        Which; None chooses.
    bits : callable
        From the facts: whether ranks exchange bitmaps, for which only ranges will do.
    back : bool
        Whether in-edges of owned vertices are wanted too.
    """
    if isinstance(slices, GraphSlices):
        graph, facts = slices.graph, facts_of(slices.graph)
        asked = partition or chosen(facts.n, facts.m, comm.size, facts.max_degree, bits=bits(facts))
        if not PARTITIONS[asked].spreads:
            parts = made(asked, facts.n, comm.size, facts.top_vertices[:0])
            return [whole_share(graph, facts, parts, rank, back=back) for rank in comm.ranks]
        partition = asked
    dealt = [
        deal(slices, rank, comm.size, partition=partition, bits=bits, back=back)
        for rank in comm.ranks
    ]
    return run(comm, dealt)


def _copies(
    comm: Communicator,
    slices: Slices,
    wanted: BFSConfig,
    partition: str | None,
    *,
    predecessors: bool,
) -> Holding | None:
    """Have every device hold the whole graph, if that is asked for, or pays and fits."""
    with comm.agreeing():
        asked = partition == Copies.name
        meet = comm.meets and isinstance(slices, GraphSlices)
        if asked and not meet:
            raise InvalidArgumentError(
                "partition='copies' is for a graph that this process holds, and two to eight "
                "devices that meet in mailboxes; choose 'block'."
            )
        if not isinstance(slices, GraphSlices) or not slices.graph.n:
            return None
        graph, facts = slices.graph, facts_of(slices.graph)
        chosen_here = meet and partition is None and wanted == BFSConfig()
        if not asked and not (chosen_here and pays_in_bits(facts)):
            return None
        parts: Blocks = Copies(facts.n, comm.size)
        shares = [whole_share(graph, facts, parts, rank, back=True) for rank in comm.ranks]
        numbering = numbering_of(graph, comm.size)
        found = Gathered(graph.n, numbering)
        try:
            exchanges = [
                CopyExchange(
                    *(graph, numbering, found, share, device, wanted), predecessors=predecessors
                )
                for share, device in zip(shares, comm.devices, strict=True)
            ]
            check_alike(exchanges)
        except (DeviceMemoryError, InvalidArgumentError):
            if asked:
                raise
            return None
    configs = tuple(exchange.part.config for exchange in exchanges)
    return Holding(facts, parts, shares, configs, exchanges, graph.labels)


def _parts(
    comm: Communicator,
    slices: Slices,
    wanted: BFSConfig,
    partition: str | None,
    *,
    predecessors: bool,
) -> Holding:
    """Have every device hold a part of the graph."""

    def bits(facts: Facts) -> bool:
        return _partition_plan(facts, wanted, partition).exchange == "bits"

    shares = shares_of(comm, slices, partition, bits, back=True)
    with comm.agreeing():
        facts, graph = shares[0].facts, slices.graph if isinstance(slices, GraphSlices) else None
        partition_plan = _partition_plan(facts, wanted, partition)
        samples = [share.sample if graph is None else graph for share in shares]
        configs = tuple(
            partition_plan.resolved(sample, facts, device, predecessors=predecessors)
            for sample, device in zip(samples, comm.devices, strict=True)
        )
        kind: type[BitExchange | CandidateExchange] = CandidateExchange
        if partition_plan.exchange == "candidates" and comm.asked_to_meet:
            raise InvalidArgumentError(
                "transfers='mailboxes' is for bits, and this search has its devices exchange "
                "candidates; choose partition='block' or frontier='status', or leave it out."
            )
        if partition_plan.exchange == "bits":
            kind = MailboxExchange if comm.meets else BitExchange
        exchanges = [
            kind(
                *(share, partition_plan, device, config),
                comm=comm,
                predecessors=predecessors,
            )
            for share, device, config in zip(shares, comm.devices, configs, strict=True)
        ]
    labels = None if graph is None else graph.labels
    return Holding(facts, shares[0].partition, shares, configs, exchanges, labels)


def _partition_plan(facts: Facts, wanted: BFSConfig, partition: str | None) -> PartitionPlan:
    partition_plan = PartitionPlan.of(facts, wanted)
    if partition is None or (partition_plan.exchange == "bits") == (partition == "block"):
        return partition_plan
    return partition_plan.exchanging("bits" if partition == "block" else "candidates")
