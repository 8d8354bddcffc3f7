"""How a store becomes the next one: by moving the rows that change, or by writing all rows anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Memory
from clgraph.dynamic.inplace import InPlace
from clgraph.dynamic.lookup import Lookup
from clgraph.dynamic.parts import Batch, Rows, Steps
from clgraph.dynamic.storage.blocks import Blocks, NoRoomError
from clgraph.dynamic.storage.freelists import FreeLists
from clgraph.dynamic.storage.sizes import CLASSES, Sizes
from clgraph.dynamic.storage.store import Kernels, Spare, Store, copied
from clgraph.engine.workspace import Workspace
from clgraph.primitives.radix import RadixSort
from clgraph.primitives.scanning import Compaction, Scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.device import Allocation, Device
    from clgraph.dynamic.storage.columns import Columns
    from clgraph.dynamic.storage.freelists import Outcome

__all__ = ["JOIN", "LEAVE", "STAY", "Updater"]

STAY, JOIN, LEAVE = 0, 1, 2
GROWTH = 1.5
NOWHERE = {4: 2**32 - 1, 8: 2**64 - 1}


class Updater:
    """Launches that make one store of another.

    Parameters
    ----------
    device : Device
        Where.
    columns : Columns
        What edges have, and how it lies.
    ordered : bool
        Whether rows ascend.
    least : int
        Entries of the smallest block.
    wide : bool
        Whether places in the pool take 64 bits.
    """

    def __init__(
        self, device: Device, columns: Columns, *, ordered: bool, least: int, wide: bool
    ) -> None:
        self.device = device
        self.memory = Memory(device)
        self.columns = columns
        self.fields = fields = columns.stored
        self.ordered = ordered
        self.least = least
        self.kernels = Kernels(device, fields, ordered=ordered, wide=wide)
        self.offset = self.kernels.offset
        self.work = Workspace(device, growing=True)
        self.compaction = Compaction(device)
        self.scan = Scan(device, self.offset)
        self.lookup = Lookup(self.kernels, self.work, self.compaction, self.scan)
        carried = np.uint32 if fields else None
        self.sort = RadixSort(device, np.uint64, carried)
        self._by_class = RadixSort(device, np.uint32, np.uint32)
        self.in_place = InPlace(device, fields, least, self.offset)

    @property
    def _scratch(self) -> tuple[Workspace | InPlace, ...]:
        stages = (self.compaction, self.scan, self.sort, self._by_class)
        return (self.work, self.in_place, *stages)

    def release(self) -> None:
        """Let go of all scratch memory."""
        for each in self._scratch:
            each.release()

    @property
    def scratch_bytes(self) -> int:
        """Bytes of all scratch memory."""
        return sum(each.size_bytes for each in self._scratch)

    def rewritten(
        self,
        steps: Steps,
        store: Store,
        spare: Spare,
        batch: Batch | None,
        way: int,
        bits: int,
        *,
        kept: Allocation | None = None,
    ) -> tuple[Store, Spare]:
        """Write all rows anew, each class of block sizes one after the other.

        Parameters
        ----------
        steps : Steps
            Notes the launches.
        store, spare : Store, Spare
            What there is.
        batch : Batch or None
            What joins or leaves.
        way : {STAY, JOIN, LEAVE}
            Which of the two.
        bits : int
            Of a target in a key.
        kept : Allocation, optional
            1 for each entry that stays, in the order of rows, and a 0; scanned here.

        Returns
        -------
        Store, Spare
            The next ones; what was given is as it was, but the spare arrays have been written to.
        """
        n = store.n
        nothing = self.work.array("nothing", 1, np.uint32)
        rows = Rows(n, nothing) if batch is None else self.lookup.every_row(steps, batch, bits, n)
        sums, total = self.lookup.sums(steps, store, rows)
        used = self._suits(spare.used, n, "row_lengths", np.uint32)
        m = store.m + (0 if batch is None else batch.count if way == JOIN else -batch.count)
        if batch is not None and way == LEAVE and (store.parallel or not self.ordered):
            kept = self.lookup.kept(steps, store, batch, rows, (sums, total), bits)
        if kept is not None:
            m = self.lookup.shrunk(steps, rows, (sums, total), kept, used)
        elif batch is None:
            log = steps["place"]
            event = copied(store.used, used, n)
            log.add(event, event)
        else:
            sign = np.int32(1 if way == JOIN else -1)
            args = (store.used, rows.first, sign, used)
            self.kernels.launch_rows(steps["place"], "rows_grow", n, rows, *args)
        pointer = self._suits(spare.pointer, n, "row_pointers", self.offset)
        blocks, pools = self._laid_out(steps, n, used, pointer, spare, store.blocks.block_edges)
        made = Store(n, m, pointer, used, pools, blocks, store.parallel)
        self._fill(steps, store, made, batch, rows, (sums, total), way, bits, kept)
        return made, Spare(store.pointer, store.used, store.pools)

    def moved(
        self, steps: Steps, store: Store, spare: Spare, batch: Batch, way: int, bits: int
    ) -> tuple[Store, Spare]:
        """Move the rows that a batch touches to other blocks, and leave the rest where it is.

        Parameters, Returns
            As for `rewritten`.
        """
        rows = self.lookup.touched(steps, batch, bits)
        sums, total = self.lookup.sums(steps, store, rows)
        lengths = self.work.array("lengths", rows.count, np.uint32)
        kept = None
        m = store.m + (batch.count if way == JOIN else -batch.count)
        if way == LEAVE and (store.parallel or not self.ordered):
            kept = self.lookup.kept(steps, store, batch, rows, (sums, total), bits)
            m = store.m - total + self.lookup.shrunk(steps, rows, (sums, total), kept, lengths)
        else:
            sign = np.int32(1 if way == JOIN else -1)
            args = (store.used, rows.first, sign, lengths)
            self.kernels.launch_rows(steps["rows"], "rows_grow", rows.count, rows, *args)
        places = self.work.array("places", rows.count, self.offset)
        self.kernels.launch_rows(
            steps["rows"], "rows_places", rows.count, rows, store.pointer, places
        )
        old = places.read(rows.count)
        new_lengths = lengths.read(rows.count)
        blocks, found, pools = self._new_blocks(steps, store, old, new_lengths)
        places.write(found)
        pointer = self._suits(spare.pointer, store.n, "row_pointers", self.offset)
        used = self._suits(spare.used, store.n, "row_lengths", np.uint32)
        log = steps["place"]
        for source, target in ((store.pointer, pointer), (store.used, used)):
            event = copied(source, target, store.n)
            log.add(event, event)
        self.kernels.launch_rows(log, "rows_set", rows.count, rows, places, lengths, pointer, used)
        made = Store(store.n, m, pointer, used, pools, blocks, store.parallel)
        self._fill(steps, store, made, batch, rows, (sums, total), way, bits, kept)
        return made, Spare(store.pointer, store.used, spare.pools)

    def _new_blocks(
        self, steps: Steps, store: Store, old: Any, lengths: Any
    ) -> tuple[Blocks, Any, tuple[Allocation, ...]]:
        """Take a block for every row that is not empty, then give the old ones back."""
        blocks, pools = store.blocks.fork(), store.pools
        classes = Sizes(blocks.block_edges, self.least).numbers(lengths)
        found = np.full(len(lengths), NOWHERE[self.offset.itemsize], self.offset)
        for number in np.unique(classes[classes >= 0]).tolist():
            mine = np.flatnonzero(classes == number)
            try:
                found[mine] = blocks.take(number, len(mine))
            except NoRoomError:
                wanted = Blocks.slots_for(blocks.block_edges, number, len(mine))
                blocks.extend(max(wanted, int(blocks.slots * (GROWTH - 1))))
                pools = self._larger(steps, pools, blocks.slots * blocks.block_edges)
                found[mine] = blocks.take(number, len(mine))
        blocks.give_back(old[old != NOWHERE[self.offset.itemsize]].astype(np.int64))
        return blocks, found, pools

    def listed(self, store: Store, keys: int) -> FreeLists:
        """Give the free blocks of a store as lists on the device."""
        if isinstance(store.blocks, FreeLists):
            return store.blocks
        return FreeLists.of(self.device, store.blocks, keys, self.offset)

    def enlarged(self, steps: Steps, store: Store, lists: FreeLists, outcome: Outcome) -> Store:
        """Give a store with the blocks that a refused batch asked for."""
        lists = lists.enlarged(outcome, int(lists.slots * (GROWTH - 1)))
        pools = store.pools
        if lists.slots * lists.block_edges > pools[0].count:
            pools = self._larger(steps, pools, lists.slots * lists.block_edges)
        return replace(store, blocks=lists, pools=pools)

    def _larger(
        self, steps: Steps, pools: tuple[Allocation, ...], entries: int
    ) -> tuple[Allocation, ...]:
        made = []
        for pool in pools:
            larger = self.memory.allocate(pool.name, entries, pool.dtype)
            event = copied(pool, larger, pool.count)
            steps["place"].add(event, event)
            made.append(larger)
        return tuple(made)

    def _laid_out(
        self,
        steps: Steps,
        n: int,
        used: Allocation,
        pointer: Allocation,
        spare: Spare,
        block_edges: int,
    ) -> tuple[Blocks, tuple[Allocation, ...]]:
        """Give every row a block in the order of sizes, and pools that have room for them."""
        log, count = steps["place"], np.uint32(n)
        names = ("classes", "vertices", "sorted_classes", "sorted_vertices")
        arrays = [self.work.array(name, n, np.uint32) for name in names]
        sizes = Sizes(block_edges, self.least)
        about = (count, np.uint32(self.least), np.uint32(sizes.bits))
        self.kernels.launch(log, "rows_classes", n, used, *about, *arrays[:2])
        totals = self._by_class.one_pass(log, n, (arrays[0], arrays[1]), (arrays[2], arrays[3]))
        counts = totals.read(CLASSES).tolist()[1:]
        needed = sum(Blocks.slots_for(block_edges, k, c) for k, c in enumerate(counts) if c)
        held = min((pool.count for pool in spare.pools), default=0) // block_edges
        pools = spare.pools
        if not pools or held < needed:
            held, pools = needed, self._new_pools(needed * block_edges)
        blocks, bases = Blocks.laid_out(block_edges, counts, held - needed)
        begins = np.zeros((2, CLASSES), np.uint64)
        begins[0, 1:] = bases
        begins[1, 1:] = [sizes.entries(k) for k in range(CLASSES - 1)]
        held_bases = self.work.upload("bases", begins.astype(self.offset).ravel())
        args = (arrays[2], arrays[3], count, totals, held_bases, pointer)
        self.kernels.launch(log, "rows_place", n, *args)
        return blocks, pools

    def _new_pools(self, entries: int) -> tuple[Allocation, ...]:
        kinds = [("targets", np.dtype(np.uint32)), *((one.name, one.dtype) for one in self.fields)]
        return tuple(self.memory.allocate(name, entries, dtype) for name, dtype in kinds)

    def _suits(self, array: Allocation | None, count: int, name: str, dtype: Any) -> Allocation:
        if array is not None and array.count >= count:
            return array
        return self.memory.allocate(name, count, dtype)

    def _fill(  # noqa: PLR0913, PLR0917 (all that an entry's place depends on)
        self,
        steps: Steps,
        store: Store,
        made: Store,
        batch: Batch | None,
        rows: Rows,
        entries: tuple[Allocation, int],
        way: int,
        bits: int,
        kept: Allocation | None,
    ) -> None:
        """Copy the entries that stay, and those of the batch."""
        log = steps["copy"]
        sums, total = entries
        span = (self.offset.type(total), sums)
        pointers = (store.pointer, made.pointer)
        if kept is not None:
            args = (*span, kept, *pointers, *store.pools, *made.pools)
            self.kernels.launch_rows(log, "rows_filter", total, rows, *args)
            return
        keys = store.pools[0] if batch is None else batch.keys
        about = (keys, rows.first, np.uint32(bits), np.uint32(STAY if batch is None else way))
        args = (*span, *pointers, *about, *store.pools, *made.pools)
        self.kernels.launch_rows(log, "rows_move", total, rows, *args)
        if batch is not None and way == JOIN:
            given = (batch.keys, np.uint32(batch.count), np.uint32(bits))
            carried = () if batch.order is None else (batch.order, *batch.values)
            where = (store.pointer, store.used, made.pointer, store.pools[0])
            self.kernels.launch(
                log, "rows_join", batch.count, *given, *where, *carried, *made.pools
            )

    def alive(
        self, steps: Steps, store: Store, dead: NDArray[np.uint8], *, both: bool
    ) -> tuple[Allocation, int]:
        """Find the entries neither end of which is dead: 1 for each, and a 0; count the others.

        Of an undirected graph, where an edge is two entries or one, edges are counted.
        """
        rows = Rows(store.n, self.work.array("nothing", 1, np.uint32))
        sums, _ = self.lookup.sums(steps, store, rows)
        kept = self.work.array("kept", store.m + 1, self.offset)
        tally = self.work.array("tally", 2, np.uint32)
        tally.clear()
        span = (self.offset.type(store.m), sums)
        where = (store.pointer, store.pools[0], self.work.upload("dead", dead))
        args = (*span, *where, np.uint32(both), kept, tally)
        self.kernels.launch_rows(steps["check"], "rows_alive", store.m, rows, *args)
        return kept, int(tally.read(1)[0])

    def packed(self, steps: Steps, store: Store) -> tuple[Allocation, tuple[Allocation, ...]]:
        """Give where rows begin, and the pools' entries row after row, in arrays of their own."""
        rows = Rows(store.n, self.work.array("nothing", 1, np.uint32))
        sums = self.memory.allocate("indptr", store.n + 1, self.offset)
        self.kernels.launch_rows(steps["rows"], "rows_lengths", store.n + 1, rows, store.used, sums)
        self.scan.enqueue(steps["rows"], sums, store.n + 1, sums)
        pools = tuple(self.memory.allocate(pool.name, store.m, pool.dtype) for pool in store.pools)
        args = (self.offset.type(store.m), sums, store.pointer, *store.pools, *pools)
        self.kernels.launch_rows(steps["copy"], "rows_pack", store.m, rows, *args)
        return sums, pools

    def grown(self, steps: Steps, store: Store, n: int) -> Store:
        """Give a store with more vertices, in vertex arrays of its own; rows are shared."""
        room = max(n, int(store.n * GROWTH))
        pointer = self.memory.allocate("row_pointers", room, self.offset)
        used = self.memory.allocate("row_lengths", room, np.uint32)
        args = (store.pointer, store.used, np.uint32(store.n), np.uint32(n), pointer, used)
        self.kernels.launch(steps["place"], "rows_copy", n, *args)
        return replace(store, n=n, pointer=pointer, used=used)
