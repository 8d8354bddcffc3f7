"""Connected components, whatever way edges point, as the runner measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clgraph import ConnectedComponents

from ..peers.components import WEAK, weak_labels
from .scc import Labelling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clgraph import Device

    from ..runner.graphs import Loaded

__all__ = ["PROBLEM", "WeakComponents"]


class WeakComponents(Labelling):
    """`clgraph.ConnectedComponents` of the whole graph; there is one way to find them."""

    kind = "components"
    peers = WEAK

    def __init__(self, loaded: Loaded, device: Device, config: str) -> None:
        super().__init__(loaded, device, config)
        self.plan = ConnectedComponents(loaded.graph, device=device)

    def expected(self) -> NDArray[np.int32]:
        """Label the graph by scipy."""
        return weak_labels(self.graph)


PROBLEM = WeakComponents
