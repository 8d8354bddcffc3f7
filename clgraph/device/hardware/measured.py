"""What rules go by that was measured on one device: numbers by device, and where they are from.

A rule asks a constant of this table for its value ``on`` the traits of a device. Devices that are
not in `DEVICES` get the neutral value, which favours nothing that pays on some cards only: the
published form, or what any device does well enough with. What depends on device facts alone is
computed from the traits instead, and constants of graphs or of a mechanism stand beside their code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from clgraph.device.hardware.traits import DeviceTraits

__all__ = ["DEVICES", "TABLE", "Constant", "device_of"]

# Devices with values of their own, and what these were measured on.
DEVICES = {
    "h200": "NVIDIA H200 (compute capability 9.0), driver 580",
    "cpu": "two cores of a shared machine, PoCL 3.0 and Intel's CPU runtime",
}

T = TypeVar("T")


def device_of(traits: DeviceTraits) -> str | None:
    """Name the entry of `DEVICES` that a device belongs to; None where it has none."""
    if traits.is_cpu:
        return "cpu"
    return "h200" if traits.compute_capability == (9, 0) else None


@dataclass(frozen=True, slots=True)
class Constant(Generic[T]):
    """A number, or a few, of a rule.

    Attributes
    ----------
    means : str
        What it is, with its unit.
    record : str
        Commits or files of ``bench/results`` that its values are from.
    neutral : T
        For devices of which nothing was measured.
    h200, cpu : T, optional
        For those of `DEVICES`; the neutral one where it is left out.
    """

    means: str
    record: str
    neutral: T
    h200: T | None = None
    cpu: T | None = None

    def on(self, traits: DeviceTraits) -> T:
        """Give the value for a device."""
        known = {"h200": self.h200, "cpu": self.cpu}.get(device_of(traits) or "")
        return self.neutral if known is None else known


# How long a launch and a stage are, in edges looked at.
LAUNCH_EDGES = Constant(
    "edges of a launch before it pauses: at most about a second's",
    "88b3f3d",
    neutral=1_000_000_000,  # a second of a card with a tenth of the bandwidth
    h200=20_000_000_000,
    cpu=200_000_000,
)
STAGE_EDGES = Constant(
    "edges that a stage of a search costs in itself, as launches count",
    "88b3f3d: 5 us at 12 G edges/s",
    neutral=20_000,
    h200=60_000,
    cpu=200,
)
ROUND_EDGES = Constant(
    "edges that a round of components or peeling costs in itself",
    "831ea4e: 5 us at 12 G edges/s; two cores 3 us idle, 50 us shared, at 200 M edges/s",
    neutral=20_000,
    h200=60_000,
    cpu=10_000,
)
SCAN_BUDGET = Constant(
    "times that the rounds of components may look at all of a graph",
    "f00b3e3",
    neutral=4096,
    cpu=256,
)

# Searches by hops.
LOCAL_SEARCH_DEGREE = Constant(
    "mean out-degree up to which, or from hubs on, owners of edges are found in local memory",
    "e6b9ad8: 0.94 to 0.95 of the time on road, grid2d, mesh, 0.96 to 0.97 on kron; 1.04 on unif22",
    neutral=0.0,  # never: registers are faster where nothing else is known
    h200=8.0,
)
HUB_EDGES = Constant(
    "edges a lane from which on a vertex is a hub, where they have many and none 64: 0.87 of the"
    " time on rmat21, of degrees up to 1,366",
    "ad8541b; probes/h200-20261128-levels.txt",
    neutral=64,  # which no vertex has then
    h200=16,
)
EDGES_TOGETHER = Constant(
    "edges that a lane looks at together; four spilled 200 bytes",
    "e6b9ad8",
    neutral=1,
    h200=2,
    cpu=2,
)
SINGLE_GROUP_EDGES = Constant(
    "edges of a frontier that one group keeps to itself",
    "6078332",
    neutral=1 << 11,  # two for a work-item of the largest groups
)
GROUP_RESIDENT_EDGES = Constant(
    "the same where groups keep the frontiers that they find",
    "d2eb476: meetings of groups in 2.4 us",
    neutral=1 << 11,
    h200=1 << 9,
)

RESIDENT_OVERFULL = Constant(
    "vertices of a group that keeps its frontier after which all share anew: 32 and 256 are slower",
    "d2eb476: 2.36 us a level of a grid, 2.84 without a limit",
    neutral=128,
)
RESIDENT_UNEVEN = Constant(
    "times the mean of all groups after which they do; twice and three times are as fast",
    "d2eb476",
    neutral=3,
)

# Searches by weights.
NEAR_HOPS = Constant(
    "edges per vertex that a rise of near-far's bound takes in; 12 to 32 were best on kron20",
    "771aa1d",
    neutral=32.0,  # as published: a SIMD group's
)
DRIFT_HOPS = Constant(
    "hops that SIMD groups go on by themselves; 0 for none",
    "771aa1d: 9.7 ms after 16 on a road network, 9.8 after 8, 11.8 after 40",
    neutral=0,
    h200=16,
)
DRIFTING_HOPS = Constant(
    "edges per vertex of a bound's rise where groups drift; 48 to 96 were best on mesh and road",
    "771aa1d",
    neutral=32.0,
    h200=64.0,
)
PULL_COSTS = Constant(
    "unvisited vertices looked at, and in-neighbours tried, for the price of one edge pushed",
    "83a8f4f: two thirds of the slowest levels of kron20 and kron22",
    neutral=(0, 4),  # no such rule
    h200=(1, 6),
)
LIKELY_PARENTS = Constant(
    "likely parents of a vertex that are tried before its row, where there are hubs and elsewhere",
    "db08f93: one 0.80 of kron22 and four 0.90, one 0.95 of unif22 and four 0.85",
    neutral=(0, 0),
    h200=(1, 4),
)
BANDS_PAY = Constant(
    "whether delta-stepping in bands is for graphs of many edges a vertex or hubs",
    "f005072, 771aa1d: 0.50 ms on kron20, near-far 1.69",
    neutral=False,
    h200=True,
)
BAND_HOPS = Constant(
    "edges per vertex in a band: 6 took 0.50 ms on kron20, 8 0.54, 12 0.60",
    "f005072",
    neutral=6.0,
)
BAND_CACHE = Constant(
    "how bands read edges: 0.95 of the time on kron20, rmat21, unif22, 0.97 on kron22",
    "2d319f6; probes/h200-20261128-sssp-bands.txt",
    neutral="default",
    h200="streaming",
)
BUCKET_DEGREE = Constant(
    "mean out-degree up to which searches are asynchronous, by buckets",
    "3ea4cd2: road 7.5 to 8.5 ms, near-far 10.2; kron20 10.7, near-far 2.2",
    neutral=0.0,  # never: it is worth its while where many groups go on at once
    h200=16.0,
)
BUCKET_HOPS = Constant(
    "edges per vertex as long as a bucket is wide: 10 took 8.5 ms on a road network, 5 12.6",
    "3ea4cd2",
    neutral=8.0,
    h200=10.0,
)
CORE_HOPS = Constant(
    "edges per vertex of a bound's rise for one work-item alone; 4 were best on rgg and kron",
    "771aa1d",
    neutral=4.0,
)
SPARSE_CORE_HOPS = Constant(
    "the same on graphs of few edges, roads and grids: 8 to 16",
    "771aa1d",
    neutral=8.0,
)

BUCKET_REACH = Constant(
    "buckets that searches reach beyond their own: 4 and 8 were as good, 2 took 8 to 18 % longer",
    "3ea4cd2",
    neutral=4,
)
CORE_SINGLE_GROUP_EDGES = Constant(
    "edges that are not worth the help of other cores, and more for each: 64 to 512 did best",
    "6c10cc0: with 1,024 roads and grids took a fifth to a third longer",
    neutral=(400, 16),
)

# Many searches at once: rounds of a SIMD group, fitted to 1,024 searches of eleven graphs.
ROW_ROUNDS = Constant(
    "rounds that a vertex costs in one queue of short rows, and in two queues",
    "h200-20261121-searches-thresholds.json",
    neutral=(1.0, 1.0),
    h200=(0.25, 0.65),
)
SCATTER = Constant(
    "rounds in which each lane reads from a row of its own, over others",
    "h200-20261121-searches-thresholds.json",
    neutral=1.0,
    h200=1.1,
)
EVEN_SHARE = Constant(
    "lanes that are busy with a row each, from which on rows need no search for owners",
    "h200-20261121-searches.json: 0.65, 0.91, 1.15 times as long at degrees 8, 26, 48",
    neutral=0.9,
)

# On one lane a level of a pass of MS-BFS: 22 ms against 1.6 of a search of a road network, 2^16.
LEVEL_SEARCHES = Constant(
    "searches by hops that a level of a pass of all of them costs, on one lane",
    "c51f9e5",
    neutral=10,
)
SHARED_SIZE = Constant(
    "vertices and edges up to which, on one lane, a level costs by its row's words: of 15,000"
    " vertices 1.5 to 2.4 searches at one word, 11 to 15 at 16",
    "2baf407",
    neutral=500_000,
)
SINGLE_SIZE = Constant(
    "vertices and edges from which on, on one lane, single searches are faster than a group's",
    "c51f9e5",
    neutral=150_000,
)
WEIGHTED_SINGLE_SIZE = Constant(
    "the same of searches by weight",
    "4b93a1b: a group's and single ones take 0.79 and 1.95 ms at 75,000, 1.85 and 2.38 at 345,000,"
    " 8.5 and 6.8 at 916,000",
    neutral=0,
    cpu=350_000,
)

# Components.
SIGNATURE_ROUNDS = Constant(
    "rounds before vertices are contracted: 8, 12, 16, 32 took 17.0, 16.7, 16.9, 18.2 ms on plaw20",
    "831ea4e",
    neutral=12,
)
TRIM_ENTRY = Constant(
    "edges are trimmed if degrees alone took out one in so many: 0.74 ms instead of 1.6 with 40 %",
    "d555b69",
    neutral=4,
)
TRIM_WORTH = Constant(
    "and then while a round takes out one in so many: 1.8 ms instead of 1.5 on a web with 20 %",
    "d555b69",
    neutral=8,
)
ONE_BAND_DEGREE = Constant(
    "mean degree up to which forests take less time by one band of weights than by two",
    "761870d; probes/h100-20261127-ranking.txt",
    neutral=8,
    h200=16,
)

# Peeling.
ONE_GROUP_EDGES = Constant(
    "elements of a round that one group does by itself; from 16384 on up to 1.9 times as long",
    "h200-20261122-truss.json, e518b6b",
    neutral=4096,
)
CORES_GROUP = Constant(
    "work-items of the one group of a unit that peels cores, and where it drifts; 0: many groups",
    "h200-20261122-truss.json: 0.71 to 0.84 of the time; a2adb3d: 0.81 and 0.88 where they drift",
    neutral=(0, 0),
    h200=(512, 1024),
)
TIGHTENED = Constant(
    "whether bounds of truss numbers are tightened before a k is guessed",
    "2baf407: a guess that has no truss takes 0.4 ms on an H100; on two cores less than tightening",
    neutral=False,
    h200=True,
)
PEELING_DRIFT = Constant(
    "rounds that SIMD groups go on by themselves, and up to how many items in a round",
    "fa42e0e and a patch: half of the time on a mesh; 047fe7b: 256 slow its cores 2.3-fold",
    neutral=(0, 1 << 15),
    h200=(64, 1 << 20),
)
DRIFT_DEGREE = Constant(
    "largest degree of graphs whose trusses and whose cores drift: longer rows hold up their group",
    "fa42e0e and a patch: cores pay at 8, 32 and 238, not at 1,383; trusses at 8, not at 32",
    neutral=(0, 0),
    h200=(16, 256),
)
BISECTED_TRIANGLES = Constant(
    "triangles from which on bisection finds the greatest truss in less time than all levels",
    "h200-20261122-truss.json, 43f42e2: 0.97 of it with 424 million, 1.1 to 1.3 with fewer",
    neutral=100_000_000,
)

# Communities: rows that groups take wait less in small ones, and small tables leave more to caches.
COMMUNITY_GROUP = Constant(
    "work-items of a group on GPUs, and slots of its tables: 61 ms; 69 with 256 and 2,048",
    "b4f14d6",
    neutral=(128, 1024),
)

# Items of many sizes.
EVEN_SIZES = Constant(
    "deviation up to which, and mean from which on, sizes are shared out in registers",
    "h200-20261121-expansion.json",
    neutral=(0.0, float("inf")),  # never: in phases is within a twentieth of it
    h200=(32.0, 4.0),
)
LANES_CUT = Constant(
    "whether the lanes of a SIMD group look for the first item of a chunk: 9 us instead of 16",
    "h200-20261121-expansion.json, 30b3692",
    neutral=False,
    h200=True,
    cpu=True,
)

SORTS_SERVED = Constant(
    "registers of a work-item in sorts of keys alone, by bytes of a key, that are ranked as local"
    " memory serves lanes; where there are none, lanes are matched",
    "7b3a5ef; probes/h200-20261128-sorts.txt",
    neutral={},
    h200={4: 64},  # keys of 8 bytes take 0.98 of the time so
)
SORT_SHAPES = Constant(
    "work-items of a group, keys of each in a tile of a sort, and tiles read back at a time, by"
    " bytes of keys and values",
    "14477af, 9ada90f, 7b3a5ef: probes/h200-20261128-sorts.txt; 4 and 8 as 8 and 4",
    neutral={
        (4, 0): (256, 40, 8),
        (4, 4): (384, 23, 8),
        (4, 8): (384, 14, 8),
        (8, 0): (256, 22, 8),
        (8, 4): (256, 22, 8),
        (8, 8): (384, 14, 8),
    },
    h200={
        (4, 0): (512, 22, 8),
        (4, 4): (384, 23, 5),
        (4, 8): (384, 14, 4),
        (8, 0): (256, 22, 4),
        (8, 4): (256, 22, 4),
        (8, 8): (384, 14, 4),
    },
)

SWEEP_SHAPES = Constant(
    "work-items of a group, elements of each in a tile, tiles fetched ahead: of scans and"
    " compactions at once, by kernel and bytes",
    "9d772f3, 94923b6: probes/h200-20261128-scans.txt, h200-20261129-keys.txt",
    neutral={
        ("scan_sweep", 4): (256, 32, 0),
        ("scan_sweep", 8): (256, 16, 0),
        ("segmented_sweep", 4): (384, 16, 0),
        ("compact_sweep", 4): (256, 16, 0),
        ("compact_sweep", 8): (512, 8, 0),
    },
    h200={
        ("scan_sweep", 4): (256, 32, 256),
        ("scan_sweep", 8): (256, 16, 0),
        ("segmented_sweep", 4): (384, 16, 256),
        ("compact_sweep", 4): (256, 16, 256),
        ("compact_sweep", 8): (512, 8, 0),
    },
)
COMPACTED_AT_ONCE = Constant(
    "elements below which compaction is one launch, of four bytes and of more; emulated lanes take"
    " half as long again so",
    "94923b6 and a patch: probes/h200-20261129-keys.txt",
    neutral=(0, 0),
    h200=(1 << 26, 1 << 25),
)
MERGE_SHAPES = Constant(
    "work-items of a group and elements of each in a tile of a merge, by bytes of keys and values",
    "b0149a4, 9d772f3, 94923b6: probes/h200-20261128-scans.txt, h200-20261129-keys.txt",
    neutral={
        (4, 0): (128, 23),
        (4, 4): (128, 15),
        (4, 8): (128, 11),
        (8, 0): (128, 11),
        (8, 4): (128, 23),
        (8, 8): (128, 19),
    },
    h200={
        (4, 0): (128, 23),
        (4, 4): (128, 15),
        (4, 8): (128, 11),
        (8, 0): (256, 11),
        (8, 4): (128, 23),
        (8, 8): (128, 19),
    },
)

# Traces.
SPLIT_TRACES = Constant(
    "whether groups look at parts of a trace, which a large cache keeps, and not at tiles of rows",
    "35c8348: 2.4 ms for 595 pairs of 5 M instants, tiles 7 to 12",
    neutral=True,  # tiles are for caches of cores
    cpu=False,
)

# Graphs that change, in microseconds: a batch in place, and for each of its arcs; by rows, and for
# each; all rows anew, and for each arc of the graph.
UPDATE_COSTS = Constant(
    "what the three ways to apply a batch cost",
    "h200-20261123-dynamic.json, 84d406a",
    neutral=(60.0, 0.005, 3500.0, 0.5, 1000.0, 0.0001),  # a tenth of the bandwidth
    h200=(60.0, 0.0005, 3500.0, 0.5, 1000.0, 0.00001),
    cpu=(300.0, 0.3, 2000.0, 0.6, 2000.0, 0.02),
)

JOINED_COMPONENTS_ANEW = Constant(
    "whether components are found anew after a batch that joins some, not joined in host memory",
    "h200-20261123-dynamic-costs.json, 84d406a: 3.5 ms, and 10 to 12 ms joined",
    neutral=True,
    cpu=False,
)

TABLE: dict[str, Constant[Any]] = {
    name: value for name, value in list(globals().items()) if isinstance(value, Constant)
}
