"""Edge lists of the Network Repository (.edges): https://networkrepository.com/."""

from collections.abc import Iterator

from clgraph.graph.formats import koblenz
from clgraph.graph.formats.assemble import says_undirected
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.snap import read_listing
from clgraph.graph.formats.table import Layout
from clgraph.graph.graph import Graph

__all__ = ["read", "write"]

_LAYOUT = Layout(columns=(2, 3, 4), separators=b",")


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read lines of two ids and perhaps a weight and a time, separated by spaces or commas.

    With a head as of the Koblenz collection (kind and sizes) the file is read as one of those.
    Otherwise ids that leave gaps are renumbered and kept as labels, and the graph is directed
    unless a comment calls it undirected.
    """
    comments = source.header(b"%#")
    said = koblenz.heading(comments)
    if said.sizes is not None:
        return koblenz.read_with_heading(source, said, directed=directed, weighted=weighted)
    if directed is None:
        directed = said.kind not in ("sym", "bip") and not says_undirected(comments)
    return read_listing(source, _LAYOUT, comments, directed=directed, weighted=weighted)


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file, with the head of the Koblenz collection."""
    return koblenz.write(graph)
