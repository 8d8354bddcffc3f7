"""Execution traces on the host: rows of numbers and rows of bits, an instant after the other."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from clgraph.algorithms.invariants.expressions import BOOLEAN, NUMERIC, Kind
from clgraph.apart import apart
from clgraph.device import Pinned
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arrays import argument_array

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph.device import Device

__all__ = ["MOST_VARIABLES", "PAGE_BYTES", "WORD_BITS", "Trace", "empty_rows", "pack"]

log = logging.getLogger("clgraph")

WORD_BITS = 32
# Elements of a row of a prepared trace come in whole multiples of this, and so do parts of a trace:
# every vector and every word of a kernel is then whole.
ROW_MULTIPLE = 64
PAGE_BYTES = 4096
MOST_VARIABLES = 1 << 20


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one kind.

    Attributes
    ----------
    names : tuple of str
        Of the variables.
    values : numpy.ndarray
        Numbers [variables, instants] of any real type, or uint32 [variables, words] of packed bits.
    prepared : bool
        Whether a device may read the memory as it is: float32 or uint32, every row padded by
        repeating its last instant to a multiple of 64 elements, and the first on a page.
    pinned : Device or None
        Whose copies read this memory by themselves.
    """

    names: tuple[str, ...]
    values: NDArray[Any]
    prepared: bool = False
    pinned: Any = None


def empty_rows(count: int, elements: int, dtype: Any) -> NDArray[Any]:
    """Give memory for prepared rows: on a page, [count, elements rounded up to whole 64s]."""
    padded = -(-elements // ROW_MULTIPLE) * ROW_MULTIPLE
    size = count * padded * np.dtype(dtype).itemsize
    raw = np.empty(size + PAGE_BYTES, np.uint8)
    skip = -raw.ctypes.data % PAGE_BYTES
    rows: NDArray[Any] = raw[skip : skip + size].view(dtype).reshape(count, padded)
    return rows


def pack(values: NDArray[Any], out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
    """Pack truth values [instants], 32 a word, earlier ones in lower bits.

    Bits and words that are left over repeat the last instant.
    """
    words = -(-len(values) // WORD_BITS)
    out = np.empty(words, np.uint32) if out is None else out
    packed = np.packbits(np.asarray(values, bool), bitorder="little")
    raw = np.full(words * 4, 0xFF if values[-1] else 0, np.uint8)
    raw[: len(packed)] = packed
    if len(values) % 8 and values[-1]:
        raw[len(packed) - 1] |= (0xFF << (len(values) % 8)) & 0xFF
    out[:words] = raw.view("<u4")
    out[words:] = 0xFFFFFFFF if values[-1] else 0
    return out


@dataclass(frozen=True)
class Trace:
    """What the variables of a system were at each instant of a run of it.

    Attributes
    ----------
    length : int
        Instants, at least 1.
    numeric, boolean : Rows
        Variables of each kind; either may have none.
    """

    length: int
    numeric: Rows
    boolean: Rows
    _warned: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, given: Any, names: Sequence[str] | None = None) -> Self:
        """Take a trace in any of its forms; see `mine_invariants`."""
        if isinstance(given, cls):
            return given if names is None else given.renamed(names)
        if isinstance(given, str | Path):
            # A reader gives a Trace, so it cannot be imported before there is one.
            from clgraph.algorithms.invariants.readers import read_trace  # noqa: PLC0415

            found: Any = read_trace(given)
            return found if names is None else cls.of(found, names)
        if hasattr(given, "columns") and hasattr(given, "to_numpy"):
            table = {str(name): given[name].to_numpy() for name in given.columns}
            if len(table) != len(given.columns):
                raise InvalidArgumentError("columns of the frame share a name; rename them.")
            return cls.from_columns(table if names is None else _rename(table, names))
        if isinstance(given, dict):
            return cls.from_columns(given if names is None else _rename(given, names))
        array = argument_array("the trace", given)
        if array.ndim != 2:
            raise InvalidArgumentError(
                f"a trace is an array [variables, instants]; got one of shape {array.shape}."
            )
        return cls._of_array(array, names)

    @classmethod
    def _of_array(cls, array: NDArray[Any], names: Sequence[str] | None) -> Self:
        if array.dtype.kind not in "biuf":
            raise InvalidArgumentError(
                f"a trace holds numbers or booleans; got {array.dtype}. Use a dict of columns for "
                "variables of several types."
            )
        given = [f"v{i}" for i in range(len(array))] if names is None else list(names)
        if array.dtype.kind != "b":
            _check(given, len(array), array.shape[1])
            return cls(array.shape[1], Rows(tuple(given), array), _no_rows(np.uint32))
        _check(given, len(array), array.shape[1])
        return cls(array.shape[1], _no_rows(np.float32), _packed(given, list(array)))

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Self:
        """Take a one-dimensional array of numbers or of booleans for each variable.

        Raises
        ------
        InvalidArgumentError
            If their lengths differ, or one is neither.
        """
        arrays = {
            str(name): argument_array(f"variable {name!r}", column)
            for name, column in columns.items()
        }
        lengths = {array.shape for array in arrays.values()}
        if len(lengths) != 1 or len(next(iter(lengths))) != 1:
            raise InvalidArgumentError(
                "the variables of a trace need one-dimensional arrays of one length; got shapes "
                f"{sorted(lengths)}."
            )
        (length,) = next(iter(lengths))
        _check(list(arrays), len(arrays), length)
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise InvalidArgumentError(
                    f"variable {name!r} holds {array.dtype}; a trace holds numbers or booleans."
                )
        bits = {name: array for name, array in arrays.items() if array.dtype.kind == "b"}
        numbers = {name: array for name, array in arrays.items() if name not in bits}
        rows = empty_rows(len(numbers), length, np.float32)
        for row, (name, array) in zip(rows, numbers.items(), strict=True):
            row[:length] = _narrowed(array, name)
            row[length:] = row[length - 1]
        return cls(
            length,
            Rows(tuple(numbers), rows, prepared=True),
            _packed(list(bits), list(bits.values())) if bits else _no_rows(np.uint32),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the variables, numeric ones first."""
        return (*self.numeric.names, *self.boolean.names)

    def rows(self, kind: Kind) -> Rows:
        """Rows of a kind."""
        return self.numeric if kind == NUMERIC else self.boolean

    def count(self, kind: Kind) -> int:
        """How many variables there are of a kind."""
        return len(self.rows(kind).names)

    def elements(self, kind: Kind) -> int:
        """Numbers, or words of bits, that a row of a kind has."""
        return self.length if kind == NUMERIC else -(-self.length // WORD_BITS)

    def renamed(self, names: Sequence[str]) -> Self:
        """Give the same trace with other names, those of numeric variables first."""
        _check(list(names), len(self.names), self.length)
        split = len(self.numeric.names)
        return type(self)(
            self.length,
            _with_names(self.numeric, tuple(names[:split])),
            _with_names(self.boolean, tuple(names[split:])),
        )

    def chosen(self, names: Sequence[str]) -> Self:
        """Give a trace of some of the variables.

        Raises
        ------
        InvalidArgumentError
            If there is no such variable, or none is named.
        """
        missing = [name for name in names if name not in self.names]
        if missing or not names:
            raise InvalidArgumentError(
                f"there is no variable {missing[0] if missing else ''!r} in the trace, whose "
                f"variables are {', '.join(self.names[:20])}{'...' * (len(self.names) > 20)}."
            )
        parts = []
        for rows in (self.numeric, self.boolean):
            places = [i for i, name in enumerate(rows.names) if name in set(names)]
            values = empty_rows(len(places), rows.values.shape[1], rows.values.dtype)
            width = rows.values.shape[1]
            values[:, :width] = rows.values[places]
            if places:
                values[:, width:] = values[:, width - 1 : width]
            kept = tuple(rows.names[i] for i in places)
            whole = rows.values.dtype in (np.float32, np.uint32)
            parts.append(Rows(kept, values if whole else values[:, :width], prepared=whole))
        return type(self)(self.length, parts[0], parts[1])

    def values(self, kind: Kind, variable: int, begin: int, end: int) -> NDArray[Any]:
        """Instants [begin, end) of a variable as the kernels see them: float32, or bool."""
        rows = self.rows(kind)
        if kind == NUMERIC:
            return _narrowed(rows.values[variable, begin:end], rows.names[variable], self._warned)
        first = begin // WORD_BITS
        words = rows.values[variable, first : -(-end // WORD_BITS)]
        bits = np.unpackbits(np.ascontiguousarray(words, "<u4").view(np.uint8), bitorder="little")
        return bits[begin - first * WORD_BITS : end - first * WORD_BITS].view(bool)

    def stage(self, kind: Kind, first: int, begin: int, out: NDArray[Any]) -> None:
        """Copy elements of some rows, as the kernels see them.

        Parameters
        ----------
        kind : {"numeric", "boolean"}
            Which rows.
        first, begin : int
            Of the variables and of the elements, as many as `out` has; beyond the end of the trace
            the last instant is repeated.
        out : numpy.ndarray
            float32 or uint32 [variables, elements].
        """
        rows = self.rows(kind)
        end = min(begin + out.shape[1], self.elements(kind))
        part = rows.values[first : first + len(out), begin:end]
        count = end - begin
        if part.dtype == out.dtype:
            out[:, :count] = part  # at once: between two calls other threads take the interpreter
        else:
            for row, values, name in zip(out, part, rows.names[first:], strict=False):
                row[:count] = _narrowed(values, name, self._warned)
        if count == out.shape[1]:
            return
        for row in out:
            last = row[count - 1]
            if kind != NUMERIC:
                last = np.uint32(0xFFFFFFFF if last >> np.uint32(WORD_BITS - 1) else 0)
            row[count:] = last

    def prepared(self) -> Self:
        """Give the same trace in memory that devices on the host read as it is."""
        return self._moved(
            lambda count, elements, dtype: (empty_rows(count, elements, dtype), None)
        )

    def pinned(self, device: Device) -> Self:
        """Give the same trace in memory from which a GPU copies by itself, at full speed.

        Parameters
        ----------
        device : Device
            Whose copies it is for.
        """

        def make(count: int, elements: int, dtype: Any) -> tuple[NDArray[Any], Any]:
            padded = -(-elements // ROW_MULTIPLE) * ROW_MULTIPLE
            memory = Pinned(device, max(count * padded, 1), dtype)
            return memory.array[: count * padded].reshape(count, padded), (device, memory)

        return self._moved(make)

    def _moved(self, make: Callable[[int, int, Any], tuple[NDArray[Any], Any]]) -> Self:
        parts = []
        for kind, dtype in ((NUMERIC, np.float32), (BOOLEAN, np.uint32)):
            values, pinned = make(self.count(kind), self.elements(kind), dtype)
            if len(values):
                self.stage(kind, 0, 0, values)
            parts.append(Rows(self.rows(kind).names, values, prepared=True, pinned=pinned))
        return type(self)(self.length, parts[0], parts[1])


def _narrowed(
    values: NDArray[Any], name: str, warned: dict[str, bool] | None = None
) -> NDArray[np.float32]:
    """Convert to float32, and log once for each variable if that changes a value."""
    if values.dtype == np.float32:
        return np.asarray(values)
    narrow = apart(np.errstate(over="ignore")(lambda: np.asarray(values, np.float32)))
    if values.dtype.itemsize > 2 and not (warned or {}).get(name):
        wide = np.asarray(values, np.float64)
        if not np.array_equal(wide, narrow, equal_nan=True):
            if warned is not None:
                warned[name] = True
            log.warning(
                "variable %r has values that 32 bits round, so different ones may compare as equal",
                name,
            )
    return narrow


def _check(names: list[str], count: int, length: int) -> None:
    if count == 0 or length == 0:
        raise InvalidArgumentError(
            f"a trace of {count} variables and {length} instants is empty; it needs one of each."
        )
    if count > MOST_VARIABLES:
        raise InvalidArgumentError(
            f"{count} variables are too many: a trace is [variables, instants]; transpose it."
        )
    if len(names) != count or len(set(names)) != count:
        raise InvalidArgumentError(
            f"names= needs {count} different names; got {len(names)}, of which "
            f"{len(set(names))} are different."
        )


def _rename(columns: Mapping[Any, Any], names: Sequence[str]) -> dict[str, Any]:
    _check(list(names), len(columns), 1)
    return dict(zip(names, columns.values(), strict=True))


def _with_names(rows: Rows, names: tuple[str, ...]) -> Rows:
    return Rows(names, rows.values, rows.prepared, rows.pinned)


def _no_rows(dtype: Any) -> Rows:
    return Rows((), np.empty((0, ROW_MULTIPLE), dtype))


def _packed(names: Sequence[str], columns: list[NDArray[Any]]) -> Rows:
    words = -(-len(columns[0]) // WORD_BITS)
    rows = empty_rows(len(columns), words, np.uint32)
    for row, column in zip(rows, columns, strict=True):
        pack(column, row)
    return Rows(tuple(names), rows, prepared=True)
