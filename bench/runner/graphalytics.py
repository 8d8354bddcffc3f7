"""Results as LDBC Graphalytics has them: files of a vertex and its value a line, and its matching.

Its reference data is compared by rule: hops and labels of propagation are the same, components are
the same sets whatever they are called, and real numbers differ by a ten-thousandth of them at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import GraphFormatError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["ALGORITHMS", "matches", "read_values", "write_values"]

UNREACHED = 9223372036854775807
EPSILON = 1e-4
# What the benchmark calls each kind of case, and how its values are compared.
ALGORITHMS = {
    "bfs": ("BFS", "exact"),
    "propagation": ("CDLP", "exact"),
    "components": ("WCC", "equivalence"),
    "clustering": ("LCC", "epsilon"),
    "pagerank": ("PR", "epsilon"),
    "sssp": ("SSSP", "epsilon"),
}


def write_values(path: Path, kind: str, values: NDArray[Any], names: Any = None) -> None:
    """Write a result as the benchmark wants it.

    Parameters
    ----------
    path : Path
        Written over.
    kind : str
        A key of `ALGORITHMS`.
    values : array [n]
        By vertex; hops and distances of what is not reached are -1, infinite or the largest.
    names : integer array [n], optional
        What the benchmark calls the vertices. Labels of propagation become such names too.
    """
    array = np.asarray(values)
    ids = np.arange(len(array)) if names is None else np.asarray(names)
    if kind == "bfs":
        texts = [str(UNREACHED if hops < 0 else hops) for hops in array.tolist()]
    elif kind == "sssp":
        lost = array < 0 if array.dtype.kind in "iu" else ~np.isfinite(array)
        texts = [
            "infinity" if far else repr(float(length))
            for far, length in zip(lost.tolist(), array.tolist(), strict=True)
        ]
    elif kind == "propagation":
        texts = [str(label) for label in ids[array].tolist()]
    elif kind == "components":
        texts = [str(label) for label in array.tolist()]
    else:
        texts = [repr(value) for value in array.astype(np.float64).tolist()]
    lines = (f"{name} {value}\n" for name, value in zip(ids.tolist(), texts, strict=True))
    path.write_text("".join(lines), encoding="ascii")


def read_values(path: Path) -> dict[int, float | int]:
    """Read what the benchmark or `write_values` wrote.

    Raises
    ------
    GraphFormatError
        If a line is not a vertex and a number.
    """
    found: dict[int, float | int] = {}
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            name, text = words
            found[int(name)] = int(text) if text.lstrip("-").isdigit() else float(text)
        except ValueError:
            raise GraphFormatError(
                f"{path.name}:{number}: {line[:60]!r} is not a vertex and its value."
            ) from None
    return found


def matches(kind: str, found: dict[int, Any], reference: dict[int, Any]) -> str:
    """Say where results differ by the benchmark's rule for a kind; empty if nowhere."""
    if found.keys() != reference.keys():
        wrong = min(found.keys() ^ reference.keys())
        return f"vertex {wrong} is in one of both alone"
    rule = ALGORITHMS[kind][1]
    ours: dict[Any, Any] = {}
    theirs: dict[Any, Any] = {}
    for vertex, value in found.items():
        wanted = reference[vertex]
        if rule == "equivalence":
            alike = ours.setdefault(value, wanted) == wanted
            alike = alike and theirs.setdefault(wanted, value) == value
        elif rule == "epsilon":
            alike = value == wanted or abs(value - wanted) <= EPSILON * abs(wanted)
        else:
            alike = value == wanted
        if not alike:
            return f"vertex {vertex} has {value} instead of {wanted}"
    return ""
