"""Streams of updates: read from a table, replayed in batches."""

from __future__ import annotations

import csv
import itertools
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import GraphFormatError, InvalidArgumentError
from clgraph.progress import report_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from clgraph.device.memory.allocation import Progress
    from clgraph.dynamic.graph import DynamicGraph

__all__ = ["Replay", "Updates", "read_updates", "replay"]

LARGEST = 2**63 - 1
INSERTIONS = {"+", "i", "insert", "add", "new"}
DELETIONS = {"-", "d", "delete", "remove", "gone"}
NAMES = {
    "how": ("operation", "op", "update", "time", "timestamp", "t"),
    "src": ("u", "source", "src", "tail", "from"),
    "dst": ("v", "target", "dst", "head", "to"),
    "weight": ("weight", "w", "value"),
}


@dataclass(frozen=True, slots=True)
class Updates:
    """A stream, in the order in which it happens.

    Attributes
    ----------
    inserts : bool array [count]
        Whether an update inserts its edge; else it deletes it.
    src, dst : int64 array [count]
        Ends, as the file calls them.
    weights : float64 array [count] or None
        Of the edges.
    times : float64 array [count] or None
        When; then every update is an insertion.
    """

    inserts: NDArray[np.bool_]
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None

    def batches(self, size: int) -> Iterator[slice]:
        """Cut into runs of one kind, each of at most so many."""
        turns = np.flatnonzero(np.diff(self.inserts.astype(np.int8))) + 1
        bounds = [0, *turns.tolist(), len(self.src)]
        for begin, end in itertools.pairwise(bounds):
            for first in range(begin, end, size):
                yield slice(first, min(first + size, end))


@dataclass(slots=True)
class Replay:
    """What a replay did.

    Attributes
    ----------
    updates, batches : int
        How many.
    new, present, gone, absent, repeated : int
        Sums of those of the batches.
    seconds, kernel_seconds : float
        Host wall clock and device time of the batches, without reading and tracking.
    tracked_seconds : float
        Wall clock of bringing tracked values up to date.
    """

    updates: int = 0
    batches: int = 0
    new: int = 0
    present: int = 0
    gone: int = 0
    absent: int = 0
    repeated: int = 0
    seconds: float = 0.0
    kernel_seconds: float = 0.0
    tracked_seconds: float = 0.0
    tracked: list[dict[str, Any]] = field(default_factory=list)


def _whole(cell: str) -> int:
    """Read a number as files of graphs have it: what else Python takes for one is none."""
    number = int(cell) if cell.isascii() and "_" not in cell else LARGEST + 1
    if not -LARGEST <= number <= LARGEST:
        raise ValueError(f"{cell!r} is no number of 64 bits")
    return number


def read_updates(path: str | Path) -> Updates:
    """Read a table with the columns time or operation, u, v, and perhaps weight.

    Parameters
    ----------
    path : path
        A text file, columns separated by commas, or by white space where there is none. The first
        line may hold names. The first column is of operations, ``+`` or ``insert``, ``-`` or
        ``delete``, or of times, numbers: then all are insertions, and are taken in that order.

    Returns
    -------
    Updates

    Raises
    ------
    GraphFormatError
        If a line does not follow; the message names it.
    """
    with Path(path).open(encoding="utf-8", errors="replace", newline="") as file:
        text = file.read()
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    try:
        apart = csv.reader(lines) if lines and "," in lines[0] else map(str.split, lines)
        rows = list(apart)
    except csv.Error as error:
        raise GraphFormatError(f"{path}: {error}.") from error
    places = {"how": 0, "src": 1, "dst": 2, "weight": 3}
    named = bool(rows) and not rows[0][-1].strip().lstrip("+-").replace(".", "").isdigit()
    if named:
        places = _places(path, [cell.strip().lower() for cell in rows.pop(0)])
    columns: dict[str, list[float]] = {"how": [], "src": [], "dst": [], "weight": []}
    timed: bool | None = None
    for number, row in enumerate(rows, 1 + named):
        try:
            how = row[places["how"]].strip().lower()
            kind = how in INSERTIONS or how in DELETIONS
            if timed is not None and timed == kind:
                raise ValueError("times and operations are mixed")  # noqa: TRY301
            timed = not kind
            columns["how"].append(float(how in INSERTIONS) if kind else float(how))
            for end in ("src", "dst"):
                columns[end].append(_whole(row[places[end]]))
            if "weight" in places and places["weight"] < len(row):
                columns["weight"].append(float(row[places["weight"]]))
        except (ValueError, IndexError) as error:
            raise GraphFormatError(
                f"{path}:{number}: {row} is not a time or operation, two vertices and perhaps a "
                f"weight ({error})."
            ) from error
    how_column = np.array(columns["how"], np.float64)
    ends = [np.array(columns[end], np.int64) for end in ("src", "dst")]
    weights = np.array(columns["weight"], np.float64) if columns["weight"] else None
    if weights is not None and len(weights) != len(how_column):
        raise GraphFormatError(f"{path}:1: some updates have weights and others have none.")
    if not timed:
        return Updates(how_column != 0, ends[0], ends[1], weights)
    order = np.argsort(how_column, kind="stable")
    return Updates(
        np.ones(len(order), bool),
        ends[0][order],
        ends[1][order],
        None if weights is None else weights[order],
        how_column[order],
    )


def _places(path: str | Path, names: list[str]) -> dict[str, int]:
    found = {}
    for what, known in NAMES.items():
        at = [names.index(name) for name in known if name in names]
        if at:
            found[what] = at[0]
        elif what != "weight":
            raise GraphFormatError(
                f"{path}:1: no column is named {' or '.join(known)}; there are {', '.join(names)}."
            )
    return found


def replay(
    graph: DynamicGraph,
    updates: Updates,
    batch: int,
    *,
    track: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Change a graph as a stream says.

    Parameters
    ----------
    graph : DynamicGraph
        Changed.
    updates : Updates
        Vertices as the graph numbers them.
    batch : int
        Most updates of a batch; a batch inserts or deletes.
    track : mapping of str to callable, optional
        What is asked for after every batch, by name.
    progress : callable, optional
        Called with updates done, updates in all, and what is done.

    Returns
    -------
    Replay
        ``tracked`` has a row for each batch.
    """
    if batch < 1:
        raise InvalidArgumentError(f"batch={batch} must be at least 1.")
    totals, total = Replay(), len(updates.src)
    for span in updates.batches(batch):
        src, dst = updates.src[span], updates.dst[span]
        if updates.inserts[span.start]:
            weights = None
            if graph.weighted:
                weights = np.ones(len(src)) if updates.weights is None else updates.weights[span]
            result = graph.insert_edges(src, dst, weights)
        else:
            result = graph.delete_edges(src, dst)
        totals.updates += result.given
        totals.batches += 1
        for name in ("new", "present", "gone", "absent", "repeated"):
            setattr(totals, name, getattr(totals, name) + getattr(result, name))
        totals.seconds += 1e-3 * result.total_ms
        totals.kernel_seconds += 1e-3 * result.kernel_ms
        began = time.perf_counter()
        row = {name: ask() for name, ask in (track or {}).items()}
        totals.tracked_seconds += time.perf_counter() - began
        totals.tracked.append({"updates": totals.updates, "edges": graph.m, **row})
        report_progress(progress, totals.updates, total, "replaying updates")
    return totals
