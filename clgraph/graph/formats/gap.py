"""Files of the GAP benchmark suite: edge lists (.el, .wel) and serialised graphs (.sg, .wsg)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clgraph.errors import InvalidArgumentError, InvalidGraphError
from clgraph.graph import csr
from clgraph.graph.csr import Array
from clgraph.graph.formats.assemble import choose_weights, from_listing
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.table import Layout, read_table
from clgraph.graph.formats.text import lines
from clgraph.graph.graph import Graph

__all__ = [
    "read_el",
    "read_sg",
    "read_wel",
    "read_wsg",
    "write_el",
    "write_sg",
    "write_wel",
    "write_wsg",
]

_HEAD = np.dtype([("directed", "?"), ("edges", "<i8"), ("vertices", "<i8")])
_HEAD_BYTES = 17
_NEIGHBOUR = np.dtype("<i4")
_WEIGHTED_NEIGHBOUR = np.dtype([("vertex", "<i4"), ("weight", "<i4")])
_INT32_MAX = np.iinfo(np.int32).max


def read_el(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read lines ``U V``, ids from 0; there is one vertex more than the largest id."""
    return _read_list(source, Layout(columns=(2,), comments=b"#"), directed, weighted)


def read_wel(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read lines ``U V WEIGHT``, ids from 0; there is one vertex more than the largest id."""
    return _read_list(source, Layout(columns=(3,), comments=b"#"), directed, weighted)


def _read_list(
    source: Source, layout: Layout, directed: bool | None, weighted: bool | None
) -> Graph:
    table = read_table(source, layout)
    if not table.rows:
        source.fail("the file has no edges")
    if not choose_weights(source, weighted, has=table.weights is not None, default=True):
        table = replace(table, weights=None)
    directed = True if directed is None else directed
    return from_listing(source, table, table.largest + 1, directed=directed)


def write_el(graph: Graph) -> Iterator[bytes]:
    """Text of an .el file: every arc, weights left out.

    The format knows neither direction nor vertices without edges beyond the largest id.
    """
    return lines(_ends(graph))


def write_wel(graph: Graph) -> Iterator[bytes]:
    """Text of a .wel file: every arc, with weight 1 if the graph has none."""
    weights = np.ones(graph.m, np.int32) if graph.weights is None else graph.weights
    return lines([*_ends(graph), weights])


def _ends(graph: Graph) -> list[Array]:
    if not graph.m:
        raise InvalidArgumentError(
            "the graph has no edges, and a list of edges holds nothing else; write another format, "
            "such as npz"
        )
    return [csr.row_ids(graph.indptr), graph.indices]


def read_sg(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read a serialised graph without weights."""
    return _read_serialised(source, _NEIGHBOUR, directed, weighted)


def read_wsg(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read a serialised graph with int32 weights."""
    return _read_serialised(source, _WEIGHTED_NEIGHBOUR, directed, weighted)


def _read_serialised(
    source: Source, neighbour: np.dtype, directed: bool | None, weighted: bool | None
) -> Graph:
    head = source.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        source.fail(f"the file ends within its head of {_HEAD_BYTES} bytes", 1)
    one_way, m, n = np.frombuffer(head, _HEAD)[0].item()
    if head[0] > 1 or m < 0 or n < 0:
        source.fail(f"the head states {n} vertices, {m} edges and direction {head[0]}", 1)
    size = 8 * (n + 1) + neighbour.itemsize * m
    if size > source.possible_bytes:
        source.fail(f"{n} vertices and {m} edges are declared, but the file is shorter", 1)
    source.check_vertices(n, 1)
    offsets = _array(source, np.dtype("<i8"), n + 1).astype(np.int64, copy=False)
    neighbours = _array(source, neighbour, m)
    # What follows if they go one way are the same edges by target; graphs build that themselves.
    rest = source.rest_bytes(size + 1)
    if rest not in (0, size if one_way else 0):
        source.fail("the file goes on after the edges that its head declares", 1)
    costs = neighbours["weight"] if neighbour.names else None
    targets = neighbours["vertex"] if neighbour.names else neighbours
    if not choose_weights(source, weighted, has=costs is not None, default=True):
        costs = None
    return _checked(source, offsets, targets, costs, one_way if directed is None else directed)


def _array(source: Source, kind: np.dtype, count: int) -> Array:
    found = source.read_array(kind, count)
    if len(found) < count:
        source.fail("the file ends before the edges that its head declares", 1)
    return found


def _checked(
    source: Source, offsets: Array, targets: Array, weights: Array | None, directed: bool
) -> Graph:
    n, m = len(offsets) - 1, len(targets)
    try:
        csr.check_pointers(offsets, m)
        indptr = offsets.astype(csr.index_dtype(max(n, m)), copy=False)
        return Graph(indptr, targets, weights, directed=directed)
    except InvalidGraphError as error:
        source.fail(str(error), 1)


def write_sg(graph: Graph) -> Iterator[bytes]:
    """Bytes of an .sg file, weights left out."""
    return _serialised(graph, weighted=False)


def write_wsg(graph: Graph) -> Iterator[bytes]:
    """Bytes of a .wsg file; weights must be integers that fit int32, none count as 1."""
    return _serialised(graph, weighted=True)


def _serialised(graph: Graph, *, weighted: bool) -> Iterator[bytes]:
    if graph.n > _INT32_MAX:
        raise InvalidArgumentError("GAP's serialised graphs hold at most 2**31 - 1 vertices")
    yield np.array([(graph.directed, graph.m, graph.n)], _HEAD).tobytes()
    for half in [graph, graph.transpose()] if graph.directed else [graph]:
        yield half.indptr.astype("<i8").tobytes()
        if not weighted:
            yield half.indices.astype(_NEIGHBOUR).tobytes()
            continue
        pairs = np.empty(half.m, _WEIGHTED_NEIGHBOUR)
        pairs["vertex"] = half.indices
        pairs["weight"] = 1 if half.weights is None else _int32(half.weights)
        yield pairs.tobytes()


def _int32(weights: Array) -> Array:
    narrow: Array = weights.astype(np.int32)
    if not np.array_equal(narrow, weights):
        raise InvalidArgumentError(
            "a .wsg file holds int32 weights only; write another format, such as npz"
        )
    return narrow
