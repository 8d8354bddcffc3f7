"""The levels of a search over several devices: who launches what, and what is sent in between."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from clgraph.cluster.config import Found
from clgraph.cluster.part import BitPart, CandidatePart
from clgraph.cluster.partition import Ownership
from clgraph.cluster.result import Level
from clgraph.cluster.transport import Letter
from clgraph.device.memory import finish_copy
from clgraph.engine.pull import ByEdges
from clgraph.errors import QueueOverflowError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clgraph.cluster.config import Division
    from clgraph.cluster.part import Part
    from clgraph.cluster.transport import Transport
    from clgraph.engine.choose import Resolved
    from clgraph.graph import Graph

__all__ = ["BitExchange", "CandidateExchange"]


def _look(parts: Sequence[Part]) -> None:
    """Read the counters of all devices, after everything that was enqueued on any."""
    finish_copy(*[part.look() for part in parts])
    for part in parts:
        if part.overflowed:
            raise QueueOverflowError(
                f"{part.device.name} found more than there can be; please report this with the "
                "output of `clgraph doctor`."
            )


class _Exchange:
    """The levels of a search, one after the other on all parts."""

    parts: Sequence[Part]

    def __init__(self) -> None:
        self._broken_off = False
        self._source = 0

    def search(self, source: int, limit: int) -> tuple[list[Level], int]:
        """Search as far as distance `limit`.

        Returns
        -------
        levels : list of Level
            One for each distance, and perhaps an empty one at the end.
        launches : int
            Kernel launches on all devices.
        """
        if self._broken_off:
            # What an interrupted search has under way between devices must not meet this one's.
            finish_copy(*[part.look() for part in self.parts])
        self._broken_off = True
        for part in self.parts:
            part.begin(source)
        self._source = source
        found = self._levels(limit)
        self._broken_off = False
        return found

    def _levels(self, limit: int) -> tuple[list[Level], int]:
        raise NotImplementedError


class CandidateExchange(_Exchange):
    """Vertices are sent to their owners, until all bins of all devices are empty.

    Parameters
    ----------
    graph : Graph
        What is searched.
    division : Division
        What devices share.
    transport : Transport
        The devices, one for each part, and the ways between them.
    configs : sequence of Resolved
        How each expands.
    predecessors : bool
        Whether a tree is labelled.

    Attributes
    ----------
    parts : list of CandidatePart
        What each device holds.
    """

    NAME = "candidates"
    parts: list[CandidatePart]

    def __init__(
        self,
        graph: Graph,
        division: Division,
        transport: Transport,
        configs: Sequence[Resolved],
        *,
        predecessors: bool,
    ) -> None:
        super().__init__()
        self._transport = transport
        devices = transport.devices
        shares = zip(devices, configs, Ownership.in_turns(graph.n, len(devices)), strict=True)
        self.parts = [
            CandidatePart(graph, division, *share, parts=len(devices), predecessors=predecessors)
            for share in shares
        ]
        rooms = np.stack([np.diff(part.bin_begins) for part in self.parts])
        for place, part in enumerate(self.parts):
            part.receive_from(int(rooms[:, place].sum() - rooms[place, place]))

    def _levels(self, limit: int) -> tuple[list[Level], int]:
        parts = self.parts
        levels: list[Level] = []
        launches = len(parts)
        clock = time.perf_counter()
        for depth in range(limit):
            for part in parts:
                part.expand(depth)
            _look(parts)
            launches += len(parts)
            level = Level(self._frontier(depth), "push")
            levels.append(level)
            sent = np.stack([part.sent() for part in parts])
            if sent.any():
                level.sent_bytes = self._send(sent)
                for place, part in enumerate(parts):
                    kept = int(sent[place, place])
                    received = int(sent[:, place].sum()) - kept
                    part.contract(depth + 1, (int(part.bin_begins[place]), kept), received)
                launches += len(parts)
            now = time.perf_counter()
            level.microseconds, clock = 1e6 * (now - clock), now
            if not sent.any():
                return levels, launches
        _look(parts)
        levels.append(Level(self._frontier(limit)))
        return levels, launches

    def _frontier(self, depth: int) -> int:
        return sum(part.frontier(depth) for part in self.parts)

    def _send(self, sent: NDArray[np.int64]) -> int:
        """Send what bins hold, `sent[i, j]` candidates from part i to part j; give the bytes."""
        size = self.parts[0].candidate_bytes
        letters = []
        for receiver, part in enumerate(self.parts):
            place = 0
            for sender, other in enumerate(self.parts):
                count = int(sent[sender, receiver])
                if sender == receiver or not count:
                    continue
                source = (other.bins, int(other.bin_begins[receiver]) * size)
                target = (part.inbox, place * size)
                letters.append(Letter(sender, receiver, *source, *target, count * size))
                place += count
        self._transport.deliver(letters)
        return sum(letter.size_bytes for letter in letters)


class BitExchange(_Exchange):
    """A bit for each vertex is sent to every other device, until nothing is new in them.

    Parameters
    ----------
    graph, division, transport, configs, predecessors
        As for `CandidateExchange`.

    Attributes
    ----------
    parts : list of BitPart
        What each device holds.
    """

    NAME = "bits"
    parts: list[BitPart]

    def __init__(
        self,
        graph: Graph,
        division: Division,
        transport: Transport,
        configs: Sequence[Resolved],
        *,
        predecessors: bool,
    ) -> None:
        super().__init__()
        self._graph, self._division, self._transport = graph, division, transport
        devices = transport.devices
        shares = zip(devices, configs, Ownership.in_ranges(graph.n, len(devices)), strict=True)
        self.parts = [
            BitPart(graph, division, *share, parts=len(devices), predecessors=predecessors)
            for share in shares
        ]

    def _levels(self, limit: int) -> tuple[list[Level], int]:
        parts, graph = self.parts, self._graph
        rule = parts[0].config.pull
        levels = [Level(1)]
        launches = len(parts)
        pulls, explored = False, int(graph.degrees[self._source])
        clock = time.perf_counter()
        for depth in range(limit):
            level = levels[depth]
            for part in parts:
                if pulls:
                    part.pull(depth)
                else:
                    part.expand(depth)
            level.direction = "pull" if pulls else "push"
            level.sent_bytes = self._send(own_only=pulls)
            for part in parts:
                part.merge(depth + 1, 0 if pulls else len(parts) - 1)
            _look(parts)
            launches += 2 * len(parts)
            found = self._found(depth + 1, explored)
            explored = found.explored
            pulls = isinstance(rule, ByEdges) and self._division.pulls(
                before=pulls, graph=graph, found=found, rule=rule
            )
            levels.append(Level(found.vertices))
            now = time.perf_counter()
            level.microseconds, clock = 1e6 * (now - clock), now
            if not found.vertices:
                break
        return levels, launches

    def _found(self, depth: int, explored: int) -> Found:
        vertices = sum(part.frontier(depth) for part in self.parts)
        edges = sum(part.found_edges(depth) for part in self.parts)
        hubs = sum(part.found_hubs() for part in self.parts)
        return Found(vertices, hubs, edges, explored + edges)

    def _send(self, *, own_only: bool) -> int:
        """Send bitmaps to everybody else, whole or the sender's own words; give the bytes."""
        letters = []
        for receiver, part in enumerate(self.parts):
            others = [sender for sender in range(len(self.parts)) if sender != receiver]
            for slot, sender in enumerate(others):
                other = self.parts[sender]
                first, size = other.own_bytes if own_only else (0, other.map_bytes)
                # Pulled words are right as they come; pushed ones are merged with what is here.
                target = (part.found, first) if own_only else (part.inbox, slot * size)
                if size:
                    letters.append(Letter(sender, receiver, other.found, first, *target, size))
        self._transport.deliver(letters)
        return sum(letter.size_bytes for letter in letters)
