"""Variants of the kernels for triangles, tried side by side on one device; for one day."""

from __future__ import annotations

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import clgraph
from clgraph import Triangles, TrianglesConfig
from clgraph.algorithms.triangles.config import Bitmap, Merge
from clgraph.algorithms.triangles.owners import OwnerCounting

from .triangles import makers

SEED = 20261122
plain = OwnerCounting._packed_phases


def patched(**change):
    """Packed phases with changes: of "bits" and of "beyond"."""

    def phases(self, first, end):
        for begin, stop, name, shape in plain(self, first, end):
            yield begin, stop, name, {**shape, **change.get(name.removeprefix("triangles_packed_"), {})}

    return phases


def timed(plan, per, prepare=True):
    plan.run(per, prepare=prepare)
    got = [plan.run(per, prepare=prepare).stats for _ in range(7)]
    parts = {k: round(statistics.median(s.parts.get(k, 0) for s in got), 4) for k in got[0].parts}
    return statistics.median(s.kernel_ms for s in got), parts


def show(name, way, per, spent, parts, good):
    print(f"{name:6s} {per:7s} {spent:8.4f} {'ok ' if good else 'BAD'} {way} {parts}", flush=True)


def rows(name, graph, device):
    expected = {}
    for per in ("total", "vertex", "edge"):
        ways = [Merge("row", tile=0)]
        tiles = {"road": (3, 4), "mesh": (4, 6, 8), "rgg": (8, 12) if per == "vertex" else (12, 16, 20, 24)}[name]
        spans = {"road": (1, 2), "mesh": (1, 2, 4), "rgg": (2, 4, 8) if per == "vertex" else (4, 8)}[name]
        if per != "total":
            ways += [Merge("row", tile=t, span=s) for t in tiles for s in spans]
        for way in ways:
            plan = Triangles(graph, config=TrianglesConfig(intersect=way), device=device)
            result = plan.run(per)
            key = (result.count, None if result.values is None else result.values.tobytes())
            expected.setdefault(per, key)
            spent, parts = timed(plan, per)
            said = f"tile={way.tile} span={way.span}"
            show(name, said, per, spent, parts, key == expected[per])


def skewed(name, graph, device, pers):
    expected = {}
    total = [({}, Bitmap()), ({}, Bitmap(byte_ranks=32768))]
    for hubs, pieces in ((4096, 4), (8192, 4), (2048, 8)):
        total.append(({}, Bitmap(byte_ranks=32768, hubs=hubs, pieces=pieces)))
    for size in (64, 128):
        total.append(({"bits": {"group_size": size}}, Bitmap(byte_ranks=32768)))
        total.append(({"beyond": {"unit": "group", "group_size": size}}, Bitmap()))
    total.append(({"beyond": {"unit": "group", "group_size": 32}}, Bitmap()))
    total.append(({"beyond": {"stream": 2}}, Bitmap()))
    vertex = [({}, Bitmap(packed=False)), ({}, Bitmap()), ({}, Bitmap(stream=4)), ({}, Bitmap(stream=2))]
    vertex += [({}, Bitmap(pieces=8)), ({}, Bitmap(hubs=8192))]
    edge = [({}, Bitmap(packed=False)), ({}, Bitmap())]
    for per in pers:
        for change, way in {"total": total, "vertex": vertex, "edge": edge}[per]:
            OwnerCounting._packed_phases = patched(**change)
            plan = Triangles(graph, config=TrianglesConfig(intersect=way), device=device)
            result = plan.run(per)
            key = (result.count, None if result.values is None else result.values.tobytes())
            expected.setdefault(per, key)
            spent, parts = timed(plan, per)
            show(name, f"{change} {way}", per, spent, parts, key == expected[per])
    OwnerCounting._packed_phases = plain


def main():
    scale = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    device = clgraph.device(sys.argv[1])
    began = time.perf_counter()
    wanted = makers(scale)
    names = ("road", "mesh", "rgg", "kron", "kron+2")
    with ThreadPoolExecutor(len(names)) as pool:
        made = {name: pool.submit(wanted[name], SEED) for name in names}
        for name in ("road", "mesh", "rgg"):
            rows(name, made[name].result(), device)
        skewed("kron20", made["kron"].result(), device, ("total", "vertex", "edge"))
        skewed("kron22", made["kron+2"].result(), device, ("total",))
    print("seconds", time.perf_counter() - began)


main()
