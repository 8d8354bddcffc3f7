"""Batches of edges: checked, brought to the device, sorted, and compared with the graph."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.apart import apart
from clgraph.device import Allocation
from clgraph.dynamic.parts import Batch, Steps
from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph.arrays import as_array, as_index_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.device import Memory
    from clgraph.dynamic.storage.store import Field, Store
    from clgraph.dynamic.updating import Updater

__all__ = ["ABSENT", "ANY", "PRESENT", "Edges", "Marked", "as_edges", "as_fields", "key_bits"]

ABSENT, PRESENT, ANY = 0, 1, 2
MOST_EDGES = 2**30
ID_ON_DEVICE = np.dtype(np.uint32)
MOST_VERTICES = 2**31 - 1
FREE_VERTICES = 1 << 24  # as many as ids may imply without having edges to show for it
VERTICES_PER_EDGE = 64


@dataclass(slots=True)  # not frozen: that takes ten times as long to make
class Edges:
    """A batch as it was given: two arrays in host memory, or two on the device.

    Attributes
    ----------
    src, dst : uint32 array or Allocation
        Sources and targets.
    count : int
        Edges.
    largest : int or None
        The greatest id; None if that is not known yet.
    outside : int
        Edges that were left out because the graph has no such vertex.
    chosen : int array or None
        Which of the edges given are left; None if all are.
    """

    src: Any
    dst: Any
    count: int
    largest: int | None
    outside: int = 0
    chosen: Any = None

    @property
    def on_device(self) -> bool:
        """Whether the arrays are on the device."""
        return isinstance(self.src, Allocation)

    def on_host(self) -> Edges:
        """Give the same in host memory."""
        if not self.on_device:
            return self
        src, dst = self.src.read(), self.dst.read()
        return Edges(src, dst, self.count, _largest(src, dst))

    def below(self, n: int) -> Edges:
        """Give those between vertices below n; the rest counts as outside."""
        if self.largest is not None and self.largest < n:
            return self
        known = self.on_host()
        if known.largest is not None and known.largest < n:
            return self
        inside = np.flatnonzero((known.src < n) & (known.dst < n))
        src, dst = known.src[inside], known.dst[inside]
        left_out = known.count - len(inside)
        return Edges(src, dst, len(inside), _largest(src, dst), left_out, inside)


def key_bits(n: int) -> int:
    """Bits of a vertex in a key."""
    return max((n - 1).bit_length(), 1)


def _largest(src: Any, dst: Any) -> int:
    return max(int(src.max(initial=0)), int(dst.max(initial=0))) if len(src) else -1


def on_its_device(memory: Memory, values: Any, name: str, *, ids: bool = False) -> Any:
    """Give a pyopencl array of the device's as an `Allocation`; anything else as it is.

    Ids of int32 are read as uint32, so that negative ones are beyond all vertices.
    """
    arrays = sys.modules.get("pyopencl.array")  # nobody has one before it is imported
    if arrays is None or not isinstance(values, arrays.Array):
        return values
    held = memory.borrow(
        name, values.view(np.uint32) if ids and values.dtype == np.int32 else values
    )
    return values if held is None else held


def as_edges(memory: Memory, src: Any, dst: Any) -> Edges:
    """Check a batch.

    Parameters
    ----------
    memory : Memory
        Of the graph's device.
    src, dst : integer array-like [count]
        Sources and targets; an `Allocation`, or a pyopencl array of the device's, of uint32 is used
        where it is.

    Raises
    ------
    InvalidGraphError
        If they are not integers, not of one length, or an id is negative or too large.
    """
    if type(src) is not Allocation or type(dst) is not Allocation:
        src = on_its_device(memory, src, "src", ids=True)
        dst = on_its_device(memory, dst, "dst", ids=True)
    if isinstance(src, Allocation) or isinstance(dst, Allocation):
        if not (isinstance(src, Allocation) and isinstance(dst, Allocation)):
            raise InvalidArgumentError("src and dst must both be on the device, or both not.")
        # Whether they are the same object first: to compare types takes several times as long.
        if (src.dtype is not ID_ON_DEVICE and src.dtype != ID_ON_DEVICE) or (
            dst.dtype is not ID_ON_DEVICE and dst.dtype != ID_ON_DEVICE
        ):
            raise InvalidArgumentError(
                f"edges on the device are of uint32; got {src.dtype} and {dst.dtype}; "
                "convert them, or pass arrays in host memory."
            )
        count = src.count
        if count != dst.count or count > MOST_EDGES:
            _check_lengths(count, dst.count)
        return Edges(src, dst, count, None if count else -1)
    sources, targets = (
        as_index_array(np.atleast_1d(as_array(values, name)), name)
        for values, name in ((src, "src"), (dst, "dst"))
    )
    _check_lengths(len(sources), len(targets))
    if len(sources) and min(int(sources.min()), int(targets.min())) < 0:
        edge = int(np.flatnonzero((sources < 0) | (targets < 0))[0])
        raise InvalidGraphError(
            f"edge {edge} is {sources[edge]} -> {targets[edge]}; vertex ids must not be negative"
        )
    largest = _largest(sources, targets)
    if largest >= MOST_VERTICES:
        # As many as ids of 64 bits may be, so they cannot be told apart in 32.
        sources, targets = (np.minimum(ids, MOST_VERTICES) for ids in (sources, targets))
    return Edges(sources.astype(np.uint32), targets.astype(np.uint32), len(sources), largest)


def check_growth(edges: Edges, n: int) -> None:
    """Refuse ids that imply absurdly many vertices.

    Raises
    ------
    InvalidGraphError
        If there would be far more new vertices than edges, or 2**31 - 1 vertices or more.
    """
    largest = -1 if edges.largest is None else edges.largest
    if largest >= MOST_VERTICES:
        raise InvalidGraphError(
            f"the largest vertex id is {largest}; a dynamic graph numbers vertices below "
            f"{MOST_VERTICES}, so renumber them (numpy.unique with return_inverse=True)"
        )
    if largest >= n + max(FREE_VERTICES, VERTICES_PER_EDGE * edges.count):
        raise InvalidGraphError(
            f"the largest vertex id is {largest} but the graph has {n} vertices and the batch "
            f"{edges.count} edges; renumber the vertices, or call insert_vertices before"
        )


def _check_lengths(sources: int, targets: int) -> None:
    if sources != targets:
        raise InvalidGraphError(
            f"src has {sources} entries and dst has {targets}; each edge needs one of both"
        )
    if sources > MOST_EDGES:
        raise InvalidGraphError(
            f"a batch of {sources} edges is too long; give at most {MOST_EDGES} at a time"
        )


def by_name(properties: Any) -> Mapping[str, Any]:
    """Give values of edges by name of the field; nothing for None.

    Raises
    ------
    InvalidArgumentError
        If they have no names.
    """
    if properties is not None and not hasattr(properties, "items"):
        raise InvalidArgumentError(
            "properties have names: pass a dict of the values of each, one for every edge."
        )
    found: Mapping[str, Any] = properties or {}
    return found


def as_fields(
    memory: Memory, given: Mapping[str, Any], fields: tuple[Field, ...], count: int, *, all_of: bool
) -> dict[str, Any]:
    """Check the values of edges, by name of the field.

    Raises
    ------
    InvalidArgumentError
        If a name is unknown, one is missing, or values do not fit.
    """
    named = {name: values for name, values in given.items() if values is not None}
    if not named and not fields:
        return {}
    known = {field.name: field.dtype for field in fields}
    for name in named:
        if name not in known:
            has = f"has {', '.join(known)}" if known else "has no fields"
            raise InvalidArgumentError(f"edges of this graph have no {name!r}: it {has}.")
    missing = [name for name in known if name not in named]
    if all_of and missing:
        raise InvalidArgumentError(
            f"every edge of this graph has {missing[0]!r}; pass it for the new ones too."
        )
    return {
        name: _field_values(on_its_device(memory, values, name), name, known[name], count)
        for name, values in named.items()
    }


def _field_values(values: Any, name: str, dtype: np.dtype[Any], count: int) -> Any:
    """Give the values of one field as an array of its type, or as they are on the device."""
    if isinstance(values, Allocation):
        if values.count != count or values.dtype != dtype:
            raise InvalidArgumentError(
                f"{name!r} needs {dtype} for each of {count} edges; got {values.dtype} "
                f"[{values.count}] on the device."
            )
        return values
    array = np.atleast_1d(as_array(values, name))
    fits = array.shape == (count,) and array.dtype.kind in "iufb"
    if fits and not np.can_cast(array.dtype, dtype, "same_kind"):
        # Whole numbers, and others of another kind, if nothing of them gets lost.
        kept = apart(np.errstate(invalid="ignore")(lambda: array.astype(dtype).astype(array.dtype)))
        fits = bool((kept == array).all())
    if not fits:
        raise InvalidArgumentError(
            f"{name!r} needs {dtype} for each of {count} edges; got {array.dtype} of shape "
            f"{array.shape}."
        )
    array = np.ascontiguousarray(array.astype(dtype))
    if name == "weights" and dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidArgumentError("weights must be finite; drop or replace the others.")
    return array


@dataclass(frozen=True, slots=True)
class Marked:
    """Sorted keys of a batch, and which of them are wanted.

    Attributes
    ----------
    keys, order : Allocation
        As of a `Batch`, but of all edges given.
    count : int
        Keys.
    mask, place : Allocation
        Which are wanted; where in the rows those are that are there.
    different, wanted : int
        Edges that differ from each other, and those of them that are wanted.
    kept : int
        Keys of wanted edges.
    """

    keys: Allocation
    order: Allocation | None
    count: int
    mask: Allocation
    place: Allocation
    different: int
    wanted: int
    kept: int


def marked(
    updater: Updater,
    steps: Steps,
    store: Store,
    edges: Edges,
    want: int,
    *,
    both: bool,
    backwards: bool = False,
) -> Marked | int:
    """Sort a batch, and compare it with the graph.

    Parameters
    ----------
    updater : Updater
        Does it.
    steps : Steps
        Notes the launches.
    store : Store
        The graph.
    edges : Edges
        The batch; not empty.
    want : {ABSENT, PRESENT, ANY}
        Which edges are wanted.
    both : bool
        Whether each edge stands for both directions.
    backwards : bool
        Whether of equal edges the last is wanted, not the first.

    Returns
    -------
    Marked or int
        The greatest id instead if that is no vertex of the graph.
    """
    work, kernels = updater.work, updater.kernels
    src, dst = edges.src, edges.dst
    if not edges.on_device:
        src, dst = work.upload("batch_src", src), work.upload("batch_dst", dst)
    count, bits = edges.count * (2 if both else 1), key_bits(store.n)
    keys = work.array("batch_keys", count, np.uint64)
    largest = work.array("largest", 1, np.uint32)
    largest.clear()
    carried = bool(updater.fields)
    order = work.array("batch_order", count, np.uint32) if carried else None
    flags = (np.uint32(bits), np.uint32(both), np.uint32(backwards))
    outputs = (keys, largest) if order is None else (keys, order, largest)
    args = (src, dst, np.uint32(edges.count), *flags, *outputs)
    kernels.launch(steps["keys"], "batch_keys", edges.count, *args)
    if edges.largest is None:
        found = int(largest.read(1)[0])
        if found >= store.n:
            return found
    keys, order = updater.sort.enqueue(steps["sort"], keys, count, order, bits=2 * bits)
    batch = Batch(keys, order, count)
    place = work.array("place", count, updater.offset)
    mask = work.array("mask", count, np.uint8)
    tally = work.array("tally", 3, np.uint32)
    tally.clear()
    head = (keys, np.uint32(count), np.uint32(bits), np.uint32(both), np.uint32(want))
    where: tuple[Allocation, ...]
    if updater.ordered:
        where = (store.pointer, store.used, store.pools[0], place)
    elif want == ANY or not store.m:
        there = work.array("there", count, np.uint8)
        there.clear()
        where = (there,)
    else:
        there, place = updater.lookup.find(steps, store, batch, bits)
        where = (there,)
    kernels.launch(steps["check"], "batch_mark", count, *head, *where, mask, tally)
    different, wanted, kept = tally.read(3).tolist()
    return Marked(keys, order, count, mask, place, different, wanted, kept)


def cleaned(updater: Updater, steps: Steps, found: Marked) -> Batch:
    """Keep the keys that are wanted."""
    work = updater.work
    kept = work.array("clean_keys", found.count, np.uint64)
    pairs = [(found.keys, kept)]
    order = None
    if found.order is not None:
        order = work.array("clean_order", found.count, np.uint32)
        pairs.append((found.order, order))
    updater.compaction.enqueue(steps["check"], found.mask, found.count, *pairs)
    return Batch(kept, order, found.kept)
