"""METIS graph files (.graph), also used by the tenth DIMACS challenge: one line per vertex."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clgraph.errors import InvalidGraphError
from clgraph.graph import csr
from clgraph.graph.csr import Array
from clgraph.graph.formats.assemble import choose_weights
from clgraph.graph.formats.files import Block, Source
from clgraph.graph.formats.table import blank_comments
from clgraph.graph.formats.text import adjacency_lines
from clgraph.graph.formats.tokens import IntegerOverflowError, Tokens, separator_table
from clgraph.graph.graph import Graph

__all__ = ["read", "write"]

_TABLE = separator_table()
_MAX_SKIPPED = 1000
_NUMBER_BYTES = 32  # more than a number and its separator take
_LEAST_LINE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class _Head:
    """First line of a file: vertices, edges, numbers before the neighbours, weights after them."""

    n: int
    edges: int
    skipped: int
    weighted: bool


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read a header ``N M [FMT [NCON]]`` and one line of neighbours, from 1, for each vertex.

    Every edge stands on the lines of both its ends. Vertex sizes and weights are left out. Files
    that list arcs in one direction need ``directed=True``.
    """
    source.header(b"%")
    head = _head(source)
    lines = _Lines(head)
    longest = _NUMBER_BYTES * (head.skipped + 2 * head.edges * (1 + head.weighted))
    for block in source.blocks(longest_line=max(longest, _LEAST_LINE_BYTES)):
        lines.read(block)
    if lines.row < head.n:
        source.fail(f"the file ends after the lines of {lines.row} of its {head.n} vertices")
    degrees = np.concatenate(lines.degrees or [np.empty(0, np.int64)])
    heads = np.concatenate(lines.heads or [np.empty(0, np.int32)])
    weights = np.concatenate(lines.weights or [np.empty(0, np.int64)]) if head.weighted else None
    tails = np.repeat(np.arange(head.n, dtype=heads.dtype), degrees)
    _check_edge_count(source, head, tails, heads, directed)
    if not choose_weights(source, weighted, has=weights is not None, default=True):
        weights = None
    arrays = csr.edges_to_csr(head.n, tails, heads, weights)
    if directed:
        return Graph.trusted(arrays, directed=True)
    try:
        return Graph(*arrays, directed=False)
    except InvalidGraphError:
        tail, head_vertex, problem = csr.asymmetric_edge(arrays, csr.transpose_csr(*arrays)) or (
            0,
            0,
            "has no reverse",
        )
        source.fail(
            f"edge {tail + 1} -> {head_vertex + 1} {problem}, but METIS lists every edge at both "
            "ends; pass directed=True if the file lists arcs",
            1,
        )


def _head(source: Source) -> _Head:
    text = source.read_line()
    words = text[:200].split()
    shown = text[:40].decode("utf-8", "replace").strip()
    digits = all(word.isdigit() and len(word) < 20 for word in words)
    if not 2 <= len(words) <= 4 or not digits:
        source.fail(f"the header must be: VERTICES EDGES [FMT [NCON]], not {shown!r}")
    n, edges = int(words[0]), int(words[1])
    fmt = words[2].decode().rjust(3, "0") if len(words) > 2 else "000"
    if len(fmt) != 3 or set(fmt) - {"0", "1"}:
        source.fail(f"fmt {fmt!r} must be three digits of 0 and 1: sizes, vertex, edge weights")
    constraints = int(words[3]) if len(words) > 3 else 1
    if constraints > _MAX_SKIPPED:
        source.fail(f"{constraints} weights for each vertex are more than {_MAX_SKIPPED}")
    skipped = int(fmt[0]) + int(fmt[1]) * constraints
    source.check_rows(n, 1, "vertices")
    source.check_rows(edges, 2, "edges")  # a self-loop stands in one line only
    source.check_vertices(n)
    return _Head(n, edges, skipped, fmt[2] == "1")


class _Lines:
    """Collects the lines of vertices, block after block."""

    def __init__(self, head: _Head) -> None:
        self.head = head
        self.row = 0
        self.degrees: list[Array] = []
        self.heads: list[Array] = []
        self.weights: list[Array] = []

    def read(self, block: Block) -> None:
        """Take the lines of one block."""
        tokens = Tokens.of(blank_comments(block.data, b"%"), _TABLE)
        per_line, first_token = self._vertex_lines(block, tokens)
        skipped, step = self.head.skipped, 1 + self.head.weighted
        short = (per_line < skipped) | ((per_line - skipped) % step != 0)
        if short.any():
            line = int(np.argmax(short))
            problem = f"the line has {per_line[line]} numbers, which does not fit the fmt field"
            block.fail(Tokens.offset(self._place(tokens, first_token[line])), problem)
        wanted = np.ones(len(tokens.starts), bool)
        for offset in range(skipped):
            wanted[first_token + offset] = False
        starts, ends = tokens.starts[wanted], tokens.ends[wanted]
        self.heads.append(self._ids(block, tokens, starts[::step], ends[::step]))
        if self.head.weighted:
            self.weights.append(_weights(block, tokens, starts[1::2], ends[1::2]))
        self.degrees.append((per_line - skipped) // step)
        self.row += len(per_line)

    def _vertex_lines(self, block: Block, tokens: Tokens) -> tuple[Array, Array]:
        """Tokens on each line that belongs to a vertex, and the first of them."""
        per_line = tokens.per_line()
        first_token = np.cumsum(per_line) - per_line
        if b"%" in block.data:
            begins = np.concatenate([[0], np.flatnonzero(_bytes(block) == ord("\n"))[:-1] + 1])
            vertex = _bytes(block)[begins] != ord("%")
            per_line, first_token = per_line[vertex], first_token[vertex]
        surplus = self.row + len(per_line) - self.head.n
        if surplus > 0:
            keep = len(per_line) - surplus
            extra = np.flatnonzero(per_line[keep:])
            if len(extra):
                place = self._place(tokens, first_token[keep + extra[0]])
                problem = f"the file goes on after the lines of its {self.head.n} vertices"
                block.fail(Tokens.offset(place), problem)
            per_line, first_token = per_line[:keep], first_token[:keep]
        return per_line, first_token

    @staticmethod
    def _place(tokens: Tokens, token: int) -> int:
        return int(tokens.starts[token]) if token < len(tokens.starts) else len(tokens.text) - 1

    def _ids(self, block: Block, tokens: Tokens, starts: Array, ends: Array) -> Array:
        odd = tokens.others_within(starts, ends) > 0
        place = int(np.argmax(odd)) if odd.any() else -1
        if place < 0:
            try:
                numbers = tokens.integers(starts, ends)
                outside = (numbers < 1) | (numbers > self.head.n)
                place = int(np.argmax(outside)) if outside.any() else -1
            except IntegerOverflowError as error:
                place = error.args[0]
        if place >= 0:
            text = tokens.text[starts[place] : min(ends[place], starts[place] + 40)].tobytes()
            block.fail(
                Tokens.offset(starts[place]),
                f"neighbour {text.decode('ascii')!r} is not a vertex from 1 to {self.head.n}",
            )
        return (numbers - 1).astype(csr.index_dtype(self.head.n), copy=False)


def _bytes(block: Block) -> Array:
    return np.frombuffer(block.data, np.uint8)


def _weights(block: Block, tokens: Tokens, starts: Array, ends: Array) -> Array:
    try:
        numbers: Array | int | None = tokens.signed_integers(starts, ends)
    except IntegerOverflowError as error:
        numbers = int(error.args[0])
    if numbers is None:
        numbers = tokens.decimals(starts, ends)
    if isinstance(numbers, int):
        text = tokens.text[starts[numbers] : min(ends[numbers], starts[numbers] + 40)].tobytes()
        problem = f"weight {text.decode('ascii')!r} is not a finite number within 64 bits"
        block.fail(Tokens.offset(starts[numbers]), problem)
    return numbers


def _check_edge_count(
    source: Source, head: _Head, tails: Array, heads: Array, directed: bool | None
) -> None:
    loops = int(np.count_nonzero(tails == heads))
    # A self-loop stands once on the line of its vertex; some writers count it as half an edge.
    allowed = {2 * head.edges, 2 * head.edges - loops}
    if directed:
        allowed.add(head.edges)
    if len(heads) not in allowed:
        source.fail(
            f"{head.edges} edges are declared, so lines should hold {2 * head.edges} neighbours, "
            f"but they hold {len(heads)}; pass directed=True if the file lists arcs",
            1,
        )


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file. A directed graph lists each arc at its tail; read it with directed=True."""
    weights = graph.weights
    edges = graph.m if graph.directed else graph.statistics().edges
    fmt = "" if weights is None else " 1"
    yield f"{graph.n} {edges}{fmt}\n".encode()
    columns = [graph.indices.astype(np.int64) + 1]
    if weights is not None:
        columns.append(weights)
    yield from adjacency_lines(graph.indptr, columns)
