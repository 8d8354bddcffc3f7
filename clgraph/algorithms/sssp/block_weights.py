"""Weights in the blocks of a dynamic graph, of which a device finds what a search goes by."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from clgraph.algorithms.sssp.weights import OPENCL_TYPES, Weights
from clgraph.device import Memory, load, wait
from clgraph.engine.sweeps import Sweeper

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.engine.blocks import BlockRows

__all__ = ["BlockWeights"]


class BlockWeights(Weights):
    """The weights of rows in blocks; see `Weights`, of which no values are in host memory.

    Parameters
    ----------
    rows : BlockRows
        With weights of a type that `Weights` takes.
    device : Device
        Where they are.

    Attributes
    ----------
    finite : bool
        Whether all are finite.
    """

    def __init__(self, rows: BlockRows, device: Device) -> None:
        held = rows.weights
        assert held is not None  # noqa: S101 (whoever asks has looked)
        self._rows = rows
        self._graph = rows
        self.dtype = held.dtype
        memory, sweeper = Memory(device), Sweeper(device, rows.n)
        sum_type = np.float64 if device.traits.fp64 else np.float32
        extents = memory.allocate("weight_extents", 2 * sweeper.groups, self.dtype)
        sums = memory.allocate("weight_sums", 2 * sweeper.groups, sum_type)
        program = load(
            device,
            "dynamic/weights.cl",
            config=SimpleNamespace(
                rows="blocks",
                wide_offsets=rows.wide,
                group_size=sweeper.group_size,
                lanes=device.traits.lanes,
            ),
            weight=OPENCL_TYPES[self.dtype.name],
            real=np.dtype(sum_type).name.replace("float64", "double").replace("float32", "float"),
            real_weights=self.real,
        )
        args = (rows.store.pointer, rows.store.used, held, np.uint32(rows.n), extents, sums)
        size = sweeper.group_size
        wait(program.kernel("weights_extent").launch(sweeper.groups * size, size, *args))
        found, totals = extents.read(), sums.read().astype(np.float64)
        self.least, self.largest = found[::2].min(), found[1::2].max()
        self.negative = bool(self.least < 0)
        self.finite = not totals[1::2].any()
        self._sum = float(totals[::2].sum())

    @cached_property
    def mean(self) -> float:
        """Mean weight; 1 without edges."""
        mean = self._sum / self._rows.m if self._rows.m else 1.0
        # The sum of many large doubles may be none; anything between the extents will do then.
        return mean if np.isfinite(mean) else float(self.largest) / 2
