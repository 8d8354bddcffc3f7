"""What a dynamic graph consists of at one moment, and the launches that work on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.lazy import cl
from clgraph.dynamic.storage.sizes import CLASSES
from clgraph.engine.sweeps import LazyKernels
from clgraph.errors import InvalidGraphError
from clgraph.primitives.launches import MOVED

if TYPE_CHECKING:
    from clgraph.device import Allocation, Device
    from clgraph.dynamic.parts import Rows
    from clgraph.dynamic.storage.blocks import Blocks
    from clgraph.dynamic.storage.freelists import FreeLists
    from clgraph.dynamic.updating import Updater
    from clgraph.engine.sweeps import SweepLog

__all__ = ["Field", "Held", "Kernels", "Spare", "Store", "copied"]

MOST_NARROW = 2**32 - 2**20


@dataclass(frozen=True, slots=True)
class Field:
    """A value that every edge has beside its target: name and type."""

    name: str
    dtype: np.dtype[Any]


@dataclass(slots=True)  # not frozen: that takes ten times as long to make
class Store:
    """Rows in blocks of a pool.

    Nothing of it changes once a graph holds it, but for updates in place: after one, what was held
    before is not to be used.

    Attributes
    ----------
    n, m : int
        Vertices and stored arcs.
    pointer : Allocation
        uint32 or uint64, at least n: where in the pool a row begins; all ones without a block.
    used : Allocation
        uint32, at least n: the length of a row.
    pools : tuple of Allocation
        Targets as uint32, then the fields, all of the same number of entries.
    blocks : Blocks or FreeLists
        Which blocks are in use.
    parallel : bool
        Whether rows may hold an edge more than once.
    """

    n: int
    m: int
    pointer: Allocation
    used: Allocation
    pools: tuple[Allocation, ...]
    blocks: Blocks | FreeLists
    parallel: bool

    @property
    def entries(self) -> int:
        """Entries that the pool has room for."""
        return self.blocks.slots * self.blocks.block_edges

    def check_narrow(self) -> None:
        """Refuse blocks that have grown beyond what places in them can count.

        Raises
        ------
        InvalidGraphError
            If places of 32 bits do not tell all entries apart.
        """
        if self.entries > MOST_NARROW and self.pointer.dtype == np.uint32:
            raise InvalidGraphError(
                f"the graph has grown to blocks of {self.entries} entries, beyond what 32 bits "
                "count; make another DynamicGraph of to_graph(), which then takes 64."
            )


@dataclass(frozen=True, slots=True)
class Spare:
    """Arrays that no store needs: the next one may have them."""

    pointer: Allocation | None = None
    used: Allocation | None = None
    pools: tuple[Allocation, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of all."""
        arrays = [self.pointer, self.used, *self.pools]
        return sum(array.size_bytes for array in arrays if array is not None)


@dataclass(slots=True)  # not frozen: that takes ten times as long to make
class Held:
    """All that a graph refers to; a change replaces it whole.

    Attributes
    ----------
    updater : Updater
        What makes the next store of this one.
    store, spare : Store, Spare
        The rows, and arrays for the next change.
    version : int
        Changes so far.
    vertex_fields : dict of str to Allocation
        What vertices have.
    states : dict
        What followers know of this version; None where it is to be found anew.
    """

    updater: Updater
    store: Store
    spare: Spare
    version: int
    vertex_fields: dict[str, Allocation]
    states: dict[Any, Any]

    def changed(self, store: Store, spare: Spare, **others: Any) -> Held:
        """Give what follows this one."""
        return replace(self, store=store, spare=spare, version=self.version + 1, **others)


class Kernels(LazyKernels):
    """The kernels of a dynamic graph."""

    def __init__(
        self, device: Device, fields: tuple[Field, ...], *, ordered: bool, wide: bool
    ) -> None:
        self.offset = np.dtype(np.uint64 if wide else np.uint32)
        batch = {"ordered": ordered, "carried": bool(fields), "value": "uint"}
        rows = {
            "ordered": ordered,
            "listed": False,
            "fields": tuple(MOVED[field.dtype.itemsize] for field in fields),
            "CLASSES": CLASSES,
        }
        files = {"batch": ("dynamic/batch.cl", batch), "rows": ("dynamic/rows.cl", rows)}
        super().__init__(device, files, wide=wide)

    def launch_rows(self, log: SweepLog, name: str, items: int, rows: Rows, *args: Any) -> None:
        """Enqueue a kernel about all rows, or about those that are listed."""
        params = {} if rows.listed is None else {"listed": True}
        self.launch(log, name, items, *rows.args, *args, **params)


def copied(source: Allocation, target: Allocation, count: int) -> cl.Event:
    """Enqueue copying the first elements of an array to another one of the same type."""
    queue = source._device.queue  # noqa: SLF001 (an allocation has no other way to tell)
    size = max(count, 1) * source.dtype.itemsize  # copies of nothing are refused
    return cl.enqueue_copy(queue, target.buffer, source.buffer, byte_count=size)
