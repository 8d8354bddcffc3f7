"""Variants of the kernels for triangles, tried side by side on one device; for one day."""

from __future__ import annotations

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import clgraph
from clgraph import Triangles, TrianglesConfig
from clgraph.algorithms.triangles import owners, rows
from clgraph.algorithms.triangles.config import Bitmap, Merge
from clgraph.algorithms.triangles.owners import OwnerCounting

from .triangles import makers

SEED = 20261122
plain = OwnerCounting._packed_phases


def patched(**change):
    def phases(self, first, end):
        for begin, stop, name, shape in plain(self, first, end):
            yield begin, stop, name, {**shape, **change.get(name.removeprefix("triangles_packed_"), {})}

    return phases


def timed(plan, per, prepare=True):
    plan.run(per, prepare=prepare)
    got = [plan.run(per, prepare=prepare).stats for _ in range(7)]
    parts = {k: round(statistics.median(s.parts.get(k, 0) for s in got), 4) for k in got[0].parts}
    return statistics.median(s.kernel_ms for s in got), parts


def one(name, graph, device, per, way, said, expected):
    try:
        plan = Triangles(graph, config=TrianglesConfig(intersect=way), device=device)
        result = plan.run(per)
        key = (result.count, None if result.values is None else result.values.tobytes())
        expected.setdefault(per, key)
        spent, parts = timed(plan, per)
        good = "ok " if key == expected[per] else "BAD"
        parts = {k.removeprefix("triangles_"): v for k, v in parts.items() if "orient" not in k}
        print(f"{name:6s} {per:7s} {spent:8.4f} {good} {said} {parts}", flush=True)
    except Exception as error:
        print(name, per, said, "FAILED", error, flush=True)


def in_rows(name, graph, device):
    expected = {}
    for per in ("total", "vertex", "edge"):
        ways = [(16, Merge("row", tile=0))]
        if per == "vertex":
            ways += [(t, Merge("row", tile=0)) for t in (4, 8, 12, 24)]
            if name == "rgg":
                ways += [(t, Merge("row", tile=0, span=2)) for t in (8, 12, 16)]
                ways += [(16, Merge("row", slots=s, span=p)) for s in (32, 64) for p in (2, 4, 8)]
            if name == "mesh":
                ways += [(16, Merge("row", slots=16, span=p)) for p in (1, 2)]
        if per == "edge":
            if name == "rgg":
                ways += [(16, Merge("row", slots=s, span=p)) for s in (32, 64, 128) for p in (2, 4, 8)]
            else:
                ways += [(16, Merge("row", tile=None)), (16, Merge("row", slots=16, span=1))]
        for tallies, way in ways:
            rows.TALLIES = tallies
            said = f"tallies={tallies} tile={way.tile} slots={way.slots} span={way.span}"
            one(name, graph, device, per, way, said, expected)


def skewed(name, graph, device, pers):
    expected = {}
    both = {"bits": {"group_size": 128}}
    total = [({}, None), ({"beyond": {"unit": "group", "group_size": 64, "stream": 2}}, None)]
    for shared in (
        ("lanes", 256, 2048, 4), ("lanes", 256, 4096, 4), ("lanes", 256, 8192, 4), ("lanes", 256, 16384, 4),
        ("lanes", 128, 32768, 4), ("lanes", 256, 8192, 2), ("lanes", 256, 8192, 8), ("group", 64, 16384, 4),
        ("group", 64, 16384, 2), ("group", 64, 32768, 2),
    ):
        total.append((both, shared))
    for size in (64, 128):
        for stream in (2, 4):
            total.append(({"bits": {"group_size": size, "stream": stream}}, ("lanes", 256, 8192, 4)))
    total.append(({"bits": {"group_size": 64}, "bytes": {"stream": 2}}, ("lanes", 256, 8192, 4)))
    total.append(({"bits": {"group_size": 64}, "bytes": {"group_size": 128}}, ("lanes", 256, 8192, 4)))
    total.append(({"bits": {"group_size": 64}, "bytes": {"group_size": 512}}, ("lanes", 256, 8192, 4)))
    vertex = (
        ((65536, 256, 2),), ((16384, 256, 2), (65536, 128, 2)), ((16384, 256, 1), (65536, 128, 1)),
        ((16384, 256, 2), (65536, 64, 2)), ((16384, 256, 1), (65536, 64, 2)), ((4096, 512, 2), (65536, 128, 2)),
        ((1024, 512, 2), (16384, 256, 2), (65536, 64, 2)), ((16384, 128, 2), (65536, 64, 2)),
    )
    for per in pers:
        if per == "total":
            for change, shared in total:
                OwnerCounting._packed_phases = patched(**change)
                owners.SHARED = shared
                one(name, graph, device, per, Bitmap(), f"{change} {shared}", expected)
            OwnerCounting._packed_phases = plain
            for way in (Bitmap(pieces=2), Bitmap(hubs=1024), Bitmap(hubs=512, pieces=8), Bitmap(byte_ranks=8192)):
                owners.SHARED = ("lanes", 256, 8192, 4)
                said = f"hubs={way.hubs} pieces={way.pieces} bytes={way.byte_ranks}"
                one(name, graph, device, per, way, said, expected)
        else:
            for phases in vertex:
                owners.VERTEX_PHASES = phases
                one(name, graph, device, per, Bitmap(), str(phases), expected)


def main():
    scale = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    device = clgraph.device(sys.argv[1])
    began = time.perf_counter()
    wanted = makers(scale)
    names = ("road", "mesh", "rgg", "kron", "kron+2")
    with ThreadPoolExecutor(len(names)) as pool:
        made = {name: pool.submit(wanted[name], SEED) for name in names}
        made["kron+2"].result()
        for name in ("road", "mesh", "rgg"):
            in_rows(name, made[name].result(), device)
        skewed("kron20", made["kron"].result(), device, ("total", "vertex"))
        skewed("kron22", made["kron+2"].result(), device, ("total",))
    print("seconds", time.perf_counter() - began)


main()
