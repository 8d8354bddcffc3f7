"""Case studies of the profiler: reduction, transpose and BFS, in three versions and in four.

Each version mends what the profile of the one before points to, or what the device's curves say of
one component of it; ``run`` gives predicted and measured speed-ups.
``python -m bench.studies.profiling.cases --device nvidia`` prints them.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.studies import KERNELS
from clgraph import device as find_device
from clgraph import generate, profile
from clgraph.cli.text import table
from clgraph.device import Memory, load, resident_groups, wait
from clgraph.errors import VerificationError
from clgraph.profile.characterise import characterise
from clgraph.profile.verdicts import candidates, curves_of, judge

from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, Graph
    from clgraph.device import Kernel
    from clgraph.profile.report import QualityReport

__all__ = ["STUDIES", "Version", "main", "studied"]

SPIN_LIMIT = 1 << 24
SEED = 20261122
SWEEPS = ("coalescence", "access_size", "bank_conflict", "divergence")


@dataclass(frozen=True)
class Version:
    """One version of a case: what changed, how to run it, and how to check what it gave.

    `candidate` is what `verdicts.candidates` calls the change, where a curve of the device reports
    what it makes of it.
    """

    name: str
    change: str
    run: Callable[[], Any]
    check: Callable[[], None]
    candidate: str = ""


def group_size(device: Device, wanted: int = 256) -> int:
    """Work-items of a group: as wanted, but of emulated lanes exactly those."""
    traits = device.traits
    return traits.lanes if traits.emulated else traits.group_of(wanted)


def demand(ok: object, what: str) -> None:
    """Raise where a version gave something else than it should have."""
    if not ok:
        raise VerificationError(f"{what} gave a wrong result.")


def reduction(device: Device, scale: int) -> list[Version]:
    """Make the three versions of a sum of ``2**scale`` numbers."""
    tree, _, lanes, many, _ = _reductions(device, scale)
    return [tree, lanes, many]


def vector_reduction(device: Device, scale: int) -> list[Version]:
    """Make the four versions of a sum that power-aware tuning reports of."""
    tree, neighbours, _, many, wide = _reductions(device, scale)
    return [tree, neighbours, many, wide]


def _reductions(device: Device, scale: int) -> list[Version]:
    n, memory, size = 1 << scale, Memory(device), group_size(device)
    values = np.random.default_rng(SEED).integers(0, 2**32, n, dtype=np.uint32)
    wanted = np.uint32(int(values.sum(dtype=np.uint64)) & 0xFFFFFFFF)
    source, total = memory.upload("values", values), memory.allocate("total", 1, np.uint32)
    program = load(device, "reduction.cl", folders=(KERNELS,), group_size=size)
    units, resident = device.traits.compute_units, device.traits.threads_per_unit // size or 4

    def version(name: str, change: str, groups: int, candidate: str = "") -> Version:
        kernel = program.kernel(name)

        def run() -> None:
            total.clear()
            wait(kernel.launch(groups * size, size, source, np.uint32(n), total))

        return Version(
            name, change, run, lambda: demand(total.read()[0] == wanted, name), candidate
        )

    whole = -(-n // size)
    few = min(whole, units * resident)
    return [
        version("reduction_tree", "a tree in local memory", whole),
        version("reduction_neighbours", "neighbours work", whole, "keep lanes together"),
        version("reduction_lanes", "lanes exchange, one barrier", whole),
        version("reduction_many", "many elements a work-item", few),
        version("reduction_wide", "four elements an access", few, "access more bytes at a time"),
    ]


def transpose(device: Device, scale: int) -> list[Version]:
    """Make the three versions of transposing a matrix of ``2**scale`` elements."""
    _, _, _, _, *tiled = _transposes(device, scale)
    return tiled


def matrix_transpose(device: Device, scale: int) -> list[Version]:
    """Make the four versions of a transpose that power-aware tuning reports of."""
    return _transposes(device, scale)[:4]


def _transposes(device: Device, scale: int) -> list[Version]:
    memory, n = Memory(device), 1 << (scale // 2)
    matrix = np.random.default_rng(SEED).integers(0, 2**32, (n, n), dtype=np.uint32)
    source = memory.upload("matrix", matrix)
    target = memory.allocate("transposed", n * n, np.uint32)
    size = group_size(device)

    def version(
        name: str, change: str, tile: int, padding: int, candidate: str = "", block: int = 0
    ) -> Version:
        program = load(
            device,
            "transpose.cl",
            folders=(KERNELS,),
            group_size=size,
            tile=tile,
            padding=padding,
            block=block or size,
        )
        kernel = program.kernel("transpose_directly" if block else "transpose")
        groups = n * n // size if block else (n // tile) ** 2

        def run() -> None:
            wait(kernel.launch(groups * size, size, source, target, np.uint32(n)))

        def check() -> None:
            demand(np.array_equal(target.read().reshape(n, n), matrix.T), name)

        return Version(name, change, run, check, candidate)

    small, large = min(16, size), min(32, size)
    coalesce, conflicts = "coalesce accesses", "avoid bank conflicts"
    rows, narrow = min(size, n), max(size // 32, 1)
    return [
        version("transpose_rows", "rows to columns", large, 0, "", rows),
        version("transpose_blocks", f"blocks of {narrow} columns", large, 0, coalesce, narrow),
        version("transpose_tiles", f"tiles of {large} in local memory", large, 0, coalesce),
        version("transpose_tiles_padded", "padded", large, 1, conflicts),
        version("transpose", f"tiles of {small}", small, 0),
        version("transpose_padded", "padded against bank conflicts", small, 1),
        version("transpose_wide", f"tiles of {large}: whole lines", large, 1),
    ]


def levels(device: Device, scale: int) -> list[Version]:
    """Make the three versions of a search that looks at every vertex in every level."""
    graph = generate.kron(max(scale - 6, 4), seed=SEED)
    source = int(np.argmax(graph.degrees))
    wanted = _distances(graph, source)
    memory, size = Memory(device), group_size(device)
    indptr = memory.upload("indptr", np.asarray(graph.indptr, np.uint32))
    indices = memory.upload("indices", np.asarray(graph.indices, np.uint32))
    distances = memory.allocate("distances", graph.n, np.int32)
    found, state = memory.allocate("found", 3, np.uint32), memory.allocate("state", 96, np.uint32)
    start = np.full(graph.n, -1, np.int32)
    start[source] = 0
    program = load(device, "levels.cl", folders=(KERNELS,), group_size=size)
    n = np.uint32(graph.n)

    def one() -> None:
        kernel = program_one
        distances.write(start)
        for level in range(graph.n):
            wait(found.clear())
            items = -(-graph.n // size) * size
            wait(kernel.launch(items, size, indptr, indices, n, np.int32(level), distances, found))
            if not found.read(1)[0]:
                return

    def all_levels(kernel: Kernel) -> Callable[[], None]:
        groups = resident_groups(device, kernel, size)

        def run() -> None:
            distances.write(start)
            found.clear()
            state.clear()
            arguments = (indptr, indices, n, distances, found, state, np.uint32(SPIN_LIMIT))
            wait(kernel.launch(groups * size, size, *arguments))

        return run

    program_one = program.kernel("levels_one")

    def check() -> None:
        demand(np.array_equal(distances.read(), wanted), "a search")

    return [
        Version("levels_one", "a launch a level", one, check),
        Version(
            "levels_all",
            "one launch, a grid barrier",
            all_levels(program.kernel("levels_all")),
            check,
        ),
        Version(
            "levels_shared",
            "lanes share a vertex",
            all_levels(program.kernel("levels_shared")),
            check,
        ),
    ]


def _distances(graph: Graph, source: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Search on the host, level by level."""
    distances = np.full(graph.n, -1, np.int32)
    distances[source], frontier, level = 0, np.array([source]), 0
    indptr, indices = np.asarray(graph.indptr, np.int64), np.asarray(graph.indices)
    while frontier.size:
        level += 1
        reached = np.unique(
            np.concatenate([indices[indptr[u] : indptr[u + 1]] for u in frontier.tolist()])
        )
        frontier = reached[distances[reached] < 0]
        distances[frontier] = level
    return distances


STUDIES: dict[str, Callable[[Device, int], list[Version]]] = {
    "reduction": reduction,
    "transpose": transpose,
    "bfs": levels,
    "vector_reduction": vector_reduction,
    "matrix_transpose": matrix_transpose,
}


def studied(name: str, device: Device, scale: int, repeats: int = 7) -> list[dict[str, Any]]:
    """Check, time and profile the versions of a case.

    Returns
    -------
    list of dict
        For each version: measured time and speed-up over the first, what the criterion with the
        largest gap would still gain, and all criteria.
    """
    rows: list[dict[str, Any]] = []
    before: QualityReport | None = None
    for version in STUDIES[name](device, scale):
        version.run()
        version.check()
        wall = statistics.median(_timed(version.run) for _ in range(repeats))
        report = profile(version.run, device=device, repeats=repeats)
        version.check()  # after the last instrumented run
        time_s = report.elapsed_s
        predicted = None
        if before is not None and version.candidate:
            predicted = foretold(before, version.candidate, device)
        gains = {
            key: criterion.potential_speedup
            for key, criterion in report.criteria.items()
            if criterion.potential_speedup is not None
        }
        rows.append(
            {
                "study": name,
                "version": version.name,
                "change": version.change,
                "time_s": time_s,
                "wall_s": wall,
                "speedup": rows[0]["time_s"] / time_s if rows else 1.0,
                "time_ratio": time_s / rows[-1]["time_s"] if rows else 1.0,
                "predicted": predicted,
                "advice": report.advice(),
                "most_to_gain": max(gains, key=lambda key: gains[key] or 0.0, default=None),
                "potential_speedup": report.prediction.potential_speedup,
                "foretold_s": report.prediction.time_s,
                "quality": report.quality,
                "limiter": report.limiter,
                "changes": {}
                if before is None
                else {change.name: change.verdict for change in before.diff(report)},
                "report": report.record(),
            }
        )
        before = report
    return rows


def foretold(before: QualityReport, name: str, device: Device) -> dict[str, Any] | None:
    """Say what the device's curves make of a change, from the profile of the version before it.

    Parameters
    ----------
    before : QualityReport
        Of the version that is to be changed.
    name : str
        As `verdicts.candidates` calls the change.
    device : Device
        Whose curves.

    Returns
    -------
    dict or None
        ``ratios`` and ``judgements`` by target, None where the device has no such curve or the
        profile proposes nothing of the kind.
    """
    criteria = {key: criterion.value for key, criterion in before.criteria.items()}
    values = {
        "global_mem_eff": criteria["Gran_L2"],
        "shared_mem_eff": criteria["SMem_eff"],
        "divergence": criteria["TDiv"],
    }
    shares = before.prediction.shares
    parts = {
        "coalescence": shares.get("DRAM", 0.0) + shares.get("L2", 0.0),
        "bank_conflict": shares.get("local", 0.0),
        "divergence": shares.get("arithmetic", 0.0),
        "access_size": shares.get("DRAM", 0.0),
    }
    known = {key: value for key, value in values.items() if value}
    found = [c for c in candidates(known, shares=parts) if c.name == name]
    curves = curves_of(characterise(device, SWEEPS))
    if not found or found[0].curve not in curves:
        return None
    verdict = judge(found[0], curves)
    return {"ratios": verdict.ratios, "judgements": verdict.judgements}


def _timed(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def shown(rows: Sequence[dict[str, Any]]) -> str:
    """Show measured and predicted speed-ups."""
    return table(
        (
            "version",
            "ms",
            "speed-up",
            "step",
            "foretold",
            "potential left",
            "quality",
            "limiter",
            "advice",
        ),
        [
            (
                row["version"],
                f"{row['time_s'] * 1e3:.4g}",
                f"{row['speedup']:.2f}",
                f"{row['time_ratio']:.2f}",
                "-" if row["predicted"] is None else f"{row['predicted']['ratios']['time']:.2f}",
                "-" if row["potential_speedup"] is None else f"{row['potential_speedup']:.2f}",
                "-" if row["quality"] is None else f"{row['quality']:.3f}",
                str(row["limiter"]),
                str(row["advice"]),
            )
            for row in rows
        ],
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the case studies."""
    parser = command(__doc__, scale=26)
    parser.add_argument("--study", choices=sorted(STUDIES), action="append")
    args = parser.parse_args(argv)
    device = find_device(args.device)
    found = {name: studied(name, device, args.scale) for name in args.study or STUDIES}
    for rows in found.values():
        print(shown(rows), end="\n\n")
    keep(found, args.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
