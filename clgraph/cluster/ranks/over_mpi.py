"""Ranks that are processes of an MPI job, one device each."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.cluster.ranks.comm import Communicator
from clgraph.device import Pinned, devices
from clgraph.device import device as find_device
from clgraph.device.lazy import cl
from clgraph.device.memory.copying import finish_copy
from clgraph.errors import ClusterError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    from clgraph.cluster.ranks.comm import AllGather, Mail, Piece, Swap
    from clgraph.device import Device

__all__ = ["OverMPI", "world"]

TIMEOUT_S = 300.0  # others may be building kernels or reading a graph
SPIN_S = 2e-3
PAUSE_SHARE, LONGEST_PAUSE_S = 1 / 16, 1e-3
MOST_BYTES = 1 << 30  # of one message: counts are 32 bits wide
TAG = 25
PROBE_BYTES = 512
INTERRUPTED = 130


class OverMPI(Communicator):
    """One rank of an MPI job, which is this process.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The job's ranks; it is duplicated, so that messages of others do not get between.
    device : Device or str, optional
        Default is ``CLGRAPH_DEVICE``, else one GPU for each rank of a host, in turn, else a CPU.
    timeout_s : float, optional
        After so long without an answer of the others the job is ended; default is 300, or
        ``CLGRAPH_CLUSTER_TIMEOUT``.

    Attributes
    ----------
    rank : int
        Of this process.

    Notes
    -----
    An exception of one rank, Ctrl-C too, ends the job with its message and a non-zero status, also
    if it was raised outside of clgraph: the others would wait for ever.
    """

    def __init__(
        self, comm: Any, device: Device | str | None = None, timeout_s: float | None = None
    ) -> None:
        self._comm = comm
        self.rank = int(comm.rank)
        self.size = int(comm.size)
        self.ranks = (self.rank,)
        self.timeout_s, self._spin_s = TIMEOUT_S, 0.0
        with contextlib.suppress(InvalidArgumentError):  # which all complain of below
            self.timeout_s = _timeout(timeout_s)
        if self.size > 1:
            self._end_together()
        with self.guarded():
            self._comm, request = comm.Idup()
            self.wait([request], "that they begin")
        with self.agreeing():
            _timeout(timeout_s)
        # With more ranks than cores, polling takes the time of those that compute.
        self._here = self._ranks_here()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self._spin_s = SPIN_S if 2 * self._here[1] <= cores else 0.0
        with self.agreeing():
            found = self._device(device)
            self.usual_devices = (found,)
            self.devices = (found.beside(timed=False),)
            self._pins = self._passes(Pinned(self.devices[0], PROBE_BYTES, np.uint8).array)
        self._staging: dict[str, NDArray[np.uint8]] = {}
        self._under_way: list[cl.Event] = []

    def _ranks_here(self) -> tuple[int, int]:
        """Give the place of this rank among those of its host, and how many these are."""
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI

        # By name, since MPI's own way cannot be waited for with a limit.
        hosts = self.texts(MPI.Get_processor_name())
        here = [rank for rank, host in enumerate(hosts) if host == hosts[self.rank]]
        return here.index(self.rank), len(here)

    def _device(self, asked: Device | str | None) -> Device:
        if asked is None and not os.environ.get("CLGRAPH_DEVICE"):
            gpus = [found for found in devices() if found.is_gpu]
            if gpus:
                return sorted(gpus, key=lambda gpu: gpu.index)[self._here[0] % len(gpus)]
        return find_device(asked)

    def _end_together(self) -> None:
        """End the job on exceptions that nobody catches, which MPI would wait for."""
        before = sys.excepthook

        def hook(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            before(kind, error, trace)
            self.end(error, trace=False)

        sys.excepthook = hook

    def end(self, error: BaseException, *, trace: bool = True) -> None:
        """End the job of all ranks with the message of this one's error."""
        if trace and os.environ.get("CLGRAPH_DEBUG"):
            traceback.print_exception(error)
        kind = type(error).__name__
        sys.stderr.write(
            f"clgraph: rank {self.rank} of {self.size} ends the job: {kind}: {error}\n"
        )
        sys.stderr.flush()
        self._comm.Abort(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """End the job if this rank raises while others wait for it."""
        try:
            yield
        except BaseException as error:
            if self.size > 1:
                self.end(error)
            raise

    @contextlib.contextmanager
    def agreeing(self) -> Iterator[None]:
        """Raise on every rank if any raises within."""
        wrong: Exception | None = None
        with self.guarded():
            try:
                yield
            except Exception as error:
                wrong = error
            texts = self.texts(f"{type(wrong).__name__}: {wrong}" if wrong else "")
        if wrong is not None:
            raise wrong
        for rank, text in enumerate(texts):
            if text:
                raise ClusterError(f"rank {rank} of {self.size} has failed: {text}")

    def check_alike(self, what: dict[str, object]) -> None:
        """Refuse a job whose ranks were given different things."""
        mine = {name: repr(value) for name, value in what.items()}
        given = [json.loads(text) for text in self.texts(json.dumps(mine))]
        # All look at the same names, so that all refuse or none.
        for name in dict.fromkeys(name for one in given for name in one):
            for rank, other in enumerate(given):
                if other.get(name) != given[0].get(name):
                    raise ClusterError(
                        f"rank {rank} was given {name}={other.get(name)} and rank 0 "
                        f"{name}={given[0].get(name)}; all ranks need the same."
                    )

    def texts(self, text: str) -> list[str]:
        """Give everybody's text to everybody."""
        encoded = np.frombuffer(text.encode(), np.uint8)
        with self.guarded():
            found = self._swap([encoded] * self.size)
        return [array.tobytes().decode() for array in found]

    def wait(self, requests: list[Any], what: str) -> None:
        """Wait for messages, answering Ctrl-C meanwhile.

        Raises
        ------
        ClusterError
            If the others do not answer in time.
        """
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI

        start = time.perf_counter()
        while not MPI.Request.Testall(requests):
            waited = time.perf_counter() - start
            if waited > self.timeout_s:
                raise ClusterError(
                    f"the other ranks did not answer within {self.timeout_s:g} s ({what}); set "
                    "CLGRAPH_CLUSTER_TIMEOUT to wait longer."
                )
            if waited >= self._spin_s:
                time.sleep(min(max(waited * PAUSE_SHARE, 2e-5), LONGEST_PAUSE_S))

    def all_gather(self, requests: Sequence[AllGather]) -> list[NDArray[np.int64]]:
        """Gather rows of numbers from all ranks."""
        (request,) = requests
        finish_copy(*request.events)
        row = np.ascontiguousarray(request.row(), np.int64)
        rows = np.empty((self.size, row.size), np.int64)
        self.wait([self._comm.Iallgather(row, rows)], "counts")
        return [rows]

    def swap(self, requests: Sequence[Swap]) -> list[list[NDArray[Any]]]:
        """Exchange arrays of any length."""
        (request,) = requests
        return [self._swap(request.arrays)]

    def _swap(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        dtype = arrays[0].dtype
        counts = np.array([array.size for array in arrays], np.int64)
        theirs = np.empty(self.size, np.int64)
        self.wait([self._comm.Ialltoall(counts, theirs)], "lengths")
        found = [np.empty(int(count), dtype) for count in theirs]
        pending = []
        for rank, array in enumerate(found):
            if rank == self.rank:
                array[...] = arrays[rank]
                continue
            pending += [
                self._comm.Irecv(part, source=rank, tag=TAG) for part in _parts(_bytes(array))
            ]
        kept = [np.ascontiguousarray(array) for array in arrays]
        for rank in self._others():
            pending += [
                self._comm.Isend(part, dest=rank, tag=TAG) for part in _parts(_bytes(kept[rank]))
            ]
        self.wait(pending, "arrays")
        return found

    def _others(self) -> list[int]:
        """Give the other ranks, each rank beginning with its neighbour."""
        return [(self.rank + step) % self.size for step in range(1, self.size)]

    def mail(self, requests: Sequence[Mail]) -> list[None]:
        """Send parts of arrays through pinned memory, if MPI reads and writes that in place."""
        (request,) = requests
        queue = self.devices[0].queue
        self.settle()
        # What goes to several ranks is read once.
        places: dict[tuple[Any, int, int], NDArray[np.uint8]] = {}
        reads = []
        kept = _laid_out({_key(piece): piece.size_bytes for piece in request.sends})
        room = self._room("sends", kept[1])
        for piece in request.sends:
            key = _key(piece)
            if key not in places:
                places[key] = room[kept[0][key] :][: piece.size_bytes]
                reads.append(
                    cl.enqueue_copy(
                        queue,
                        places[key],
                        piece.array.buffer,
                        src_offset=piece.first_byte,
                        is_blocking=False,
                    )
                )
        queue.flush()
        sizes = {number: piece.size_bytes for number, piece in enumerate(request.receives)}
        begins, end = _laid_out(sizes)
        arrivals = self._room("receives", end)
        pending, arrived = [], []
        for number, piece in enumerate(request.receives):
            part = arrivals[begins[number] :][: piece.size_bytes]
            arrived.append((piece, part))
            pending += [self._comm.Irecv(one, source=piece.peer, tag=TAG) for one in _parts(part)]
        finish_copy(*reads)
        for piece in request.sends:
            pending += [
                self._comm.Isend(one, dest=piece.peer, tag=TAG)
                for one in _parts(places[_key(piece)])
            ]
        self.wait(pending, "a level's vertices")
        for piece, part in arrived:
            self._under_way.append(
                cl.enqueue_copy(
                    queue,
                    piece.array.buffer,
                    part,
                    dst_offset=piece.first_byte,
                    is_blocking=False,
                )
            )
        return [None]

    def _passes(self, memory: NDArray[np.uint8]) -> bool:
        """Whether MPI sends memory of this kind, and receives into it."""
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI

        half = memory.size // 2
        memory[:half], memory[half:] = np.arange(half), 0
        try:
            requests = [
                self._comm.Irecv(memory[half:], source=self.rank, tag=TAG),
                self._comm.Isend(memory[:half], dest=self.rank, tag=TAG),
            ]
        except (MPI.Exception, ValueError, TypeError):
            return False
        self.wait(requests, "a probe")
        return bool((memory[:half] == memory[half:]).all())

    def _room(self, name: str, size_bytes: int) -> NDArray[np.uint8]:
        held = self._staging.get(name)
        if held is None or held.size < size_bytes:
            # At least doubled, so that levels that grow do not each pin memory anew.
            grown = max(size_bytes, 2 * held.size if held is not None else 1 << 12)
            # Copies to and from other memory are slower, and right.
            held = (
                Pinned(self.devices[0], grown, np.uint8).array
                if self._pins
                else np.empty(grown, np.uint8)
            )
            self._staging[name] = held
        return held

    def settle(self) -> None:
        """Wait until nothing is under way to the device any more."""
        finish_copy(*self._under_way)
        self._under_way.clear()


def _key(piece: Piece) -> tuple[int, int, int]:
    return id(piece.array), piece.first_byte, piece.size_bytes


def _laid_out(sizes: dict[Any, int]) -> tuple[dict[Any, int], int]:
    """Give each piece a place of its own, aligned to words; and the end of all."""
    begins, end = {}, 0
    for key, size in sizes.items():
        begins[key] = end
        end += -(-size // 8) * 8
    return begins, end


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.view(np.uint8)


def _parts(array: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    return [array[first : first + MOST_BYTES] for first in range(0, array.size, MOST_BYTES)]


def _timeout(given: float | None) -> float:
    text = os.environ.get("CLGRAPH_CLUSTER_TIMEOUT") if given is None else str(given)
    if not text:
        return TIMEOUT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InvalidArgumentError(
            f"a time-out of {text!r} is not a positive number of seconds; see "
            "CLGRAPH_CLUSTER_TIMEOUT."
        )
    return seconds


def world(
    device: Device | str | None = None, *, comm: Any = None, timeout_s: float | None = None
) -> Communicator:
    """Give the ranks of the MPI job that this process is part of.

    Parameters
    ----------
    device : Device or str, optional
        Of this rank; default is a GPU of its own, where there are enough.
    comm : mpi4py.MPI.Comm, optional
        Some of the job's ranks; default is all.
    timeout_s : float, optional
        After so long without an answer of the others the job is ended; default is 300, or
        ``CLGRAPH_CLUSTER_TIMEOUT``.

    Returns
    -------
    Communicator
        Give it to the plans of `clgraph.cluster`.

    Raises
    ------
    ClusterError
        If mpi4py, or an MPI for it, is not installed.
    """
    try:
        from mpi4py import MPI  # noqa: PLC0415 - optional, and starts MPI
    except (ImportError, RuntimeError) as error:
        raise ClusterError(
            f"ranks need mpi4py and an MPI ({error}); pip install 'clgraph[mpi]'."
        ) from error
    return OverMPI(MPI.COMM_WORLD if comm is None else comm, device, timeout_s)
