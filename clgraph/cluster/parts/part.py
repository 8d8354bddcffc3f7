"""What one device of a cluster holds and launches, whatever it sends to others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.bfs.stages import UNREACHED, likely_kept
from clgraph.cluster.parts.partition import RANGE_GRAIN
from clgraph.device import Memory, Mirror, load, resident_groups
from clgraph.engine.resident import offsets_dtype
from clgraph.engine.resolved import QUEUE_SLACK
from clgraph.engine.state import (
    QUEUE_PAYLOAD,
    SLOT_WORDS,
    STATE_WORDS,
    WORD_COUNT,
    stage_fields,
)
from clgraph.errors import InvalidArgumentError, QueueOverflowError
from clgraph.graph.csr import unsigned

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyopencl as cl
    from numpy.typing import NDArray

    from clgraph.cluster.config import PartitionPlan
    from clgraph.cluster.parts.share import Share
    from clgraph.device import Allocation, Device, Kernel
    from clgraph.device.programs.kernel import Argument
    from clgraph.engine.resolved import Resolved

__all__ = ["Part"]

BIN_STRIDE = 32  # 32-bit words; contended ones are kept 128 bytes apart
BIN_LENGTHS = WORD_COUNT + BIN_STRIDE
PART_WORDS = {"FOUND_HUBS": WORD_COUNT, "BIN_LENGTHS": BIN_LENGTHS, "BIN_STRIDE": BIN_STRIDE}
SEEN = STATE_WORDS["STATUS"]  # the first word that a look reads
SLOT_STRIDE = STATE_WORDS["SLOT_STRIDE"]


class Part:
    """A device's share of a search: its rows, its part of the frontier and what it finds.

    Parameters
    ----------
    share : Share
        What this rank holds of the graph.
    partition_plan : PartitionPlan
        What devices share.
    device : Device
        Where, with a queue of its own.
    config : Resolved
        How it expands.
    predecessors : bool
        Whether a tree is labelled.

    Attributes
    ----------
    distances, predecessors : Allocation
        What was found: of the owned vertices; predecessors as the exchange has it.
    row_distances : Allocation
        Distances of the vertices whose rows are here.
    degrees : int array
        Lengths of these rows.
    owners : list of Ownership
        Vertices of each rank.
    kernels : list of Kernel
        What it launches.

    Raises
    ------
    InvalidArgumentError
        If the device cannot run the configuration.
    DeviceMemoryError
        If the share does not fit.
    """

    EXCHANGE = ""
    WHOLE_TREE = False  # whether `predecessors` has all vertices, or those that are owned
    LASTS = False  # whether the next search leaves what this one found alone

    def __init__(
        self,
        share: Share,
        partition_plan: PartitionPlan,
        device: Device,
        config: Resolved,
        *,
        predecessors: bool,
    ) -> None:
        facts, owned, rows = share.facts, share.owned, share.rows
        self.device, self.config, self.owned, self.rows = device, config, owned, rows
        self.rank = share.rank
        self.owners = share.partition.shares
        self._partition_plan = partition_plan
        self._parts = parts = share.partition.ranks
        self._problem = SimpleNamespace(
            predecessors=predecessors, named=rows.others.size > 0, addressed=self._is_addressed()
        )
        self._memory = Memory(device)
        indices = share.indices
        self._words = -(-facts.n // RANGE_GRAIN) * (RANGE_GRAIN // self.config.word_bits)
        self._n = np.uint32(rows.count)
        self._indptr = self._memory.upload("indptr", share.indptr.astype(offsets_dtype(facts.m)))
        self._indices = self._held(indices)
        self._named: tuple[Argument, ...] = ()
        if self._problem.named:
            names = self._memory.upload("names", rows.others.astype(np.uint32))
            self._named = (np.uint32(rows.line.count), names)
        self._survey(indices)
        self.degrees = np.diff(share.indptr)
        hubs = self.config.hubs_among(self.degrees)
        words = self.config.entry_words
        room, hub_room = (words * (count + QUEUE_SLACK) for count in (rows.count, hubs))
        self._frontier = self._memory.allocate("frontier", room, np.uint32)
        self._hubs = self._memory.allocate("hubs", hub_room, np.uint32)
        self._found = self._memory.allocate("found", self._words, self._word)
        tree = facts.n if self.WHOLE_TREE else owned.count
        self._tree_size = tree if predecessors else 0
        self.distances = self._memory.allocate("distances", owned.count, np.int32)
        self.predecessors = self._memory.allocate("predecessors", self._tree_size, np.int32)
        state_words = self._state_words(parts)
        self.row_distances = self.distances  # of the vertices whose rows are here
        self._state = self._memory.allocate("state", state_words, np.uint32)
        self._mirror = Mirror(device, self._state, SEEN, state_words - SEEN)
        # Numbers that stay the same are the same objects, which launches do not hand over again.
        self._slots = (np.uint32(0), np.uint32(1))
        self._line = (np.uint32(rows.line.stride), np.uint32(rows.line.first))
        self._many = np.uint32(parts)
        self.kernels: list[Kernel] = []
        self._begin = self._kernel("bfs/parts.cl", "bfs_parts_begin", self.config)
        self._expand = self._kernel("bfs/parts.cl", "bfs_parts_expand", self.config)

    def _is_addressed(self) -> bool:
        """Whether kernels get at targets by an address in host memory."""
        return False

    def _held(self, indices: NDArray[Any]) -> Argument:
        """Give the targets of all rows as kernels take them."""
        return self._memory.upload("indices", unsigned(indices))

    @staticmethod
    def _state_words(parts: int) -> int:
        """How many words of counters there are."""
        return BIN_LENGTHS + parts * BIN_STRIDE

    @property
    def _word(self) -> np.dtype[Any]:
        return np.dtype(f"u{self.config.word_bits // 8}")

    def _survey(self, indices: NDArray[Any]) -> None:
        """Note what an exchange needs to know of the targets of edges."""

    def _kernel(
        self,
        file: str,
        name: str,
        config: Any,
        problem: SimpleNamespace | None = None,
        words: Mapping[str, int] = PART_WORDS,
        **terms: Any,
    ) -> tuple[Kernel, int]:
        program = load(
            self.device,
            file,
            config=config,
            problem=problem or self._problem,
            exchange=self.EXCHANGE,
            UNREACHED=UNREACHED,
            counts_hubs=self._partition_plan.gamma is not None,
            likely=likely_kept(config),
            state_words={**STATE_WORDS, **words},
            slot_words=SLOT_WORDS,
            stage_fields=stage_fields(QUEUE_PAYLOAD),
            **terms,
        )
        kernel = program.kernel(name)
        groups = resident_groups(self.device, kernel, config.group_size)
        if not groups:
            raise InvalidArgumentError(
                f"group_size={config.group_size} does not fit {self.device.name}: {name} would "
                f"take {kernel.local_bytes} bytes of local memory of "
                f"{self.device.traits.local_bytes}; choose a smaller one."
            )
        self.kernels.append(kernel)
        return kernel, config.groups or groups

    def _launch(self, kernel: tuple[Kernel, int], *args: Argument) -> cl.Event:
        size = self.config.group_size
        return kernel[0].launch(kernel[1] * size, size, *args)

    def begin(self, source: int) -> None:
        """Enqueue what makes no vertex reached but the source."""
        own = int(self.rows.numbers(np.array([source]))[0])
        root = source if self.WHOLE_TREE else self.owned.number(source)
        self._launch(
            self._begin,
            *(self._indptr, self._n, np.uint32(self._words), np.uint32(self._tree_size)),
            *(np.uint32(source), np.uint32(own), np.uint32(root)),
            *(np.uint32(self._state.count), self.row_distances, self.predecessors),
            *self._bitmaps,
            *(self._frontier, self._hubs, self._state),
        )

    @property
    def _bitmaps(self) -> tuple[Allocation, ...]:
        return (self._found,)

    def detach(self) -> None:
        """Leave the device's memory to the next search, which takes it in any case."""

    def of_last(self) -> Part:
        """Give what has the results of the last search, until there is another."""
        return self

    def expand(self, level: int) -> None:
        """Enqueue the expansion of the part of the frontier at distance `level`."""
        self._launch(
            self._expand,
            *(self._indptr, self._indices, *self._line, *self._named),
            *(self._frontier, self._hubs, self._found),
            *self._targets,
            *(self._state, self._slots[level & 1]),
        )

    @property
    def _targets(self) -> tuple[Argument, ...]:
        """What an expansion writes to, as the kernel has it."""
        raise NotImplementedError

    def look(self) -> cl.Event:
        """Enqueue a read of the counters."""
        return self._mirror.enqueue()

    def _seen(self, name: str, level: int) -> int:
        return int(self._mirror.words[STATE_WORDS[name] - SEEN + (level & 1) * SLOT_STRIDE])

    @property
    def overflowed(self) -> bool:
        """Whether something found no room, as of the last look."""
        return bool(self._mirror.words[STATE_WORDS["OVERFLOWED"] - SEEN])

    def frontier(self, level: int) -> int:
        """How many vertices here are at distance `level`, as last seen."""
        return self._seen("NEXT", level) + self._seen("NEXT_HUBS", level)

    def check(self) -> None:
        """Complain if something found no room, as of the last look.

        Raises
        ------
        QueueOverflowError
            If so.
        """
        if self.overflowed:
            raise QueueOverflowError(
                f"{self.device.name} found more than there can be; please report this with the "
                "output of `clgraph doctor`."
            )
