"""Columns of numbers as text, many lines at a time."""

from collections.abc import Iterator, Sequence

import numpy as np

from clgraph.graph.csr import Array

__all__ = ["adjacency_lines", "lines"]

_ROWS = 1 << 17
_ZERO = np.uint8(48)


def lines(
    columns: Sequence[Array], separator: bytes = b" ", prefix: bytes = b""
) -> Iterator[bytes]:
    """Rows of a table as text, in pieces of many lines.

    Parameters
    ----------
    columns : sequence of arrays [rows]
        Integers, or floats, which are written so that reading gives the same bits.
    separator : bytes
        What stands between two columns.
    prefix : bytes
        What every line begins with.

    Yields
    ------
    bytes
        Some whole lines.
    """
    rows = len(columns[0])
    for begin in range(0, rows, _ROWS):
        parts = [column[begin : begin + _ROWS] for column in columns]
        count = len(parts[0])
        cells: list[Array] = [_constant(prefix, count)] if prefix else []
        for place, part in enumerate(parts):
            cells.append(_constant(separator, count) if place else np.empty((count, 0), np.uint8))
            cells.append(_decimals(part) if part.dtype.kind == "f" else _integers(part))
        cells.append(_constant(b"\n", count))
        table = np.concatenate(cells, axis=1).ravel()
        yield table[table != 0].tobytes()


def _constant(text: bytes, count: int) -> Array:
    return np.broadcast_to(np.frombuffer(text, np.uint8), (count, len(text)))


def _integers(numbers: Array) -> Array:
    """Decimal digits [rows, width], zero bytes where a number is shorter."""
    negative = numbers < 0
    rest = np.where(negative, -numbers.astype(np.int64), numbers).astype(np.uint64)
    width = len(str(int(rest.max(initial=0)))) + bool(negative.any())
    digits = np.zeros((len(numbers), width), np.uint8)
    sign_at = np.full(len(numbers), width - 2)
    for place in range(width - 1, -1, -1):
        busy = rest > 0 if place < width - 1 else np.ones(len(rest), bool)
        rest, digit = np.divmod(rest, np.uint64(10))
        digits[:, place] = np.where(busy, digit.astype(np.uint8) + _ZERO, 0)
        sign_at[busy] = place - 1
    if negative.any():
        rows = np.flatnonzero(negative)
        digits[rows, sign_at[rows]] = ord("-")
    return digits


def _decimals(numbers: Array) -> Array:
    """Shortest decimals that read back as the same float64 [rows, width]."""
    texts = np.array([repr(number) for number in numbers.astype(np.float64).tolist()], "S")
    return texts.view(np.uint8).reshape(len(texts), -1)


def adjacency_lines(indptr: Array, columns: Sequence[Array]) -> Iterator[bytes]:
    """One line per row of a CSR: its entries, each of them all columns, separated by spaces.

    Parameters
    ----------
    indptr : integer array [n + 1]
        Where the entries of each row begin.
    columns : sequence of arrays [m]
        What to write for each entry, as for ``lines``.

    Yields
    ------
    bytes
        Some whole lines.
    """
    n, row = len(indptr) - 1, 0
    while row < n:
        begin = int(indptr[row])
        last = int(np.searchsorted(indptr, begin + _ROWS, side="right")) - 1
        last = min(max(last, row + 1), row + _ROWS, n)
        end = int(indptr[last])
        entries = b"".join(lines([column[begin:end] for column in columns]))
        text = np.frombuffer(entries, np.uint8)
        entry_ends = np.flatnonzero(text == ord("\n"))
        text = np.where(text == ord("\n"), np.uint8(32), text)
        # A row ends behind its last entry; rows without entries are lines of their own.
        cuts = np.concatenate([[0], entry_ends + 1])[indptr[row + 1 : last + 1] - begin]
        yield np.insert(text, cuts, ord("\n")).tobytes()
        row = last
