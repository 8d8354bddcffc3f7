"""Features of the published searches: variants that have them or not, as dimensions by name."""

from __future__ import annotations

from typing import Any

from clgraph import BFSConfig, SSSPConfig
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.graph.reorder import ORDERS

__all__ = ["STUDIES"]

_STATUS: dict[str, Any] = {"frontier": "status"}
_QUEUE: dict[str, Any] = {"frontier": "vertex", "pull": "never", "frontier.visited": "plain"}
_HBF: dict[str, Any] = dict(SSSPConfig.PRESETS["h-bf"])
_4K: dict[str, Any] = {
    "rules": "bfs-4k",
    "balance.discover": 0,
    "frontier.hubs.degree": 0,
    "frontier.duplicates": "keep",
}

# By study: variants by name, the first of which the others are compared with. Beside dimensions a
# variant may name an order that vertices are renumbered in before, or a plan of its own.
STUDIES: dict[str, dict[str, dict[str, Any]]] = {
    # Baseline, streamlined queues, workload balancing, hub cache; hubs against edges as the rule.
    "enterprise": {
        "BL": {
            **_STATUS,
            "frontier.generation": "none",
            "frontier.classes": 1,
            "frontier.hub_cache": 0,
        },
        "TS": {**_STATUS, "frontier.classes": 1, "frontier.hub_cache": 0},
        "WB": {**_STATUS, "frontier.hub_cache": 0},
        "HC": {**_STATUS, "frontier.hub_cache": 1024},
        "HC alpha": {**_STATUS, "frontier.hub_cache": 1024, "pull": "edges"},
        "HC bytes": {**_STATUS, "frontier.hub_cache": 1024, "frontier.bits": 8},
        "HC bins": {**_STATUS, "frontier.hub_cache": 1024, "frontier.generation": "bins"},
    },
    "merrill": {
        name.removeprefix("merrill-"): dict(BFSConfig.PRESETS[name])
        for name in BFSConfig.presets()
        if name.startswith("merrill")
    },
    "culling": {
        "none": {**_QUEUE, "balance": "cws"},
        "mask": {**_QUEUE, "balance": "cws", "frontier.visited": "mask"},
        "SIMD groups": {**_QUEUE, "balance": "cws", "frontier.duplicates": "lookup_lanes"},
        "frontier.history": {**_QUEUE, "balance": "cws", "frontier.history": 1024},
        "all": {**BFSConfig.PRESETS["merrill-expand-contract"]},
    },
    "gathering": {
        "one by one": {**_QUEUE, "balance": "item_thread"},
        "SIMD group": {**_QUEUE, "balance": "cws", "balance.group_threshold": 2**31 - 1},
        "scan": {
            **_QUEUE,
            "balance": "cws",
            "balance.group_threshold": 2**31 - 1,
            "balance.lane_threshold": 2**31 - 1,
        },
        "all three": {**_QUEUE, "balance": "cws"},
        "any order": {**_QUEUE, "balance": "cws", "balance.group_scan": "unordered"},
    },
    "helix": {
        "CSR": {**_QUEUE, "frontier.rows": "csr"},
        "CSR-M": {**_QUEUE, "frontier.rows": "pairs"},
        "ballot": {**_QUEUE, "frontier.update": "ballot"},
        "registers": {**_QUEUE, "frontier.update": "registers"},
        "hashed at load": {**_QUEUE, "frontier.duplicates": "load_lanes"},
        "hashed at look-up": {**_QUEUE, "frontier.duplicates": "lookup_lanes"},
        "exact": {**_QUEUE, "frontier.visited": "labels"},
        "mask": {**_QUEUE, "frontier.visited": "mask"},
    },
    # One search, its edges dealt out by each load balancer.
    "balancers": {name: {**_QUEUE, "balance": name} for name in BALANCERS},
    # What the host can prepare: the numbers of the vertices, and with them the order of each row.
    "orders": {"as given": {}, **{order: {"order": order} for order in ORDERS}},
    # Virtual groups, edge discovery, hubs apart, duplicates dropped, one after another.
    "bfs-4k": {
        "VW": _4K,
        "+ED": {**_4K, "balance.discover": None},
        "+DP": {**_4K, "balance.discover": None, "frontier.hubs.degree": None},
        "+hash": {"rules": "bfs-4k"},
        "static width": {**_QUEUE, "balance": "vwarp"},
        "a vertex an item": {**_QUEUE, "balance": "item_thread"},
        "all vertices": {
            **_STATUS,
            "frontier.generation": "none",
            "frontier.classes": 1,
            "pull": "never",
        },
        "all edges": {"plan": "edge-parallel"},
    },
    # Features taken away one at a time, widths, vertices to a virtual group, and all of it away.
    "h-bf": {
        "H-BF": _HBF,
        "without classes": {**_HBF, "method.edge_classes": ()},
        "without 64-bit atomics": {**_HBF, "method.claims": "stamped"},
        "without a heavy path": {**_HBF, "hub_degree": 0},
        "without a policy of caches": {**_HBF, "cache": "default"},
        "8 vertices a group": {**_HBF, "balance.vertices": 8},
        "1 vertex a group": {**_HBF, "balance.vertices": 1},
        "width 4": {"method": "bellman-ford", "balance": "vwarp", "balance.width": 4},
        "width of a SIMD group": {"method": "bellman-ford", "balance": "vwarp"},
        "basic": {"method": "bellman-ford", "balance": "item_thread", "method.claims": "none"},
    },
}
