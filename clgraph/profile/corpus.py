"""Fitting the weights of the quality metric to a device, on clgraph's own primitives."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clgraph.device import device as find_device
from clgraph.device.folders import private_folder
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.graph import generate
from clgraph.graph.modules import module
from clgraph.profile.pricing import Timed, fitted, prices_file
from clgraph.profile.quality import Calibration, Specimen, calibrated, device_weights, weights_file
from clgraph.profile.running import profile
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clgraph.device import Device
    from clgraph.graph import Graph
    from clgraph.profile.report import QualityReport
    from clgraph.progress import Progress

__all__ = ["calibrate", "device_weights", "specimens", "timed"]

SEED = 20261122
BALANCERS = ("item_thread", "vwarp", "dyn_vwarp", "cws", "block_search", "two_phase", "multi_phase")
PRESETS = ("merrill-two-phase", "merrill-expand-contract", "bfs-4k", "helix", "enterprise")
# Sizes of items: alike, log-normal, and with one that has a tenth of all.
_SHAPES = ("even", "skewed", "one large")


def _sizes(shape: str, items: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    rng = np.random.default_rng(SEED)
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
    for name, graph in (
        ("kron", generate.kron(max(scale - 2, 4), seed=SEED)),
        ("grid", generate.grid2d(1 << (scale // 2), 1 << (scale // 2))),
    ):
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
        Nothing new is begun after these.
    progress : callable, optional
        As everywhere.

    Returns
    -------
    Calibration
        Weights, errors, and rank correlations; `device_weights` finds the weights again. Prices of
        predicted times, which profiles of the device use from now on.

    Raises
    ------
    InvalidArgumentError
        If the seconds did not do for two implementations of one primitive.
    """
    where, began = find_device(device), time.perf_counter()
    corpus: list[Specimen] = []
    kernels: list[Timed] = []
    refused: list[str] = []
    total = len(_SHAPES) * len(BALANCERS) + 2 * len(PRESETS)
    for primitive, implementation, make in specimens(where, scale):
        if time.perf_counter() - began > seconds:
            break
        try:
            report = profile(make(), device=where, passes=("time", "sync", "counters"), repeats=3)
        except ClgraphError as error:  # a balancer that this device cannot run
            refused.append(str(error))
            continue
        values = {name: found.value for name, found in report.criteria.items()}
        corpus.append(Specimen(primitive, implementation, values, report.elapsed_s))
        kernels += timed(implementation, report)
        report_progress(progress, len(corpus), total, "calibrating")
    report_progress(progress, total, total, "calibrating")
    if not corpus:
        raise InvalidArgumentError(
            f"nothing of the corpus ran on {where.name} in {seconds:g} s"
            + (f": {refused[0]}" if refused else "; give it more seconds.")
        )
    found = calibrated(corpus, device=where.name)
    path = weights_file(where)
    private_folder(path.parent.parent)
    private_folder(path.parent)
    found.weights.save(path)
    if not kernels:
        return found
    prices = fitted(kernels, device=where.name)
    prices.save(prices_file(where))
    return replace(found, prices=prices)


def timed(name: str, report: QualityReport) -> list[Timed]:
    """Give the kernels of a profile that were counted and took some time."""
    return [
        Timed(name, kernel.prediction.parts, kernel.time_s)
        for kernel in report.kernels
        if kernel.prediction.parts and kernel.time_s > 0
    ]
