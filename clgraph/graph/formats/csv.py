"""Tables of edges with comma-, semicolon- or tab-separated columns."""

from collections.abc import Iterator

from clgraph.graph.formats.assemble import file_ids
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.snap import read_listing, title
from clgraph.graph.formats.table import Layout
from clgraph.graph.formats.text import lines
from clgraph.graph.graph import Graph

__all__ = ["read", "write"]


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read columns source, target and perhaps weight, in this order; more are left out.

    The first line may hold names. The separator is the first of comma, semicolon and tab that the
    first line has, else white space. Comments and ids are treated as in SNAP files.
    """
    comments = source.header(b"#")
    first = source.read_line()
    marker = next((sign for sign in (b",", b";") if sign in first), b"")
    words = first.replace(marker or b"\t", b" ").split()
    has_names = bool(words) and not any(
        word[:1].isdigit() or word[:1] == b"-" for word in words[:2]
    )
    if not has_names:
        source.unread_line(first)
    layout = Layout(columns=(2, 3, 4), comments=b"#", marker=marker, separators=b'"')
    return read_listing(source, layout, comments, directed=directed, weighted=weighted)


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file: names, then edges; comments before them only where they are needed.

    They are if the graph is undirected, in which case each edge is listed once, or if some vertex
    has no edge.
    """
    src, dst, weights = graph.listed_edges()
    names = file_ids(graph)
    columns = [src, dst] if names is None else [names[src], names[dst]]
    if not graph.directed or graph.statistics().isolated or not graph.n:
        yield title(graph)
    if weights is not None:
        columns.append(weights)
    yield b"source,target\n" if weights is None else b"source,target,weight\n"
    yield from lines(columns, b",")
