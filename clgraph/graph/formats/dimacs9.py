"""Shortest-path instances of the ninth DIMACS challenge, and their relatives of PACE 2016."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clgraph.graph.formats.assemble import choose_weights, from_listing
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.table import Layout, read_table
from clgraph.graph.formats.text import lines
from clgraph.graph.graph import Graph

__all__ = ["read", "write"]

_ARCS = Layout(columns=(3,), base=1, comments=b"c", marker=b"a", leading=True)
_EDGES = Layout(columns=(2,), base=1, comments=b"c")


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read ``p sp N M`` and arc lines ``a U V WEIGHT``: directed, weighted.

    A problem line ``p tw N M`` announces plain lines ``U V`` instead: undirected, no weights.
    """
    source.header(b"c")
    text = source.read_line()
    words = text[:200].decode("utf-8", "replace").split()
    sizes = words[2:]
    if len(words) != 4 or words[0] != "p" or words[1] not in ("sp", "tw"):
        shown = text[:40].decode("utf-8", "replace").strip()
        source.fail(f"the problem line must be: p sp VERTICES ARCS, not {shown!r}")
    if not all(word.isdecimal() and word.isascii() and len(word) < 20 for word in sizes):
        source.fail(f"{' '.join(sizes)[:60]} are not a number of vertices and of arcs")
    n, rows = int(sizes[0]), int(sizes[1])
    arcs = words[1] == "sp"
    source.check_rows(rows, 8 if arcs else 4, "arcs")
    source.check_vertices(n)
    table = read_table(source, _ARCS if arcs else _EDGES, ids=n, rows=rows, what="arcs")
    weights = np.empty(0, np.int64) if arcs and table.weights is None else table.weights
    if not choose_weights(source, weighted, has=arcs, default=True):
        weights = None
    table = replace(table, weights=weights)
    return from_listing(source, table, n, directed=arcs if directed is None else directed)


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file: every arc, with weight 1 if the graph has none.

    The format knows neither direction nor absent weights: read an undirected graph back with
    ``directed=False``, and one without weights with ``weighted=False``.
    """
    sources = np.repeat(np.arange(1, graph.n + 1), graph.degrees)
    weights = np.ones(graph.m, np.int32) if graph.weights is None else graph.weights
    yield f"p sp {graph.n} {graph.m}\n".encode()
    yield from lines([sources, graph.indices.astype(np.int64) + 1, weights], prefix=b"a ")
