"""Tables: what a kernel takes, listed once.

The signature is rendered from it, arrays are allocated and reported by it, and a launch is bound by
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device import Allocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import DTypeLike, NDArray

    from clgraph.device import Memory
    from clgraph.device.memory.allocation import Progress
    from clgraph.device.programs.kernel import Argument

__all__ = ["Table"]

# What an element of each type that kernels name is on the host: a NumPy type, and how many of it.
TYPES: dict[str, tuple[DTypeLike, int]] = {
    "int": (np.int32, 1),
    "uint": (np.uint32, 1),
    "ulong": (np.uint64, 1),
    "float": (np.float32, 1),
    "uchar": (np.uint8, 1),
    "uint2": (np.uint32, 2),
    "uint4": (np.uint32, 4),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One argument of a kernel.

    Attributes
    ----------
    ctype, name : str
        As the kernel has them.
    access : str
        A key of ``templates/grid/signature.mako``.
    note : str
        What it is, for the reader of the kernel: of an array first its shape, as in ``[n + 1]``.
    """

    ctype: str
    name: str
    access: str
    note: str


class Table:
    """The arguments of a kernel, in order.

    Parameters
    ----------
    types : dict
        Element types of the kernel's own, by name: a NumPy type, and how many of it make one.

    Attributes
    ----------
    rows : list of Row
        What ``/grid/signature.mako`` renders.
    stamp : object
        Another one whenever what all runs share is.
    changing : tuple of int
        Places of arguments that some launch was given. They stay: the next launch may leave them to
        the table, and a kernel may not be launched by every run.
    """

    def __init__(self, types: Mapping[str, tuple[DTypeLike, int]] | None = None) -> None:
        self.rows: list[Row] = []
        self._types = TYPES | dict(types or {})
        self._makers: list[Callable[[Memory], Argument | None]] = []
        self._bound: list[Argument | None] = []
        self._places: dict[str, int] = {}
        self.stamp = object()
        self.changing: tuple[int, ...] = ()
        self._known: frozenset[str] = frozenset()  # names of some of these

    def _declare(self, row: Row, make: Callable[[Memory], Argument | None]) -> None:
        self.rows.append(row)
        self._makers.append(make)

    def given(self, ctype: str, name: str, note: str = "", access: str = "value") -> None:
        """Declare what each run gives: a number, or an array of a result."""
        self._declare(Row(ctype, name, access, note), lambda _: None)

    def number(self, ctype: str, name: str, value: Any, note: str = "") -> None:
        """Declare a number of all runs: one of NumPy's, or for `TYPES` any."""
        kind: Any = self._types.get(ctype, (None,))[0]

        def make(_: Memory) -> Argument:
            number = value() if callable(value) else value
            made: Argument = number if kind is None else kind(number)
            return made

        self._declare(Row(ctype, name, "value", note), make)

    def array(
        self,
        ctype: str,
        name: str,
        count: int | Callable[[], int],
        note: str = "",
        access: str = "write",
    ) -> None:
        """Declare an array of so many elements, for the kernel to fill."""
        kind, words = self._types[ctype]

        def make(memory: Memory) -> Argument:
            elements = count if isinstance(count, int) else count()
            return memory.allocate(name, elements * words, kind)

        self._declare(Row(ctype, name, access, note), make)

    def upload(
        self,
        ctype: str,
        name: str,
        values: Callable[[], NDArray[Any]],
        note: str = "",
        access: str = "read",
        *,
        progress: Progress | None = None,
    ) -> None:
        """Declare an array that is copied to the device."""
        self._declare(
            Row(ctype, name, access, note),
            lambda memory: memory.upload(name, values(), progress=progress),
        )

    def held(
        self,
        ctype: str,
        name: str,
        array: Callable[[], Allocation],
        note: str = "",
        access: str = "read",
    ) -> None:
        """Declare an array that somebody else allocates: the graph's, most often."""
        self._declare(Row(ctype, name, access, note), lambda _: array())

    def allocate(self, memory: Memory) -> None:
        """Make everything that all runs share.

        Raises
        ------
        DeviceMemoryError
            If not all of it fits.
        """
        self.stamp = object()
        self._places = {row.name: place for place, row in enumerate(self.rows)}
        self._bound = [None] * len(self.rows)
        for place, make in enumerate(self._makers):  # in order: one may ask for those before it
            self._bound[place] = make(memory)
        self._makers.clear()  # and the host arrays that they know

    def __getitem__(self, name: str) -> Any:
        """Give what all runs share by this name."""
        return self._bound[self._places[name]]

    def __setitem__(self, name: str, value: Argument) -> None:
        """Have all runs share something else from now on."""
        self.stamp = object()
        self._bound[self._places[name]] = value

    def bind(self, given: Mapping[str, Argument]) -> list[Argument]:
        """Give the arguments of a launch: those of all runs and those of this one."""
        bound: list[Any] = self._bound.copy()
        places = self._places
        for name, value in given.items():
            bound[places[name]] = value
        if not given.keys() <= self._known:
            self.change(places[name] for name in given)
            self._known |= given.keys()
        return bound

    def change(self, places: Iterable[int]) -> None:
        """Have the arguments in these places looked at in every launch from now on."""
        self.changing = tuple({*self.changing, *places})  # another thread may be at the one before

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each array that all runs share, by name."""
        made = zip(self.rows, self._bound, strict=True)
        return {row.name: a.size_bytes for row, a in made if isinstance(a, Allocation)}
