"""Graphs with hubs, short rows and weights, and what Louvain and Leiden find in them."""

import zlib
from functools import cache

import numpy as np

import clgraph as cg
from clgraph.algorithms.communities import moving
from clgraph.algorithms.communities.scale import Scale
from clgraph.engine.sweeps import SweepLog

SEED = 5
# Of the labels, by PoCL; by name what Louvain and what Leiden find.
CHECKSUMS = {
    "kron": (2909732068, 1085416274),
    "planted": (3019767159, 3019767159),
    "star": (1703041204, 1703041204),
    "whole": (3012936789, 1905955284),
    "real": (198733885, 4221292940),
    "road": (329025679, 2722611737),
    "loop": (494276218, 494276218),
}


def checksum(labels):
    return zlib.crc32(np.ascontiguousarray(labels, np.int32).tobytes())


def _planted(rng, groups, size, *, edges, across):
    """Draw ends of edges within groups of vertices, and of others anywhere."""
    group = rng.integers(0, groups, edges)
    inner = [group * size + rng.integers(0, size, edges) for _ in range(2)]
    return [np.concatenate([one, rng.integers(0, groups * size, across)]) for one in inner]


@cache
def small_graphs():
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 200, (2, 900))
    both = {"directed": False, "symmetrize": True}
    planted = _planted(rng, 8, 40, edges=2500, across=500)
    return {
        "kron": cg.generate.kron(8, 8, seed=1),
        "planted": cg.from_edges(*planted, n=320, dedup=True, **both),
        "star": cg.generate.star(700),  # a row longer than tables in local memory hold
        "whole": cg.from_edges(*ends, rng.integers(1, 9, 900), n=205, **both),  # loops, parallels
        "real": cg.from_edges(*ends, rng.random(900), n=205, **both),
        "edgeless": cg.from_edges([], [], n=3, directed=False),
        "loop": cg.from_edges([1], [1], n=3, directed=False),
        "pair": cg.from_edges([0], [1], **both),
        "nothing": cg.from_edges([], [], n=0, directed=False),
        "weightless": cg.from_edges([0, 1], [1, 2], [0, 0], n=3, **both),
    }


@cache
def on_pocl(kind, name):
    return getattr(cg, kind)(small_graphs()[name], seed=5, device="pocl")


@cache
def large_graphs():
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 3000, (2, 20_000))
    both = {"directed": False, "symmetrize": True}
    planted = _planted(rng, 60, 50, edges=40_000, across=8000)
    return {
        "kron": cg.generate.kron(15, seed=1),
        "planted": cg.from_edges(*planted, n=3000, **both),
        "star": cg.generate.star(200_000),
        "whole": cg.from_edges(*ends, rng.integers(1, 9, 20_000), n=3100, **both),
        "real": cg.from_edges(*ends, rng.random(20_000), n=3100, **both),
        "road": cg.generate.road(100, seed=2),
        "loop": cg.from_edges([1], [1], n=3, directed=False),
    }


def refined_parts(graph, device, resolution=1.0):
    """Parts of one community that is the whole graph."""
    plan = cg.Leiden(graph, device=device)
    levels, level, log = plan._levels, plan._first, SweepLog()
    level.labels.write(np.zeros(graph.n, np.uint32))
    plan._turns.order(log, level, 1)
    levels.start(log, level, given=True)
    scale = Scale.of(plan.total, resolution)
    parts = moving.refined(log, plan._turns, level, scale, report=lambda: None).read(graph.n)
    cuts = levels.sums("cuts", graph.n).read(graph.n)
    totals = levels.sums("part_totals", graph.n).read(graph.n)
    return parts, cuts, totals
