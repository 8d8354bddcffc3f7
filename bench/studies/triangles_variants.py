"""Variants of the ways to count triangles, timed in turn on five graphs; for one day.

``python -m bench.studies.triangles_variants --device nvidia``; ``--scale 12`` for a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import clgraph
from bench.studies.triangles import makers
from clgraph import Triangles
from clgraph.algorithms.triangles import orient, owners, rows
from clgraph.algorithms.triangles.orient import Orientation

DEFAULTS = (
    {
        (orient, name): getattr(orient, name)
        for name in (
            "TILES",
            "DENSE_BLOCK",
            "DENSE_BLOCKS",
            "DENSE_LEAST",
            "AHEAD",
            "BALLOTS",
            "SHORT_ROW_LANES",
        )
    }
    | {
        (owners, name): getattr(owners, name)
        for name in (
            "FAR_RANKS",
            "FAR_GROUP",
            "FAR_STREAM",
            "FAR_UNIT",
            "DIRECT_RANKS",
            "EACH",
            "NARROW_STREAM",
            "SMALL_TABLE_BITS",
        )
    }
    | {(rows, name): getattr(rows, name) for name in ("FLUSH", "SPAN", "TALLIES")}
)
HOMES = {name: module for module, name in DEFAULTS}


def variants(kind: str, per: str) -> list[dict]:
    """Give what is tried."""
    if kind in {"road", "mesh"}:
        return [{}]
    if kind == "rgg":
        return [
            {"SPAN": span, "FLUSH": flush, "TALLIES": tallies}
            for span, flush, tallies in (
                (4, "own", 12),
                (2, "own", 12),
                (4, "shared", 12),
                (2, "shared", 12),
                (4, "row", 12),
                (2, "row", 12),
                (4, "row", 24),
                (8, "row", 24),
                (2, "shared", 16),
            )
        ]
    dense = [
        {
            "DENSE_BLOCK": block,
            "DENSE_BLOCKS": blocks,
            "DENSE_LEAST": least,
            "SHORT_ROW_LANES": lanes,
        }
        for block, blocks, least, lanes in (
            (1024, 1, 64, 8),
            (1024, 1, 64, 4),
            (1024, 1, 32, 8),
            (1024, 1, 32, 4),
            (512, 4, 32, 8),
            (512, 4, 32, 4),
            (512, 4, 16, 4),
            (1024, 4, 64, 8),
            (1024, 4, 64, 4),
            (1024, 4, 32, 4),
            (1024, 4, 32, 2),
            (1024, 2, 48, 4),
        )
    ]
    tiles = [{"TILES": tiles} for tiles in ((), (8, 16), (8, 32), (8, 16, 32))]
    long = [
        {"AHEAD": 2},
        {"AHEAD": 4},
        {"AHEAD": 4, "BALLOTS": True},
        {"AHEAD": 8},
        {"SHORT_ROW_LANES": 16},
    ]
    far = [
        {"FAR_RANKS": ranks, "FAR_GROUP": size, "FAR_STREAM": stream, "FAR_UNIT": unit}
        for ranks, size, stream, unit in (
            (65536, 64, 8, "group"),
            (32768, 64, 4, "group"),
            (16384, 64, 4, "group"),
            (32768, 32, 4, "group"),
            (32768, 64, 4, "lanes"),
            (16384, 64, 4, "lanes"),
            (16384, 128, 4, "lanes"),
            (16384, 128, 8, "lanes"),
            (8192, 128, 4, "lanes"),
            (8192, 128, 2, "lanes"),
        )
    ]
    vertex = [
        {"DIRECT_RANKS": direct, "EACH": each, "NARROW_STREAM": stream}
        for direct, each, stream in (
            (0, True, 2),
            (0, True, 4),
            (0, True, 1),
            (4096, False, 2),
            (4096, True, 2),
            (8192, True, 2),
            (2048, True, 2),
            (4096, True, 4),
        )
    ]
    vertex.append(
        {
            "DIRECT_RANKS": 4096,
            "EACH": True,
            "DENSE_BLOCK": 1024,
            "DENSE_BLOCKS": 4,
            "SHORT_ROW_LANES": 4,
        }
    )
    if per == "vertex":
        return [*vertex, *dense]
    if kind == "kron":
        return [dense[0], *far[:7], *tiles, *dense[1:]]
    return [dense[0], *far, *dense[1:], *tiles, *long]


def timed(graph, device, per, repeats, expected):
    """Time one."""
    graph.kept.pop(Orientation, None)
    plan = Triangles(graph, device=device)
    plan.run(per, prepare=True)
    spent, parts = [], {}
    same = True
    for _ in range(repeats):
        result = plan.run(per, prepare=True)
        spent.append(result.stats.kernel_ms)
        for name, ms in result.stats.parts.items():
            parts.setdefault(name, []).append(ms)
    if per in expected:
        same = result.count == expected[per][0] and (
            result.values is None or np.array_equal(result.values, expected[per][1])
        )
    else:
        expected[per] = (result.count, result.values)
        other = Triangles(plan.simple, config="binary-search", device=device).run(per)
        same = other.count == result.count and (
            result.values is None or np.array_equal(result.values, other.values)
        )
    short = {
        name.replace("triangles_", "").replace("orient_", "o_"): round(statistics.median(ms), 3)
        for name, ms in parts.items()
    }
    return statistics.median(spent), same, short


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--graphs", default="rgg,road,mesh,kron,kron+2")
    args = parser.parse_args()
    device = clgraph.device(args.device)
    began = time.perf_counter()
    made = makers(args.scale)
    names = args.graphs.split(",")
    with ThreadPoolExecutor(len(names)) as pool:
        graphs = {name: pool.submit(made[name], 20261122) for name in names}
        for name in names:
            graph = graphs[name].result()
            expected: dict = {}
            pers = ("total",) if name == "kron+2" else ("total", "vertex")
            asked = [(per, given) for per in pers for given in variants(name, per)]
            for per, given in asked:
                if name == "rgg" and per == "total" and given["FLUSH"] != "own":
                    continue
                if time.perf_counter() - began > args.seconds:
                    print(name, given, per, "no time")
                    continue
                for (module, key), value in DEFAULTS.items():
                    setattr(module, key, given.get(key, value))
                try:
                    ms, same, parts = timed(graph, device, per, 5, expected)
                except Exception as error:
                    print(name, per, given, "FAILED", repr(error)[:300], flush=True)
                    continue
                print(
                    f"{name:7} {per:6} {ms:8.4f} {'ok' if same else 'WRONG'} {given} {parts}",
                    flush=True,
                )
            print(name, "seconds", round(time.perf_counter() - began, 1), flush=True)


if __name__ == "__main__":
    main()
