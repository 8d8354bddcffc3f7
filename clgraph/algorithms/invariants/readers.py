"""Reading traces from files: CSV, VCD, Parquet, npy and npz."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.invariants.trace import Trace
from clgraph.errors import ClgraphError, GraphFormatError, InvalidArgumentError
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["read_trace"]

TRUTHS = {"true": True, "false": False}
MOST_CELLS = 1 << 32  # variables times instants of a waveform, whose file says only what changes


def read_trace(path: str | Path) -> Trace:
    """Read a trace by the end of its name.

    Parameters
    ----------
    path : str or Path
        ``.csv`` with the names of the variables in the first line and an instant in each other;
        ``.vcd``, a value change dump, read by the package pyvcd; ``.parquet``, read by pyarrow;
        ``.npz`` with an array for each variable; ``.npy`` [variables, instants], memory-mapped.

    Raises
    ------
    InvalidArgumentError
        If the name has no such end.
    GraphFormatError
        If the file does not follow its format; the message says where.
    ImportError
        If the package that reads it is not installed.
    """
    place = Path(path)
    reader = READERS.get(place.suffix.lower())
    if reader is None:
        raise InvalidArgumentError(
            f"{place} does not end in one of {', '.join(READERS)}, so its format is unknown."
        )
    with place.open("rb"):
        pass  # what is wrong from here on is wrong with its contents
    try:
        return reader(place)
    except (ClgraphError, ImportError):
        raise
    except Exception as error:  # modules that read damaged bytes raise whatever they come across
        what = str(error) or type(error).__name__
        raise GraphFormatError(f"{place}: it is damaged or no such file ({what}).") from error


def _read_csv(path: Path) -> Trace:
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = csv.reader(file)
        header = next(lines, None)
        if not header:
            raise GraphFormatError(f"{path}:1: the names of the variables are missing.")
        if len(set(header)) != len(header):
            raise GraphFormatError(f"{path}:1: two columns have the same name.")
        columns: list[list[float]] = [[] for _ in header]
        truths = [True] * len(header)
        for row in lines:
            if not row:
                continue
            if len(row) != len(header):
                raise GraphFormatError(
                    f"{path}:{lines.line_num}: {len(row)} values for {len(header)} variables."
                )
            for i, text in enumerate(row):
                value = TRUTHS.get(text.strip().lower())
                if value is None:
                    truths[i] = False
                    columns[i].append(_number(text, path, lines.line_num))
                else:
                    columns[i].append(value)
    if not columns[0]:
        raise GraphFormatError(f"{path}:2: there is no instant after the names.")
    return Trace.from_columns(
        {
            name.strip(): np.array(column, bool if truth else np.float64)
            for name, column, truth in zip(header, columns, truths, strict=True)
        }
    )


def _number(text: str, path: Path, line: int) -> float:
    try:
        if not text.isascii() or "_" in text:
            raise ValueError  # noqa: TRY301 - to Python these may be numbers
        return float(text) if text.strip() else float("nan")
    except ValueError:
        raise GraphFormatError(
            f"{path}:{line}: {text!r} is neither a number nor true or false."
        ) from None


def _read_vcd(path: Path) -> Trace:  # noqa: C901 (a case for each kind of token)
    """Sample all variables at every time at which one changes."""
    reader = module("vcd.reader", needed_for="reading a VCD file", install="pyvcd")
    kinds = reader.TokenKind
    scopes: list[str] = []
    names: dict[str, tuple[str, int]] = {}
    changes: dict[str, list[tuple[int, float]]] = {}
    instants = 0
    with path.open("rb") as file:
        try:
            for token in reader.tokenize(file):
                if token.kind is kinds.SCOPE:
                    scopes.append(token.scope.ident)
                elif token.kind is kinds.UPSCOPE:
                    scopes.pop()
                elif token.kind is kinds.VAR:
                    variable = token.var
                    name = ".".join([*scopes, variable.reference])
                    size = 0 if variable.type_.name == "real" else variable.size
                    if variable.id_code not in names:
                        names[variable.id_code] = (name, size)
                        changes[variable.id_code] = []
                elif token.kind is kinds.CHANGE_TIME:
                    instants += 1
                elif token.kind in (kinds.CHANGE_SCALAR, kinds.CHANGE_VECTOR, kinds.CHANGE_REAL):
                    change = token.data
                    if change.id_code not in changes:
                        raise GraphFormatError(f"{path}: {change.id_code!r} is not declared.")
                    value = _vcd_value(change.value)
                    changes[change.id_code].append((max(instants - 1, 0), value))
        except (reader.VCDParseError, IndexError, ValueError) as error:
            raise GraphFormatError(f"{path}: {error}") from error
    instants = max(instants, 1)
    if not names or len(names) * instants > MOST_CELLS:
        raise GraphFormatError(
            f"{path}: {len(names)} variables at {instants} times; at least one variable and at "
            f"most {MOST_CELLS} values in all are needed."
        )
    columns = {}
    for code, (name, size) in names.items():
        values = _held(changes[code], instants)
        single = size == 1 and not np.isnan(values).any()
        columns[name] = values != 0 if single else values
    return Trace.from_columns(columns)


def _vcd_value(value: Any) -> float:
    """Give a number; what is unknown or floating has none."""
    if isinstance(value, str):
        return float(int(value, 2)) if value and set(value) <= {"0", "1"} else float("nan")
    return float(value)


def _held(changes: list[tuple[int, float]], instants: int) -> np.ndarray[Any, Any]:
    """Repeat each value until the next change; before the first there is none."""
    values = np.full(instants, np.nan)
    for (begin, value), (end, _) in zip(changes, [*changes[1:], (instants, 0.0)], strict=True):
        values[begin : max(end, begin + 1)] = value
    return values


def _read_parquet(path: Path) -> Trace:
    parquet = module("pyarrow.parquet", needed_for="reading a Parquet file", install="pyarrow")
    table = parquet.read_table(path)
    return Trace.from_columns({name: table.column(name).to_numpy() for name in table.column_names})


def _read_npy(path: Path) -> Trace:
    return Trace.of(np.load(path, allow_pickle=False, mmap_mode="r"))


def _read_npz(path: Path) -> Trace:
    # Given a name, NumPy leaves a damaged file open.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return Trace.from_columns({name: arrays[name] for name in arrays.files})


READERS: dict[str, Callable[[Path], Trace]] = {
    ".csv": _read_csv,
    ".vcd": _read_vcd,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
}
