"""How long a device needs at least for what a kernel did, resource by resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clgraph.profile.criteria import LINE_BYTES, SECTOR_BYTES
from clgraph.profile.passes.counters import Chain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.profile.characterise import Ceilings
    from clgraph.profile.passes.counters import Totals

__all__ = ["CHAIN", "PARTS", "THROUGHPUT", "Bounds", "Work", "bounds_of", "work_of"]

SOFTNESS = 4  # of the maximum over resources: those that are close to it overlap badly
AS_COALESCED = 2.0  # a request that moves no more than so many times its bytes streams
HIDING = 16  # SIMD groups of a unit that hide how long an instruction takes
BARRIER_OPERATIONS = 160.0  # lane instructions that take as long as a barrier nobody waits at

# What all SIMD groups share, and what one of them does after the other.
THROUGHPUT = ("stream", "random", "atomics", "contention", "integer", "local", "lines")
CHAIN = ("operations", "requests", "hits", "passes", "barriers")
PARTS = (*THROUGHPUT, *CHAIN, "waiting", "launch")


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel did, in terms of what devices are measured by.

    Attributes
    ----------
    streamed_bytes : float
        Sectors of requests that use most of what they move.
    random_sectors : float
        Sectors of all other loads and stores; neither has those that the nearest cache held.
    atomics : float
        Atomic operations of work-items.
    contended : float
        Of these the ones at the address that most went to: one comes after the other.
    operations : float
        Weight of executed blocks, of whole SIMD groups: an idle lane takes as long.
    local_bytes : float
        Passes over the banks of local memory.
    lines : float
        That loads and stores went through the nearest cache by.
    requests : float
        Of SIMD groups to global memory.
    waits : float
        How often a work-group waited for the others, of all work-groups.
    groups : int
        Work-groups of the largest launch.
    launches : int
        How often it was launched.
    footprint_bytes : int
        Of the arrays that it was given.
    chain : Chain
        What one SIMD group did after the other.
    """

    streamed_bytes: float
    random_sectors: float
    atomics: float
    operations: float
    local_bytes: float
    requests: float
    waits: float
    groups: int
    launches: int
    footprint_bytes: int
    chain: Chain = field(default_factory=Chain)
    contended: float = 0.0
    lines: float = 0.0

    @property
    def sectors(self) -> float:
        """Sectors that moved, atomics left out."""
        return self.streamed_bytes / SECTOR_BYTES + self.random_sectors


def work_of(totals: Totals, launches: int, footprint_bytes: int, groups: int = 1) -> Work:
    """Sum up the counters of a kernel."""
    streamed = scattered = atomics = requests = lines = 0.0
    missed = totals.counts[:, 4] if totals.missed is None else totals.missed
    for site, row, sectors in zip(totals.sites, totals.counts, missed, strict=True):
        if site.kind == "atomic":
            atomics += row[1]
        elif site.kind in {"load", "store"}:
            lines += row[3]
            moved = sectors * SECTOR_BYTES
            if moved <= AS_COALESCED * row[2]:
                streamed += moved
            else:
                scattered += sectors
        if site.kind in {"load", "store", "atomic"}:
            requests += row[0]
    blocks = [
        row[0] * site.weight
        for site, row in zip(totals.sites, totals.counts, strict=True)
        if site.kind == "block"
    ]
    local = totals.where("local_load", "local_store", "local_atomic")
    return Work(
        streamed_bytes=float(streamed),
        random_sectors=float(scattered),
        atomics=float(atomics),
        operations=float(sum(blocks)) * totals.lanes,
        local_bytes=float(local[:, 3].sum()) * LINE_BYTES,
        requests=float(requests),
        waits=float(totals.where("wait")[:, 0].sum()),
        groups=groups,
        launches=launches,
        footprint_bytes=footprint_bytes,
        chain=totals.chain,
        contended=totals.contended,
        lines=float(lines),
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds that each resource needs for the work of a kernel, by measured ceilings.

    Attributes
    ----------
    parts : dict of str to float
        Those of `THROUGHPUT`, of `CHAIN`, "waiting" for other work-groups and "launch".
    """

    parts: Mapping[str, float]

    @property
    def times(self) -> dict[str, float]:
        """Seconds of each resource; what a SIMD group does in a row is "latency"."""
        found = {name: time for name, time in self.parts.items() if name not in CHAIN}
        found["latency"] = sum(self.parts.get(name, 0.0) for name in CHAIN)
        return found

    @property
    def limiter(self) -> str:
        """The resource that needs most."""
        return max(self.times, key=lambda name: self.times[name])

    def priced(self, prices: Mapping[str, float]) -> Bounds:
        """Give the bounds at prices: how many seconds a second of each part is; 1 by default."""
        return Bounds({name: prices.get(name, 1.0) * t for name, t in self.parts.items()})

    def time_s(self) -> float:
        """Predict the time.

        Resources that all share overlap, as a soft maximum. What one SIMD group does in a row comes
        on top: searches go from stages with little for anybody to stages with work for all.
        """
        shared = (self.parts.get(name, 0.0) ** SOFTNESS for name in THROUGHPUT)
        rest = sum(self.parts.get(name, 0.0) for name in (*CHAIN, "waiting", "launch"))
        return float(rest + sum(shared) ** (1 / SOFTNESS))


def bounds_of(work: Work, ceilings: Ceilings) -> Bounds:
    """Say how long each resource needs at least."""
    in_cache = work.footprint_bytes <= ceilings.cache_bytes // 2
    stream = ceilings.cache if in_cache and ceilings.cache else ceilings.copy
    reads = ceilings.random_rate(work.footprint_bytes)
    atomics = ceilings.random_rate(work.footprint_bytes, atomic=True)
    known, chain = ceilings.latencies, work.chain
    latency = known.get("l2" if in_cache else "dram", known.get("l2", 0.0))
    near = known.get("l1", 0.0)
    alone = HIDING * ceilings.units / ceilings.integer
    return Bounds(
        {
            "stream": work.streamed_bytes / max(stream, ceilings.copy),
            "random": work.random_sectors / reads,
            "atomics": work.atomics / atomics,
            "contention": work.contended / ceilings.contended if ceilings.contended else 0.0,
            "integer": work.operations / ceilings.integer,
            "local": work.local_bytes / ceilings.local if ceilings.local else 0.0,
            # The nearest cache and local memory are one memory.
            "lines": work.lines * LINE_BYTES / ceilings.local if ceilings.local else 0.0,
            "operations": chain.operations * alone,
            "requests": chain.requests * latency,
            "hits": chain.hits * near,
            "passes": chain.passes * known.get("shared", 0.0),
            "barriers": chain.barriers * BARRIER_OPERATIONS * alone,
            "waiting": work.waits / max(work.groups, 1) * ceilings.barrier_s(work.groups),
            "launch": work.launches * ceilings.launch_s,
        }
    )
