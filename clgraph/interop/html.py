"""What notebooks show of graphs, results and devices: small tables, everything escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clgraph.graph import Graph

__all__ = ["of_device", "of_graph", "of_result"]


def _table(title: str, rows: dict[str, Any]) -> str:
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def of_graph(graph: Graph) -> str:
    """Show sizes, kind, degrees and names."""
    rows: dict[str, Any] = {
        "vertices": f"{graph.n:,}",
        "stored edges": f"{graph.m:,}",
        "kind": "directed" if graph.directed else "undirected",
        "weights": "none" if graph.weights is None else graph.weights.dtype.name,
        "degree": f"{graph.mean_degree:.3g} on the average, {graph.max_degree:,} at most",
    }
    if graph.labels is not None:
        shown = ", ".join(map(str, graph.labels[:5].tolist()))
        rows["names"] = shown + (", ..." if graph.n > 5 else "")
    return _table("Graph", rows)


def of_result(result: Any) -> str:
    """Show what is reached or found, and how long it took."""
    rows: dict[str, Any] = {}
    for name in ("source", "depth", "reached", "count"):
        if hasattr(result, name):
            rows[name] = getattr(result, name)
    rows["kernel time"] = f"{result.stats.kernel_ms:.3g} ms"
    rows["total time"] = f"{result.stats.total_ms:.3g} ms"
    return _table(type(result).__name__, rows)


def of_device(device: Any) -> str:
    """Show name, platform and kind."""
    rows = {
        "platform": device.platform,
        "vendor": device.vendor,
        "kind": "GPU" if device.is_gpu else "processor",
        "lanes": device.traits.lanes,
        "compute units": device.traits.compute_units,
    }
    return _table(f"Device {device.index[0]}:{device.index[1]} {device.name}", rows)
