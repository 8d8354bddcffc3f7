"""Updates in one launch, which take and return blocks on the device."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from clgraph.device import Memory, can_post, load, resident_groups
from clgraph.dynamic.storage.freelists import POST, WORDS
from clgraph.engine.workspace import Workspace
from clgraph.primitives import group_size
from clgraph.primitives.launches import MOVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.device import Allocation, Device, Kernel
    from clgraph.device.programs.kernel import Argument
    from clgraph.dynamic.current import InPlaceBatch
    from clgraph.dynamic.parts import Steps
    from clgraph.dynamic.storage.store import Field

    # What arguments are about, all of them, and a stamp.
    Bound: TypeAlias = tuple[tuple[object, ...], list[Argument], object]

__all__ = ["COMMIT", "InPlace", "Shape"]

BOX = 2048  # keys that a work-group sorts in its local memory; fewer where they do not fit
LEAST_STRIDE = 256
ROOM_OVER_MEAN = 8  # keys are not spread evenly
KEYS_AIMED_AT = 256  # of a box: log2 steps of its sort, and rows enough to keep a group busy
MOST_BOXES = 1 << 13
GROUPS_PER_UNIT = 4  # a barrier of more work-groups takes twice as long
CPU_GROUPS_PER_UNIT = 16
MOVED_AT_ONCE = 4  # entries that a lane asks for before it looks at the first
SPIN_LIMIT = 1 << 22
MOST_NUMBERS = 1000
FAR = 1 << 62
NEVER_READY = (0, 0, 0, None)
SCATTER, PROCESS, MOVE, COMMIT = 1, 2, 4, 8
# Beside the stages in one word, since to hand over another argument takes longer than to unpack it:
# whether edges join, and which of two counts to write: another than that of the batch before.
WHAT = {"JOINS": 16, "ODD": 32}
JOINS, ODD = WHAT.values()
# A row of more entries is moved by all work-groups, in pieces: one moves 4,000 in the time that all
# need to meet once more. (Beyond a few pieces each it is as well to be even.)
LONG_ROW, PIECE = 1024, 1024
# Places of the kernel's arguments that are others in every batch: what to do, and both ends; and
# the first of the values of fields, each before its pool.
WHAT_AT, ENDS_AT, VALUES_AT = 0, 3, 24
ENDS = (WHAT_AT, ENDS_AT, ENDS_AT + 1)
STAGES = {SCATTER: "boxes", PROCESS: "rows", MOVE: "long rows", COMMIT: "commit"}
ALL_STAGES = sum(STAGES)
KEY_BYTES = 12  # of a key and where its row's begin; beside them an offset
BESIDE_BYTES = 2048  # of local memory, for all else: counts of blocks by size, most of it
ROW_WORDS = {4: 6, 8: 8}  # of what is noted of a row, by the bytes of an offset
LONG_ROW_WORDS = 4
_log = logging.getLogger("clgraph")


@dataclass(frozen=True, slots=True)
class Shape:
    """How the keys of a batch are shared out to boxes.

    Attributes
    ----------
    keys : int
        Of the batch, both directions of an edge counted.
    bits, place_bits : int
        Of a target, and of a key's number.
    span, boxes, stride : int
        Rows of a box, boxes, and the keys that one has room for.
    """

    keys: int
    bits: int
    place_bits: int
    span: int
    boxes: int
    stride: int

    @classmethod
    def of(cls, keys: int, n: int, groups: int, box: int) -> Shape | None:
        """Give the shape for a batch; None if it is too large to be taken so."""
        boxes = groups * -(-keys // (groups * min(KEYS_AIMED_AT, box // 4)))
        span = max(-(-n // boxes), 1)
        boxes = -(-n // span)
        mean = -(-keys // boxes)
        if boxes > MOST_BOXES or 2 * mean > box:
            return None
        stride = min(max(1 << (ROOM_OVER_MEAN * mean - 1).bit_length(), LEAST_STRIDE), box)
        bits, place_bits = max((n - 1).bit_length(), 1), max((keys - 1).bit_length(), 1)
        if (span - 1).bit_length() + bits + place_bits > 63:
            return None
        return cls(keys, bits, place_bits, span, boxes, stride)


class InPlace:
    """The kernel that brings a batch into a graph's rows, and its scratch memory.

    Parameters
    ----------
    device : Device
        Where.
    fields : tuple of Field
        What edges have.
    least : int
        Entries of the smallest block.
    offset : dtype
        Of places in the pool.

    Attributes
    ----------
    together : bool
        Whether all stages are one launch; where work-groups cannot wait for each other, each stage
        is one.
    posts : bool
        Whether the kernel tells the host what it counted.
    too_many_from : int
        Edges from which on batches had more keys for a box than fit; batches that follow each other
        are alike, so others as large are not tried unless they have to be.
    """

    def __init__(self, device: Device, fields: tuple[Field, ...], least: int, offset: Any) -> None:
        self.device = device
        self.together = device.traits.grid_barrier
        self.posts = can_post(device)
        self.too_many_from = FAR
        self._offset = np.dtype(offset)
        room = device.traits.local_bytes - BESIDE_BYTES
        box = BOX
        while box * (KEY_BYTES + self._offset.itemsize) > room:
            box //= 2
        self.box = box
        self._group_size = group_size(device.traits)
        self._params: dict[str, Any] = {
            "group_size": self._group_size,
            "offset": "uint" if self._offset.itemsize == 4 else "ulong",
            "fields": tuple(MOVED[field.dtype.itemsize] for field in fields),
            "least": least,
            "box": box,
            "at_once": 1 if device.traits.lanes == 1 else MOVED_AT_ONCE,
            "long_row": LONG_ROW,
            "piece": PIECE,
            "posts": self.posts,
            "words": WORDS | WHAT | POST,
        }
        values = range(VALUES_AT, VALUES_AT + 2 * len(fields), 2)
        self._changing = (*ENDS, *values)
        self.work = Workspace(device, growing=True)
        self._filled: Allocation | None = None
        self._kernel: Kernel | None = None
        self._groups = 0
        self._numbers: dict[int, np.uint32] = {}
        # Of the batch before, since many of a kind follow each other.
        self._bound: Bound | None = None
        self._last_shape: tuple[int, int, Shape | None] = (0, 0, None)
        self._last_ready: tuple[int, int, int, Shape | None] = NEVER_READY
        self._scratch: tuple[Shape, tuple[Allocation, ...]] | None = None

    def _number(self, value: int) -> np.uint32:
        """Give a scalar argument, the same object every time: it is handed over only once."""
        held = self._numbers.get(value)
        if held is None:
            if len(self._numbers) >= MOST_NUMBERS:
                self._numbers.clear()
            held = self._numbers[value] = np.uint32(value)
        return held

    @property
    def size_bytes(self) -> int:
        """Bytes of scratch memory."""
        return self.work.size_bytes + (self._filled.size_bytes if self._filled else 0)

    def release(self) -> None:
        """Let go of scratch memory."""
        self.work.release()
        self._filled = self._scratch = None
        self._last_ready = NEVER_READY
        self.forget()

    @property
    def groups(self) -> int:
        """Work-groups of a launch."""
        if self._kernel is None:
            traits = self.device.traits
            kernel = load(self.device, "dynamic/update.cl", **self._params).kernel("update_rows")
            wanted = traits.compute_units * (
                CPU_GROUPS_PER_UNIT if traits.is_cpu else GROUPS_PER_UNIT
            )
            if self.together:
                wanted = min(wanted, resident_groups(self.device, kernel, self._group_size))
            self._groups = max(wanted, 1)
            self._kernel = kernel
        return self._groups

    def ready(self, keys: int, n: int, entries: int) -> Shape | None:
        """Give the shape of a batch, and take its scratch memory; the pool has so many entries."""
        last = self._last_ready
        if last[0] != keys or last[1] != n or last[2] != entries:
            shape = self.shape(keys, n)
            self._last_ready = NEVER_READY  # an exception may leave half of the arrays replaced
            if shape is not None:
                self.prepare(shape, entries)
            last = self._last_ready = keys, n, entries, shape
        return last[3]

    def shape(self, keys: int, n: int) -> Shape | None:
        """How a batch of so many keys is shared out; None if it is too large for that."""
        last = self._last_shape
        if (last[0] != keys or last[1] != n) and n:
            groups = self.groups
            if self.device.traits.is_cpu:
                groups = min(groups, -(-keys // KEYS_AIMED_AT))
            last = self._last_shape = keys, n, Shape.of(keys, n, groups, self.box)
        return last[2] if n else None

    def prepare(self, shape: Shape, entries: int) -> None:
        """Take the scratch memory for a batch, and a pool of so many entries."""
        if self._filled is None or self._filled.count < shape.boxes:
            filled = Memory(self.device).allocate("box_counts", shape.boxes, np.uint32)
            filled.clear()
            self._filled = filled
        array, long_rows = self.work.array, min(entries // LONG_ROW + 1, shape.keys)
        scratch = (
            self._filled,
            array("boxed_keys", shape.boxes * shape.stride, np.uint64),
            array("box_shares", 2 * shape.boxes, np.uint32),
            array("row_changes", shape.keys * ROW_WORDS[self._offset.itemsize], np.uint32),
            array("row_places", shape.keys, np.uint32),
            array("long_rows", LONG_ROW_WORDS * long_rows, np.uint32),
        )
        self._scratch = shape, scratch

    def reset(self) -> None:
        """Make scratch memory as it was before a batch that did not come to its end."""
        if self._filled is not None:
            self._filled.clear()

    def launch(self, steps: Steps, batch: InPlaceBatch, stages: Sequence[int] = ()) -> None:
        """Enqueue the stages of a batch, for which `ready` was called.

        Parameters
        ----------
        steps : Steps
            Notes the launches.
        batch : InPlaceBatch
            What to bring in.
        stages : sequence of int, optional
            Sums of stages, each a launch; default all in one, or each in its own.
        """
        way = (JOINS if batch.joins else 0) + (ODD if batch.lists.parity else 0)
        kernel, posts = self._kernel, self.posts and self.together and not stages
        assert kernel is not None  # noqa: S101 (groups has built it)
        if posts:
            batch.stamp = word = ALL_STAGES + way
            if kernel.again_with(self._bound_to(batch)[2], word, self._owned(batch)):
                return
        args, stamp = self._arguments(batch)
        size = self._groups * self._group_size
        for stage in stages or ((ALL_STAGES,) if self.together else STAGES):
            args[WHAT_AT] = np.uint32(stage + way)
            event = kernel.launch_bound(size, self._group_size, args, self._changing, stamp)
            if not posts:  # else the kernel tells the times too
                steps[STAGES.get(stage, "update")].add(event, event)
        for place in self._changing[1:]:
            args[place] = args[WHAT_AT]  # the arrays of a batch are its owner's

    def _owned(self, batch: InPlaceBatch) -> tuple[tuple[int, Allocation], ...]:
        """Give the arrays of the batch, each with its place among the arguments."""
        src, dst = batch.ends
        ends = ((ENDS_AT, src), (ENDS_AT + 1, dst))
        if len(self._changing) == len(ENDS):
            return ends
        values = batch.values or batch.store.pools[1:]
        return (*ends, *zip(self._changing[len(ENDS) :], values, strict=True))

    def _arguments(self, batch: InPlaceBatch) -> tuple[list[Argument], object]:
        """Give what the kernel takes for a batch, and a stamp of what stays the same."""
        _, args, stamp = self._bound_to(batch)
        for place, array in self._owned(batch):
            args[place] = array
        return args, stamp

    def _bound_to(self, batch: InPlaceBatch) -> Bound:
        """Give the arguments for a batch and the others of its kind, but for what changes."""
        shape, store, lists, scratch = batch.shape, batch.store, batch.lists, self._scratch
        about = (shape, scratch, lists.handles, store.pointer, store.used, store.pools)
        bound = self._bound
        if bound is None or bound[0] != about:
            assert scratch is not None  # noqa: S101 (prepare has taken it)
            u4, zero = self._number, np.uint32(0)
            numbers = [batch.count, store.n, shape.bits, shape.place_bits, int(batch.both)]
            numbers += [shape.span, shape.boxes, shape.stride, lists.sizes.bits]
            carried: list[Argument] = [each for pool in store.pools[1:] for each in (zero, pool)]
            made: list[Argument] = [zero, u4(SPIN_LIMIT), lists.control, *(zero for _ in ENDS[1:])]
            made += [*map(u4, numbers), *scratch[1], lists.handles, lists.lists]
            made += [store.pointer, store.used, *carried, store.pools[0]]
            if self.posts:
                assert lists.posted is not None  # noqa: S101 (by the same rule)
                made.append(lists.posted.address)
            bound = self._bound = about, made, object()
        return bound

    def forget(self) -> None:
        """Let go of the rows and the batch that came last."""
        self._bound = None

    def note_crowded(self, edges: int) -> None:
        """Note that a batch of so many edges did not fit."""
        self.too_many_from = min(self.too_many_from, edges)

    def part_ways(self) -> None:
        """Make every stage a launch of its own, since work-groups waited in vain.

        They wait only where the device runs all of them at once, so this is for drivers that break
        that promise.
        """
        _log.warning("work-groups waited for each other in vain; updates take a launch a stage now")
        self.together = False
