"""Graphs, labels and similarities as the kernels want them."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.errors import GraphFormatError, InvalidArgumentError, InvalidGraphError
from clgraph.graph import Graph, as_graph
from clgraph.graph.arrays import real_numbers
from clgraph.graph.csr import CSR, edges_to_csr, row_ids, transpose_csr
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["ONE", "LabelCodes", "fixed_point", "load_similarity", "one_each", "read_labels",
           "simple_graph"]  # fmt: skip

ONE = 1 << 20  # a similarity of 1: a step of 1e-6, and sums of 2^43 of them fit 64 bits
UNKNOWN = np.uint32(2**32 - 1)  # code of query labels that no vertex of the target has
_NUMBER = re.compile(rb"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Entries that a dense file lists, by its symmetry.
_FILLS: dict[bytes, Callable[[int, int], int]] = {
    b"general": lambda rows, columns: rows * columns,
    b"symmetric": lambda rows, _: rows * (rows + 1) // 2,
    b"skew-symmetric": lambda rows, _: rows * (rows - 1) // 2,
}


def simple_graph(graph: Any, name: str) -> Graph:
    """Give an undirected graph without self-loops and parallel edges.

    Parameters
    ----------
    graph : Graph or scipy.sparse matrix
        Whose edges count once, whatever their weights.
    name : str
        What errors call it.

    Returns
    -------
    Graph
        The very object if there is nothing to drop.

    Raises
    ------
    InvalidGraphError
        If it is no graph, or an edge has no reverse.
    """
    given = as_graph(graph, weighted=False)
    indptr, indices = given.indptr, given.indices
    rows = row_ids(indptr, indices.dtype)
    keep = rows != indices
    keep[1:] &= (rows[1:] != rows[:-1]) | (indices[1:] != indices[:-1])
    clean = bool(keep.all())
    if clean and not given.directed:
        return given
    arrays: CSR = (indptr, indices, None)
    if not clean:
        arrays = edges_to_csr(given.n, rows[keep], indices[keep], None)
    if given.directed:
        reverse = transpose_csr(*arrays)
        if not np.array_equal(arrays[0], reverse[0]) or not np.array_equal(arrays[1], reverse[1]):
            raise InvalidGraphError(
                f"subgraph matching needs undirected graphs, but the {name} has an edge without a "
                "reverse; pass graph.symmetrized()."
            )
    return Graph.trusted(arrays, directed=False, labels=given.labels)


class LabelCodes:
    """Numbers for the labels of a target, and of queries in the same numbers.

    Parameters
    ----------
    labels : iterable of hashable, optional
        One for each of the target's vertices; None for a target without labels, where all
        vertices are alike.
    n : int
        Vertices of the target.
    """

    def __init__(self, labels: Iterable[Any] | None, n: int) -> None:
        self._numbers: dict[Any, int] | None = None
        self._known: NDArray[Any] | None = None
        self.codes = np.zeros(n, np.uint32)
        self.count = 1
        if labels is None:
            return
        array = _label_array(labels, n, "target")
        if isinstance(array, np.ndarray):
            self._known, codes = np.unique(array, return_inverse=True)
            self.codes, self.count = codes.astype(np.uint32), len(self._known)
            return
        self._numbers = {}
        numbers = self._numbers
        self.codes = np.array([numbers.setdefault(x, len(numbers)) for x in array], np.uint32)
        self.count = len(numbers)

    @property
    def labelled(self) -> bool:
        """Whether the target has labels."""
        return self._numbers is not None or self._known is not None

    def of_query(self, labels: Iterable[Any] | None, n: int) -> NDArray[np.uint32]:
        """Numbers of a query's labels, uint32 [n]."""
        if labels is None:
            if self.labelled:
                raise InvalidArgumentError(
                    "the target has labels and the query has none; pass labels for both, or for "
                    "neither."
                )
            return np.zeros(n, np.uint32)
        if not self.labelled:
            raise InvalidArgumentError(
                "the query has labels and the target has none; pass labels for both, or for "
                "neither."
            )
        array = _label_array(labels, n, "query")
        known = self._known
        if known is not None and isinstance(array, np.ndarray) and len(known):
            comparable = known.dtype.kind in "iub" and array.dtype.kind in "iub"
            if comparable or known.dtype.kind == array.dtype.kind:
                places = np.minimum(np.searchsorted(known, array), len(known) - 1)
                return np.where(known[places] == array, places, UNKNOWN).astype(np.uint32)
        if self._numbers is None:
            listed = [] if known is None else known.tolist()
            self._numbers = {label: number for number, label in enumerate(listed)}
        items = array.tolist() if isinstance(array, np.ndarray) else array
        return np.array([self._numbers.get(x, int(UNKNOWN)) for x in items], np.uint32)


def _label_array(labels: Iterable[Any], n: int, name: str) -> NDArray[Any] | list[Any]:
    """Labels as an array of numbers or texts, or as a list of whatever else they are."""
    if not hasattr(labels, "__iter__"):
        raise InvalidArgumentError(f"labels of the {name} must be a list, one for each vertex.")
    items: NDArray[Any] | list[Any] = labels if isinstance(labels, np.ndarray) else list(labels)
    if len(items) != n or (isinstance(items, np.ndarray) and items.ndim != 1):
        shape = np.shape(items) if isinstance(items, np.ndarray) else len(items)
        raise InvalidArgumentError(
            f"the {name} has {n} vertices and {shape} labels; each vertex needs one."
        )
    if not isinstance(items, np.ndarray):
        kinds = {type(item) for item in items}
        if len(kinds) == 1 and kinds <= {int, str}:
            array = np.asarray(items)
            if array.dtype.kind in "iU":
                return array
        for place, item in enumerate(items):
            missing = item is None or (isinstance(item, float) and math.isnan(item))
            if missing:
                raise InvalidArgumentError(
                    f"vertex {place} of the {name} has no label; give it one, a label that no "
                    "other vertex has if it is like none."
                )
            try:
                hash(item)
            except TypeError:
                raise InvalidArgumentError(
                    f"the label of vertex {place} of the {name} is {item!r}, which is not hashable."
                ) from None
        return items
    if items.dtype.kind in "iubU":
        return items
    return _label_array(items.tolist(), n, name)


def fixed_point(similarity: Any, rows: int, n: int) -> NDArray[np.uint32]:
    """Bring similarities to fixed point.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix [rows, n], or path
        In [0, 1]; what a sparse matrix does not store is 0. A path as for `load_similarity`.
    rows, n : int
        Vertices of the query and of the target.

    Returns
    -------
    numpy.ndarray
        uint32 [rows, n], in units of 1 / `ONE`; only 0 becomes 0.

    Raises
    ------
    InvalidArgumentError
        If the shape differs, or an entry is not in [0, 1].
    """
    if isinstance(similarity, (str, Path)):
        similarity = load_similarity(similarity)
    if callable(getattr(similarity, "toarray", None)):
        similarity = similarity.toarray()
    array = real_numbers("similarity", similarity)
    if array.shape != (rows, n):
        raise InvalidArgumentError(
            f"similarity has shape {array.shape}; the query has {rows} vertices and the target {n},"
            f" so it must be {(rows, n)}."
        )
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        row, t = np.argwhere(wrong)[0]
        raise InvalidArgumentError(
            f"similarity[{row}, {t}] is {array[row, t]}; all must be in [0, 1]. Divide each row by "
            "its maximum."
        )
    fixed: NDArray[np.uint32] = np.rint(array * ONE).astype(np.uint32)
    fixed[(array > 0) & (fixed == 0)] = 1
    return fixed


def load_similarity(path: str | Path) -> Any:
    """Read similarities: .npy, .npz of scipy.sparse, .mtx, or text with one row a line.

    Raises
    ------
    InvalidArgumentError
        If the file does not hold a matrix; the message names it.
    OSError
        If it cannot be read.
    """
    file = Path(path)
    with file.open("rb"):
        pass  # what is wrong from here on is wrong with its contents
    try:
        if file.suffix == ".npy":
            return np.load(file, allow_pickle=False)
        if file.suffix == ".npz":
            with file.open("rb") as stream:  # of a name NumPy leaves a damaged file open
                return module("scipy.sparse").load_npz(stream)
        if file.suffix == ".mtx":
            return module("scipy.io").mmread(io.BytesIO(_matrix_market(file.read_bytes())))
        return np.loadtxt(file, ndmin=2, delimiter="," if file.suffix == ".csv" else None)
    except Exception as error:  # modules that read damaged bytes raise whatever they come across
        if isinstance(error, ImportError):
            raise
        what = str(error) or type(error).__name__
        raise InvalidArgumentError(f"{file}: not a matrix of similarities: {what}") from error


def _matrix_market(content: bytes) -> bytes:
    """Give a Matrix Market file again if SciPy can read it: 1.17 ends the process on some others.

    Raises
    ------
    ValueError
        If it is none of numbers, or a line has more or less than it must.
    """
    head, _, rest = content.partition(b"\n")
    words = head.lower().split()
    kinds = {2: (b"array", b"coordinate"), 3: (b"real", b"integer", b"pattern"), 4: _FILLS}
    if len(words) != 5 or any(words[place] not in known for place, known in kinds.items()):
        raise ValueError("the first line is no head of a Matrix Market file of real numbers")
    rows = [line.split() for line in rest.split(b"\n")]
    rows = [row for row in rows if row and not row[0].startswith(b"%")]
    dense = words[2] == b"array"
    wanted = 1 if dense else 2 if words[3] == b"pattern" else 3
    if not rows or len(rows[0]) != 3 - dense or not all(map(bytes.isdigit, rows[0])):
        raise ValueError("the line of its sizes is missing")
    for row in rows[1:]:
        if len(row) != wanted or not all(map(_NUMBER.fullmatch, row)):
            raise ValueError(f"{b' '.join(row)[:40]!r} is not {wanted} numbers")
    sizes = [int(size) for size in rows[0]]
    count = _FILLS[words[4]](*sizes) if dense else sizes[2]
    if len(rows) - 1 != count:
        raise ValueError(f"it has {len(rows) - 1} entries, and should have {count}")
    return b"\n".join([head, *map(b" ".join, rows), b""])


def read_labels(path: str | Path) -> list[str]:
    """Read labels, one a line, in the order of the vertices.

    Raises
    ------
    GraphFormatError
        If the file is no text in UTF-8.
    """
    try:
        return Path(path).read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise GraphFormatError(f"{path}: it is no text in UTF-8 ({error}).") from error


def one_each(name: str, given: Any, count: int, *, several: bool) -> list[Any]:
    """Give one thing for each query: the entries of a list, or what a single query was given."""
    if not several or given is None:
        return [given] * count
    listed = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    if not listed or len(given) != count:
        raise InvalidArgumentError(
            f"{name} for {count} queries must be a list with one entry for each query."
        )
    return list(given)
