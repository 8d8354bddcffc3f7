"""The rules that complete what passes from level to level: queues, look-ups and their filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clgraph.engine.legal import EXACT, FILTERS
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import DeviceTraits
    from clgraph.engine.config import TraversalConfig

__all__ = ["Form", "form_of"]

# Room for the duplicates that filters overlook, in percent of what exact claims need.
INEXACT_PERCENT = 130


@dataclass(frozen=True, slots=True)
class Form:
    """The frontier's form: part of every `clgraph.engine.choose.Resolved`."""

    queue: str
    visited: str
    direction: str
    entry: str
    update: str
    register_queue: int
    scan: str
    induced: int
    induced_by: str
    rows: str
    duplicates: str
    hash_rounds: int
    hash_size: int
    history: int
    queue_percent: int
    hybrid_limit: int
    generation: str
    status_bits: int
    classes: int
    class_edges: tuple[int, ...]
    class_batch: int
    switching: str
    gamma: int
    beta: int
    hub_cache: int
    hub_floor: int
    rules: str

    @property
    def exact(self) -> bool:
        """Whether a vertex enters a queue at most once."""
        return self.visited in EXACT or self.queue == "status"


def form_of(
    config: TraversalConfig, traits: DeviceTraits, group_size: int, *, m: int, predecessors: bool
) -> Form:
    """Complete the dimensions of a frontier's form.

    Raises
    ------
    InvalidArgumentError
        If the graph is too large for the form.
    """
    queue = config.queue or "vertex"
    if queue not in {"vertex", "status"} and m >= 2**32 - 64:
        raise InvalidArgumentError(
            f"queue={queue!r} numbers candidates with 32 bits, but the graph has {m} edges; choose "
            "queue='vertex'."
        )
    alone = group_size == 1
    filtered = config.duplicates in FILTERS or bool(config.history)
    visited = config.visited
    if visited is None:
        visited = (
            "plain"
            if queue == "status"
            else "mask"
            if config.history or (filtered and queue == "vertex")
            else "labels"
            if alone
            else "bitmap"
        )
    may_pull = queue == "status" or (
        queue == "vertex" and visited in EXACT and (alone or visited == "bitmap")
    )
    duplicates = config.duplicates or "keep"
    return Form(
        queue=queue,
        visited=visited,
        direction=config.direction or ("switching" if may_pull else "push"),
        entry="vertex"
        if alone or queue == "status" or (queue == "vertex" and duplicates.startswith("load"))
        else "full"
        if predecessors or m >= 2**32
        else "row",
        update=config.update or "buffer",
        register_queue=config.register_queue or 4,
        scan=config.scan or "shuffle",
        induced=config.induced or 0,
        induced_by=config.induced_by or "length",
        rows=config.rows or "csr",
        duplicates=duplicates,
        hash_rounds=config.hash_rounds or (2 if duplicates.endswith("group") else 1),
        hash_size=config.hash_size or (1024 if duplicates.endswith("group") else 128),
        history=config.history or 0,
        queue_percent=config.queue_percent or (100 if visited in EXACT else INEXACT_PERCENT),
        hybrid_limit=traits.compute_units * max(traits.threads_per_unit, group_size)
        if config.hybrid_limit is None
        else config.hybrid_limit,
        generation=config.generation or "recount",
        status_bits=config.status_bits or 32,
        classes=config.classes or (1 if config.generation == "none" else 4),
        class_edges=(32, 256, 1 << 16),
        class_batch=64 if alone else 1,
        switching=config.switching or ("hubs" if queue == "status" else "edges"),
        gamma=30 if config.gamma is None else config.gamma,
        beta=config.beta or 0,
        # A processor's local memory is no faster than the rest.
        hub_cache=(0 if traits.is_cpu else 1024) if config.hub_cache is None else config.hub_cache,
        hub_floor=-1 if config.hub_floor is None else config.hub_floor,
        rules=config.rules or "auto",
    )
