"""What counts the triangles of a graph in the configured way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph.algorithms.triangles.config import Bitmap, Merge
from clgraph.algorithms.triangles.edges import EdgeCounting
from clgraph.algorithms.triangles.orient import Orientation, StoredRows
from clgraph.algorithms.triangles.owners import OwnerCounting
from clgraph.algorithms.triangles.rows import RowCounting

if TYPE_CHECKING:
    from clgraph.algorithms.triangles.config import Resolved
    from clgraph.device import Device
    from clgraph.device.memory.allocation import Progress
    from clgraph.engine.blocks import BlockRows
    from clgraph.graph import Graph

__all__ = ["counting_of"]


def counting_of(
    graph: Graph | BlockRows, config: Resolved, device: Device, progress: Progress | None
) -> RowCounting | EdgeCounting | OwnerCounting:
    """Give what counts in the configured way."""
    if isinstance(config.intersect, Merge) and config.intersect.by_row:
        return RowCounting(config, device, StoredRows(graph, device, progress))
    turned = Orientation.of(graph, config, device, progress)
    if isinstance(config.intersect, Bitmap):
        return OwnerCounting(config, device, turned)
    return EdgeCounting(config, device, turned)
