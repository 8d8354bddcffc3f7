"""Matrix Market coordinate files: https://math.nist.gov/MatrixMarket/formats.html."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clgraph.errors import GraphFormatError
from clgraph.graph import csr
from clgraph.graph.formats.assemble import choose_weights, from_listing
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.table import EdgeTable, Layout, read_table
from clgraph.graph.formats.text import lines
from clgraph.graph.graph import Graph

__all__ = ["read", "write"]

log = logging.getLogger("clgraph")

_FIELDS = ("real", "double", "integer", "pattern", "complex")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read a square coordinate matrix: entry (i, j) is an edge from i - 1 to j - 1.

    Symmetric files are undirected by default, general ones directed; skew-symmetric ones are
    directed unless weights are left out. Entries become weights unless the field is "pattern". A
    file without a banner, as Network Repository has some, is read where its sizes fit its lines.
    """
    text = source.read_line()
    if not _is_banner(text):
        source.unread_line(text)
        return _read_without_banner(source, directed=directed, weighted=weighted)
    field, symmetry = _banner(source, text)
    source.header(b"%")
    n, entries = _size(source)
    layout = Layout(
        columns=(2,) if field == "pattern" else (3,),
        base=1,
        integer_weights=field == "integer",
        comments=b"%",
    )
    table = read_table(source, layout, ids=n, rows=entries, what="entries")
    weights = table.weights
    if field != "pattern":
        number = np.int64 if field == "integer" else np.float64
        weights = np.empty(0, number) if weights is None else weights.astype(number, copy=False)
    if not choose_weights(source, weighted, has=weights is not None, default=True):
        weights = None
    table = replace(table, weights=weights)
    if symmetry == "skew-symmetric":
        if (table.src == table.dst).any():
            source.fail("a skew-symmetric matrix has no entries on the diagonal", 1)
        if weights is not None:
            table = EdgeTable(
                np.concatenate([table.src, table.dst]),
                np.concatenate([table.dst, table.src]),
                np.concatenate([weights, -weights]),
                table.largest,
            )
            return from_listing(source, table, n, directed=True)
    mirrored = symmetry != "general"
    if mirrored and directed:
        graph = from_listing(source, table, n, directed=False)
        return Graph.trusted((graph.indptr, graph.indices, graph.weights), directed=True)
    return from_listing(source, table, n, directed=not mirrored if directed is None else directed)


def _is_banner(text: bytes) -> bool:
    # Network Repository writes the banner with a single percent sign.
    return text.startswith(b"%") and text.lstrip(b"%")[:12].lower() == b"matrixmarket"


def _read_without_banner(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    source.header(b"%")
    text = source.read_line()
    try:
        source.unread_line(text)
        n, entries = _size(source)
        layout = Layout(columns=(2, 3), base=1, comments=b"%")
        table = read_table(source, layout, ids=n, rows=entries, what="entries")
    except GraphFormatError as error:
        raise GraphFormatError(
            f"{error}; without a %%MatrixMarket banner the first line must be sizes that fit the "
            'others: pass format="edges" if the file is a list of edges'
        ) from None
    directed = True if directed is None else directed
    log.warning(
        "%s has no %%%%MatrixMarket banner; it is read as %d entries of a %d x %d matrix, %s",
        source.path,
        entries,
        n,
        n,
        "directed; pass directed=False if it is not" if directed else "undirected",
    )
    has = table.weights is not None
    if not choose_weights(source, weighted, has=has, default=True):
        table = replace(table, weights=None)
    return from_listing(source, table, n, directed=directed)


def _banner(source: Source, text: bytes) -> tuple[str, str]:
    words = text[:200].decode("utf-8", "replace").lower().split()
    if len(words) != 5 or words[1] != "matrix":
        source.fail("the banner must read: %%MatrixMarket matrix coordinate FIELD SYMMETRY", 1)
    form, field, symmetry = words[2:]
    if form != "coordinate":
        source.fail(f"the matrix is stored as {form!r}; graphs are read from 'coordinate' only", 1)
    if field not in _FIELDS or symmetry not in _SYMMETRIES:
        source.fail(f"{field!r} {symmetry!r} is no field and symmetry of Matrix Market", 1)
    if field == "complex" or symmetry == "hermitian":
        source.fail("entries are complex numbers; edge weights must be real", 1)
    return field, symmetry


def _size(source: Source) -> tuple[int, int]:
    text = source.read_line()
    words = text.split()
    if len(words) != 3 or not all(word.isdigit() and len(word) < 20 for word in words):
        shown = text[:40].decode("utf-8", "replace").strip()
        source.fail(f"the size line must be: ROWS COLUMNS ENTRIES, not {shown!r}")
    rows, columns, entries = (int(word) for word in words)
    if rows != columns:
        source.fail(f"the matrix is {rows} x {columns}; an adjacency matrix is square")
    source.check_rows(entries, 4, "entries")
    source.check_vertices(rows)
    return rows, entries


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file; an undirected graph becomes the lower triangle of a symmetric matrix."""
    src, dst, weights = graph.listed_edges()
    if not graph.directed:
        src, dst = dst, src
    kind = "general" if graph.directed else "symmetric"
    field = "pattern"
    columns = [ids.astype(csr.index_dtype(graph.n)) + 1 for ids in (src, dst)]
    if weights is not None:
        field = "real" if weights.dtype.kind == "f" else "integer"
        columns.append(weights)
    yield f"%%MatrixMarket matrix coordinate {field} {kind}\n".encode()
    yield f"{graph.n} {graph.n} {len(src)}\n".encode()
    yield from lines(columns)
