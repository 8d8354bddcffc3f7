"""The kernels of every preset as they are rendered, to show that a change leaves them as they were.

``python -m bench.studies.renderings OUT.json`` writes them for PoCL, for Intel's runtime and for
an H200, whose traits are recorded here; nothing is compiled.  ``--against BEFORE.json`` compares
them with those of an earlier checkout: the texts are the same if they differ in nothing but
comments, white space and a one-to-one renaming of identifiers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

import clgraph as cg
from clgraph.device import DeviceTraits, program
from clgraph.device.lazy import cl
from clgraph.errors import ClgraphError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clgraph import Device, Graph

__all__ = ["H200", "canonical", "main", "renderings"]

H200 = DeviceTraits(
    lanes=32,
    lane_ops="ptx",
    memory_ops="ptx",
    grid_barrier=True,
    compute_units=132,
    max_group_size=1024,
    local_bytes=49152,
    cache_bytes=62914560,
    global_bytes=150_000_000_000,
    max_alloc_bytes=37_500_000_000,
    threads_per_unit=2048,
    registers_per_unit=65536,
    compute_capability=(9, 0),
    int64_atomics=True,
    fp64=True,
    is_cpu=False,
    build_options=("-cl-nv-verbose",),
)
TOKENS = re.compile(r"[A-Za-z_]\w*|\d\w*(?:\.\w*)?|\S")
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class _Kernel:
    """Stands for a kernel that nobody built: small, and done as soon as it is launched."""

    checks = None
    registers = 32
    spill_bytes = 0
    local_bytes = 0

    def __init__(self, name: str, device: Device) -> None:
        self.name = name
        self.device = device
        self.max_group_size = device.traits.max_group_size

    def launch(self, *_: object) -> cl.Event:
        """Give an event that is complete."""
        event = cl.UserEvent(self.device.context)
        event.set_status(cl.command_execution_status.COMPLETE)
        return event


class _Program:
    """Stands for a program that nobody built."""

    checked = None
    from_cache = False
    build_log = ""

    def __init__(self, device: Device, label: str, source: str) -> None:
        self.device = device
        self.label = label
        self.source = source
        self.source_hash = hashlib.sha256(source.encode()).hexdigest()

    def kernel(self, name: str, device: Device | None = None) -> _Kernel:
        """Give an entry point."""
        return _Kernel(name, device or self.device)


def canonical(text: str) -> str:
    """Rename identifiers by the order in which they come, and drop comments and white space.

    Parameters
    ----------
    text : str
        OpenCL C.

    Returns
    -------
    str
        Equal for two texts that differ only so.
    """
    names: dict[str, str] = {}
    tokens = []
    for token in TOKENS.findall(COMMENTS.sub(" ", text)):
        named = token[0].isalpha() or token[0] == "_"
        tokens.append(names.setdefault(token, f"n{len(names)}") if named else token)
    return " ".join(tokens)


def _graphs() -> dict[str, Graph]:
    rng = np.random.default_rng(3)
    kron = cg.generate.kron(9, seed=1)
    grid = cg.generate.grid2d(40, 40)
    arrows = cg.from_edges(rng.integers(0, 900, 3000), rng.integers(0, 900, 3000), n=900)
    return {"kron": kron, "grid": grid, "arrows": arrows, "star": cg.generate.star(5000)}


def _weighted(graph: Graph, kind: type[np.generic]) -> Graph:
    pairs = graph.indices.astype(np.int64) + np.repeat(np.arange(graph.n), graph.degrees)
    weights = (1 + pairs % 97).astype(kind)
    return cg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed)


def _plans() -> Iterator[tuple[str, partial[Any]]]:
    """Give what builds each plan, by name."""
    for shape, graph in _graphs().items():
        for preset in cg.BFSConfig.presets():
            for trees in (False, True):
                yield (
                    f"bfs {preset} {shape} {'trees' if trees else 'distances'}",
                    partial(cg.BFS, graph, predecessors=trees, config=preset),
                )
        for kind in (np.uint32, np.float32, np.int64):
            weighted = _weighted(graph, kind)
            for preset in cg.SSSPConfig.presets():
                yield (
                    f"sssp {preset} {shape} {np.dtype(kind).name}",
                    partial(cg.SSSP, weighted, predecessors=True, config=preset),
                )
        for preset in cg.SCCConfig.presets():
            yield (
                f"scc {preset} {shape}",
                partial(cg.SCC, graph, config=preset),
            )
        for preset in () if graph.directed else cg.MatchingConfig.presets():
            for space in ("__local", "__global"):
                yield f"matching {preset} {shape} {space}", partial(_matching, graph, preset, space)
        yield (
            f"components {shape}",
            partial(cg.ConnectedComponents, graph),
        )


def _matching(graph: Graph, preset: str, space: str, device: Device) -> None:
    """Build what a plan builds in its first run: that reads results which nobody computed here."""
    plan = cg.SubgraphMatching(graph, config=preset, device=device)
    phases = plan._phases  # noqa: SLF001 - a run would need results
    assert phases is not None  # noqa: S101 - the graph has vertices
    kernel = phases.kernel
    kernel("candidates", "matching_candidates")
    kernel("levels", "matching_target_levels", by_arcs=plan.config.similarities == "bfs")
    kernel("scores", "matching_seeds")
    kernel("extend", "matching_extend", state_space=space)


def renderings(devices: Sequence[str] = ("pocl", "intel", "h200")) -> dict[str, str]:
    """Render the kernels of every preset, algorithm and graph.

    Parameters
    ----------
    devices : sequence of str
        Devices that are there, and "h200".

    Returns
    -------
    dict
        Texts by device, plan and number of the program within it; a refusal is such a text too.
    """
    found: dict[str, str] = {}
    for spec in devices:
        device = cg.device("pocl" if spec == "h200" else spec).beside()
        if spec == "h200":
            device.__dict__["traits"] = H200
        for name, make in _plans():
            sources: list[str] = []

            def obtain(on: Any, source: str, label: str, _: str, into: Any = sources) -> _Program:
                into.append(source)
                return _Program(on, label, source)

            with (
                mock.patch.object(program, "_obtain", obtain),
                mock.patch.object(program, "_programs", {}),
            ):
                try:
                    make(device=device)
                except ClgraphError as error:
                    sources.append(f"refused: {error}")
            found.update({f"{spec} {name} {k}": text for k, text in enumerate(sources)})
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the renderings, and compare them."""
    parser = argparse.ArgumentParser(prog="bench.studies.renderings", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path, help="what an earlier checkout wrote")
    parser.add_argument("--device", action="append", help="pocl, intel or h200; default all three")
    options = parser.parse_args(arguments)
    now = renderings(options.device or ("pocl", "intel", "h200"))
    options.out.write_text(json.dumps(now), encoding="utf-8")
    print(f"{len(now)} renderings, {len(set(now.values()))} different")
    if options.against is None:
        return 0
    before = json.loads(options.against.read_text(encoding="utf-8"))
    missing = sorted(before.keys() ^ now.keys())
    differing = [
        name
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name] and canonical(before[name]) != canonical(now[name])
    ]
    for name in missing:
        print(f"only {'before' if name in before else 'now'}: {name}")
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(now)} compared, {len(missing)} on one side only, {len(differing)} different")
    return int(bool(missing or differing))


if __name__ == "__main__":
    sys.exit(main())
