"""Edge lists of the Stanford collection: https://snap.stanford.edu/data/."""

from collections.abc import Iterator
from dataclasses import replace

from clgraph.graph.formats.assemble import (
    choose_weights,
    declared_size,
    file_ids,
    from_listing,
    says_undirected,
    with_ids_as_they_occur,
)
from clgraph.graph.formats.files import Source
from clgraph.graph.formats.table import Layout, read_table
from clgraph.graph.formats.text import lines
from clgraph.graph.graph import Graph

__all__ = ["read", "read_listing", "title", "write"]


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read lines of two ids, with a weight in the third column if there is one.

    Comments begin with ``#``. The graph is undirected if one of them says so. Ids that leave gaps
    are renumbered and kept as labels, unless a comment states more nodes than the largest id.
    """
    comments = source.header(b"#%")
    return read_listing(
        source, Layout(columns=(2, 3, 4)), comments, directed=directed, weighted=weighted
    )


def read_listing(
    source: Source,
    layout: Layout,
    comments: list[str],
    *,
    directed: bool | None,
    weighted: bool | None,
) -> Graph:
    """Read an edge list whose ids are what they are; ``comments`` are those before it."""
    table = read_table(source, layout)
    declared = declared_size(comments)
    if not table.rows and declared is None:
        source.fail("the file has no edges, and no comment that states a number of nodes")
    keep = choose_weights(source, weighted, has=table.weights is not None, default=True)
    table = table if keep else replace(table, weights=None)
    table, n, labels = with_ids_as_they_occur(source, table, declared)
    if directed is None:
        directed = not says_undirected(comments)
    return from_listing(source, table, n, directed=directed, labels=labels)


def title(graph: Graph) -> bytes:
    """Comment lines that keep what the edges alone do not say."""
    kind = "Directed" if graph.directed else "Undirected"
    edges = graph.statistics().edges
    return f"# {kind} graph\n# Nodes: {graph.n} Edges: {edges}\n".encode()


def write(graph: Graph) -> Iterator[bytes]:
    """Text of the file; labels that are ids are written in place of vertex numbers."""
    src, dst, weights = graph.listed_edges()
    names = file_ids(graph)
    columns = [src, dst] if names is None else [names[src], names[dst]]
    head = b"# FromNodeId\tToNodeId"
    if weights is not None:
        columns.append(weights)
        head += b"\tWeight"
    yield title(graph) + head + b"\n"
    yield from lines(columns, b"\t")
