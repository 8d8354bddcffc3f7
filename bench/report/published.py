"""What public native codes took on the same card and the same graphs.

Medians in milliseconds over two or three sources, each result checked against a sequential search.
A code that fails, times out or is wrong on a graph has no figure. BLEST's times leave out its
preparation (0.25 to 4.6 s, and up to a minute to order the vertices); those of GSWITCH and XBFS
parts of their host work; those of DAWN and SIMD-X their initialisation.
"""

from __future__ import annotations

__all__ = ["DATE", "DEVICE", "beside", "best", "known_ms"]

DEVICE = "H200"
SLOWER = ("H100",)  # cards of the same make beside which the figures may stand, as of another card
DATE = "2026-11-20"

_CODES = (
    *("BLEST", "GSWITCH", "DAWN", "Tigr", "Gunrock 1", "Enterprise", "XBFS", "SIMD-X"),
    "cuGraph 26.10",
)
_NONE = None
_BFS_MS: dict[str, tuple[float | None, ...]] = {
    "kron20": (0.18, 0.39, 25, 0.80, _NONE, 1.12, 0.55, 0.49, 1.58),
    "kron22": (0.29, 0.51, 60, 3.04, 0.77, 1.57, 1.15, 1.35, 2.38),
    "kron20x64": (0.61, 0.41, _NONE, 1.75, _NONE, 1.35, 0.83, _NONE, _NONE),
    "unif22": (0.47, 2.5, _NONE, 3.30, _NONE, _NONE, _NONE, _NONE, _NONE),
    "rgg": (4.0, 19.5, _NONE, 16.0, _NONE, _NONE, _NONE, _NONE, _NONE),
    "mesh": (8.3, 32.4, 14.0, 34.4, 312, _NONE, _NONE, 56, _NONE),
    "grid3d": (3.7, 10.6, _NONE, 18.3, _NONE, _NONE, _NONE, _NONE, _NONE),
    "grid2d": (17.8, 66.7, 44.6, 118, 947, _NONE, _NONE, 160, _NONE),
    "road": (17.2, 61, 40.6, 101, _NONE, _NONE, _NONE, 148, 563),
}


_SSSP_MS: dict[str, dict[str, float]] = {
    "kron20": {
        "GSWITCH": 1.85,
        "DAWN": 44.7,
        "Tigr": 1.89,
        "Hornet": 5.10,
        "SIMD-X": 4.3,
        "Groute": 7.7,
    },
    "mesh": {
        "ADDS": 14.4,
        "GSWITCH": 71.5,
        "DAWN": 62.8,
        "Tigr": 207,
        "Hornet": 390,
        "SIMD-X": 125,
        "Groute": 76,
    },
    "road": {
        "ADDS": 22.0,
        "GSWITCH": 94.1,
        "DAWN": 97.5,
        "Tigr": 196,
        "Hornet": 683,
        "SIMD-X": 257,
        "Groute": 99,
    },
}
_SCC_MS: dict[str, dict[str, float]] = {
    "dgrid": {"ECL-SCC": 32.8, "gpuscc": 120, "cuGraph": 10_572},
    "plaw20": {"ECL-SCC": 64.0, "gpuscc": 262, "cuGraph": 11_360},
}
_OTHERS_MS: dict[str, dict[str, dict[str, float]]] = {
    "sssp": _SSSP_MS,
    "scc": _SCC_MS,
    "components": {"kron20": {"ECL-CC": 0.68}, "road": {"ECL-CC": 0.47}},
    # McLaughlin and Bader's own code, 256 searches from drawn sources at once
    "multi-search": {"kron20": {"multi_search": 161}, "road": {"multi_search": 1470}},
}


def known_ms(algorithm: str, graph: str) -> dict[str, float]:
    """Milliseconds by code for one graph; empty where none was measured. BLEST: its best source."""
    if algorithm != "bfs":
        return _OTHERS_MS.get(algorithm, {}).get(graph, {})
    figures = _BFS_MS.get(graph, ())
    return {code: ms for code, ms in zip(_CODES, figures, strict=False) if ms is not None}


def best(algorithm: str, graph: str, device: str) -> tuple[str, float] | None:
    """Fastest public code and its milliseconds, where `device` is the card of the table."""
    figures = known_ms(algorithm, graph) if DEVICE in device else {}
    return min(figures.items(), key=lambda item: item[1]) if figures else None


def beside(algorithm: str, graph: str, device: str) -> tuple[str, float] | None:
    """Give the same beside a slower card too; tables say whose figures they are."""
    known = device if DEVICE in device or not any(name in device for name in SLOWER) else DEVICE
    return best(algorithm, graph, known)
