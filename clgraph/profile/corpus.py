"""Fitting the weights of the quality metric to a device, on clgraph's own primitives."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import device as find_device
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.graph import generate
from clgraph.graph.modules import module
from clgraph.profile.characterise import QUICK, characterise
from clgraph.profile.kept import private_place
from clgraph.profile.mixes import mixes
from clgraph.profile.pricing import Timed, fitted, prices_file
from clgraph.profile.quality import Calibration, Specimen, calibrated, weights_file
from clgraph.profile.running import profile, runnable
from clgraph.progress import report_progress
from clgraph.seeded import seeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clgraph.device import Device
    from clgraph.graph import Graph
    from clgraph.profile.report import QualityReport
    from clgraph.progress import Progress

__all__ = ["calibrate", "others", "specimens", "timed"]

SEED = 20261122
BALANCERS = ("item_thread", "vwarp", "dyn_vwarp", "cws", "block_search", "two_phase", "multi_phase")
PRESETS = ("merrill-two-phase", "merrill-expand-contract", "bfs-4k", "helix", "enterprise")
WEIGHTS = (1, 100)
MIXED_SCALE = 16  # from which on mixes have their sizes
LEAST_SHARE = 0.03  # of the time of a run
OTHERS_SHARE = 0.5  # of the seconds, at most, for what prices alone are fitted to
FITTING_S = 2.0  # kept for what is done with what was found
# Sizes of items: alike, log-normal, and with one that has a tenth of all.
_SHAPES = ("even", "skewed", "one large")


def _sizes(shape: str, items: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    rng = seeded(SEED)
    if shape == "even":
        return np.full(items, 8, np.uint32)
    sizes = np.floor(rng.lognormal(1.0, 1.5, items)).astype(np.uint32)
    if shape == "one large":
        sizes[items // 2] = items
    return sizes


def specimens(
    device: Device, scale: int
) -> Iterator[tuple[str, str, Callable[[], Callable[[], object]]]]:
    """Give primitive, implementation, and what makes something that runs it.

    Parameters
    ----------
    device : Device
        Where they run.
    scale : int
        Items and vertices, as a power of two.
    """
    primitives = module("clgraph.primitives")
    for shape in _SHAPES:
        sizes = _sizes(shape, 1 << scale)
        for balance in BALANCERS:

            def expansion(
                sizes: np.ndarray[tuple[int], np.dtype[np.uint32]] = sizes, balance: str = balance
            ) -> Callable[[], object]:
                config = primitives.ExpandConfig(balance=balance)
                run: Callable[[], object] = primitives.Expand(
                    sizes, config=config, ranks=False, device=device
                ).run
                return run

            yield f"expansion of {shape} items", balance, expansion
    bfs = module("clgraph.algorithms.bfs.plan")
    for name, graph in _graphs(scale):
        source = int(np.argmax(graph.degrees))
        for preset in PRESETS:

            def search(
                graph: Graph = graph, preset: str = preset, source: int = source
            ) -> Callable[[], object]:
                plan = bfs.BFS(graph, config=preset, device=device)

                def run() -> object:
                    return plan.run(source)

                return run

            yield f"search of a {name}", preset, search


def _graphs(scale: int, weights: tuple[int, int] | None = None) -> list[tuple[str, Graph]]:
    side = 1 << (scale // 2)
    return [
        ("kron", generate.kron(max(scale - 2, 4), seed=SEED, weights=weights)),
        ("grid", generate.grid2d(side, side, seed=SEED, weights=weights)),
    ]


def others(
    device: Device, scale: int
) -> Iterator[tuple[str, str, Callable[[], Callable[[], object]]]]:
    """Give what prices alone are fitted to, as `specimens` does: mixes, primitives and plans.

    Parameters
    ----------
    device : Device
        Where they run.
    scale : int
        Of arrays and graphs, as in `specimens`.
    """
    yield from mixes(device, max(MIXED_SCALE - scale, 0))
    for name, call in _primitives(device, scale).items():
        yield "keys", name, functools.partial(functools.partial, call)
    plain, weighted = _graphs(scale), _graphs(scale, WEIGHTS)
    for name, (needs_weights, plan_of) in _plans(device).items():
        for where, graph in weighted if needs_weights else plain:

            def make(
                graph: Graph = graph, plan_of: Callable[[Graph], Any] = plan_of
            ) -> Callable[[], object]:
                return runnable(plan_of(graph))

            yield f"a {where}", name, make


def _primitives(device: Device, scale: int) -> dict[str, Callable[[], object]]:
    primitives = module("clgraph.primitives")
    keys = seeded(SEED).integers(0, 1 << 32, 1 << scale, np.uint32)
    heads, half = keys % 16 == 0, len(keys) // 2
    ordered = np.sort(keys[:half]), np.sort(keys[half:])
    return {
        "sort": lambda: primitives.sort(keys, device=device),
        "scan": lambda: primitives.exclusive_scan(keys, device=device),
        "segmented scan": lambda: primitives.segmented_scan(keys, heads, device=device),
        "reduce": lambda: primitives.reduce(keys, device=device),
        "compact": lambda: primitives.compact(keys, heads, device=device),
        "merge": lambda: primitives.merge(*ordered, device=device),
    }


def _plans(device: Device) -> dict[str, tuple[bool, Callable[[Graph], Any]]]:
    """Give plans by name, most telling first, and whether they are for weights."""
    clgraph = module("clgraph")

    def plan(name: str, **options: object) -> Callable[[Graph], Any]:
        return lambda graph: getattr(clgraph, name)(graph, device=device, **options)

    def product(graph: Graph) -> Callable[[], object]:
        spmv, x = clgraph.SpMV(graph, device=device), np.ones(graph.n, np.float32)
        return lambda: spmv.run(x)

    return {
        "components": (False, plan("ConnectedComponents")),
        "page rank": (False, plan("PageRank")),
        "sssp near-far": (True, plan("SSSP", config="near-far")),
        "triangles": (False, plan("Triangles", clean=True)),
        "scc multistep": (False, plan("SCC", config="multistep")),
        "cores": (False, plan("Cores", clean=True)),
        "product": (True, product),
        "spanning forest": (True, plan("SpanningForest")),
        "sssp delta-stepping": (True, plan("SSSP", config="delta-stepping")),
        "similarity": (False, plan("Similarity")),
        "contract-expand": (False, plan("BFS", config="merrill-contract-expand")),
        "eigenvector": (False, plan("EigenvectorCentrality")),
        "truss": (False, plan("Truss", clean=True)),
        "scc signatures": (False, plan("SCC", config="signatures")),
        "hits": (False, plan("Hits")),
        "sssp asynchronous": (True, plan("SSSP", config="asynchronous")),
        "colouring": (False, plan("Coloring")),
        "hybrid": (False, plan("BFS", config="merrill-hybrid")),
        "independent set": (False, plan("IndependentSet")),
        "label propagation": (False, plan("LabelPropagation")),
        "bfs auto": (False, plan("BFS")),
        "sssp h-bf": (True, plan("SSSP", config="h-bf")),
    }


def calibrate(
    device: Device | str | None = None,
    *,
    scale: int = 20,
    seconds: float = 60.0,
    progress: Progress | None = None,
) -> Calibration:
    """Run the corpus on a device, fit weights and prices, and keep them for it.

    Parameters
    ----------
    device : Device or str, optional
        Default is ``clgraph.device()``.
    scale : int
        Items and vertices, as a power of two.
    seconds : float
        In all: nothing is begun that would not end in them if it took as long as the longest so
        far.
    progress : callable, optional
        As everywhere.

    Returns
    -------
    Calibration
        Weights, errors, and rank correlations; `clgraph.profile.quality.device_weights` finds the
        weights again. Prices of predicted times, which profiles of the device use from now on.

    Raises
    ------
    InvalidArgumentError
        If the seconds did not do for two implementations of one primitive.
    """
    where, began = find_device(device), time.perf_counter()
    corpus: list[Specimen] = []
    kernels: list[Timed] = []
    refused: list[str] = []
    telling = ("time", "sync", "counters")
    characterise(where, QUICK)  # once for all, and no measure of how long a profile takes
    spent, longest = time.perf_counter() - began, 0.0
    for passes, until, given in (
        (("counters",), OTHERS_SHARE * seconds, others(where, scale)),
        (telling, seconds - FITTING_S, specimens(where, scale)),
    ):
        for primitive, implementation, make in given:
            before, spent = spent, time.perf_counter() - began
            longest = max(longest, spent - before)
            if spent + longest > until:
                break
            report_progress(progress, int(min(spent, seconds)), int(seconds), "calibrating")
            try:
                report = profile(make(), device=where, passes=passes, repeats=3)
            except ClgraphError as error:  # a balancer that this device cannot run
                refused.append(str(error))
                continue
            kernels += timed(implementation, report)
            if passes == telling:
                values = {name: found.value for name, found in report.criteria.items()}
                corpus.append(Specimen(primitive, implementation, values, report.elapsed_s))
    report_progress(progress, int(seconds), int(seconds), "calibrating")
    if not corpus:
        raise InvalidArgumentError(
            f"nothing of the corpus ran on {where.name} in {seconds:g} s"
            + (f": {refused[0]}" if refused else "; give it more seconds.")
        )
    found = calibrated(corpus, device=where.name)
    found.weights.save(private_place(weights_file(where)))
    if not kernels:
        return found
    prices = fitted(kernels, device=where.name)
    prices.save(prices_file(where))
    return replace(found, prices=prices)


def timed(name: str, report: QualityReport) -> list[Timed]:
    """Give the kernels of a profile that were counted and took their part of its time."""
    least_s = LEAST_SHARE * report.time_s
    return [
        Timed(name, kernel.prediction.parts, kernel.time_s)
        for kernel in report.kernels
        if kernel.prediction.parts and kernel.time_s > 0 and kernel.time_s >= least_s
    ]
