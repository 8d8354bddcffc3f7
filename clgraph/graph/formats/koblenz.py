"""Networks of the Koblenz collection (out.* files): http://konect.cc/."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clgraph.graph.formats.assemble import choose_weights, from_listing
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.table import EdgeTable, Layout, read_table
from clgraph.graph.formats.text import lines
from clgraph.graph.graph import Graph

__all__ = ["Heading", "heading", "read", "read_with_heading", "write"]

_LAYOUT = Layout(columns=(2, 3, 4), base=1)
_KINDS = {"sym": False, "asym": True, "bip": False}
_NO_WEIGHTS = ("unweighted", "dynamic")
_SIZES = re.compile(r"[%#]\s*(\d{1,19})\s+(\d{1,19})\s+(\d{1,19})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Heading:
    """What the comments of a file tell.

    Attributes
    ----------
    kind : str or None
        "sym", "asym" or "bip".
    weights : str or None
        "unweighted", "posweighted", "signed", ...
    sizes : tuple of int or None
        Edges, and vertices at their first and second end.
    """

    kind: str | None
    weights: str | None
    sizes: tuple[int, int, int] | None


def heading(comments: list[str]) -> Heading:
    """Read the format line and the size line among the comments at the head of a file."""
    kind = weights = sizes = None
    for comment in comments:
        words = comment.lstrip("%# \t").lower().split()
        if kind is None and words and words[0] in _KINDS:
            kind, weights = words[0], words[1] if len(words) > 1 else None
        match = _SIZES.fullmatch(comment)
        if sizes is None and match:
            sizes = int(match[1]), int(match[2]), int(match[3])
    return Heading(kind, weights, sizes)


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read lines of two ids from 1, perhaps a weight, perhaps a time (which is left out).

    The first line, ``% sym unweighted`` for example, decides on direction and weights. Of
    bipartite networks the second side is numbered after the first.
    """
    comments = source.header(b"%#")
    said = heading(comments)
    if said.kind is None and comments and not comments[0]:
        source.fail("the file does not begin with a line such as: % sym unweighted", 1)
    return read_with_heading(source, said, directed=directed, weighted=weighted)


def read_with_heading(
    source: Source, said: Heading, *, directed: bool | None, weighted: bool | None
) -> Graph:
    """Read the edges that follow a heading."""
    edges: int | None = None
    n: int | None = None
    ids: int | tuple[int, int] | None = None
    if said.sizes is not None:
        edges, first, second = said.sizes
        if said.weights == "positive":  # edges are then counted with their multiplicities
            edges = None
        else:
            source.check_rows(edges, 4, "edges", 1)
        sides = first, second
        n = first + second if said.kind == "bip" else max(sides)
        ids = sides if said.kind == "bip" else n
        source.check_vertices(n, 1)
    table = read_table(source, _LAYOUT, ids=ids, rows=edges)
    if not table.rows and n is None:
        source.fail("the file has no edges, and no comment that states its size")
    src, dst, weights, largest = table.src, table.dst, table.weights, table.largest
    if said.kind == "bip":
        left = said.sizes[1] if said.sizes else int(src.max(initial=-1)) + 1
        dst = dst.astype(np.int64) + left
        largest = max(largest, int(dst.max(initial=-1)))
    if said.weights not in (None, *_NO_WEIGHTS) and weights is None and not table.rows:
        weights = np.empty(0, np.int64)
    default = said.weights not in _NO_WEIGHTS
    if not choose_weights(source, weighted, has=weights is not None, default=default):
        weights = None
    table = EdgeTable(src, dst, weights, largest)
    if directed is None:
        directed = _KINDS.get(said.kind or "asym", True)
    return from_listing(source, table, largest + 1 if n is None else n, directed=directed)


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file; an undirected graph lists each edge once."""
    src, dst, weights = graph.listed_edges()
    columns = [ids.astype(np.int64) + 1 for ids in (src, dst)]
    kind = "asym" if graph.directed else "sym"
    if weights is not None:
        columns.append(weights)
    weighting = "unweighted" if weights is None else "weighted"
    yield f"% {kind} {weighting}\n% {len(src)} {graph.n} {graph.n}\n".encode()
    yield from lines(columns)
