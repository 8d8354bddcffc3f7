"""Configurations of searches out of one flat list of parameters, as tests vary these."""

import clgraph as cg
from clgraph.primitives import ExpandConfig

SCHEDULE = (
    "membership",
    "single_group",
    "group_resident",
    "distribution",
    "kernels",
    "group_size",
    "groups",
)
LIMITS = ("single_group_capacity", "single_group_edges", "patience", "queue_percent")
BALANCE = (
    *("wide", "discover", "extended", "group_threshold", "lane_threshold", "group_scan"),
    *("unit_batch", "iterations", "leaves", "shuffle", "gather"),
)
UPDATE = ("scan", "induced", "induced_by")
FRONTIER = (
    *("visited", "duplicates", "hash_rounds", "hash_size", "history", "update", "rows"),
    *("generation", "classes", "hub_cache", "hub_floor"),
)
METHOD = (
    *("delta", "claims", "edge_classes", "heavy", "drift", "drift_limit", "buckets", "reach"),
    *("keep", "adapt", "set_point", "power_target", "controller"),
)
COMMON = {
    "synchronisation": "schedule",
    **{name: f"schedule.{name}" for name in SCHEDULE},
    **{name: f"limits.{name}" for name in LIMITS},
    "eager_limit": "limits.eager",
    "spin_limit": "limits.spin",
    "balance": "balance",
    **{name: f"balance.{name}" for name in BALANCE},
    "virtual_warp": "balance.width",
    "min_virtual_warp": "balance.width",
}
OF_BFS = {
    **COMMON,
    "queue": "frontier",
    "status_bits": "frontier.bits",
    "hybrid_limit": "frontier.limit",
    **{name: f"frontier.{name}" for name in FRONTIER},
    **{name: f"frontier.update.{name}" for name in UPDATE},
    "register_queue": "frontier.update.size",
    **{f"hub_{name}": f"frontier.hubs.{name}" for name in ("degree", "bins", "batch")},
    **{name: f"pull.{name}" for name in ("alpha", "beta", "gamma")},
    **{f"pull_{name}": f"pull.{name}" for name in ("floor", "gain", "probes")},
    "pull": "pull",
    "rules": "rules",
    "counts": "counts",
}
OF_SSSP = {
    **COMMON,
    "method": "method",
    **{name: f"method.{name}" for name in METHOD},
    "vertices_per_warp": "balance.vertices",
    "update": "update",
    "register_queue": "update.size",
    "hub_degree": "hub_degree",
    "cache": "cache",
    "counts": "counts",
}


OF_EXPAND = {
    "balance": "balance",
    **{name: f"balance.{name}" for name in (*BALANCE, "scratch", "block_items", "partition")},
    "virtual_warp": "balance.width",
    "min_virtual_warp": "balance.width",
    "dyn_threshold": "balance.threshold",
    "tile_batch": "balance.tile_batch",
    "search": "search",
    "alike_deviation": "search.deviation",
    "alike_mean": "search.mean",
    "estimates": "search.estimates",
    **{name: name for name in ("group_size", "grid_factor", "read_only", "cache")},
}


def dotted(flat, names=OF_BFS):
    """The parameters by their places in the tree; one that nothing would read is left out."""
    flat = dict(flat)
    if flat.get("synchronisation") == "persistent" and flat.get("kernels") == "fused":
        del flat["kernels"]
    if names is not OF_BFS:
        return {names[name]: value for name, value in flat.items() if value is not None}
    status, direction = flat.get("queue") == "status", flat.pop("direction", None)
    switching = flat.pop("switching", None)
    placed = {}
    if direction == "push":
        placed["pull"] = "never"
        flat = {name: v for name, v in flat.items() if not names[name].startswith("pull.")}
    elif switching or (status and (direction or "gamma" in flat)):
        placed["pull"] = switching or "hubs"
    elif direction == "switching":
        placed["pull"] = "edges"
    if status and flat.get("visited") == "plain":
        del flat["visited"]
    return placed | {names[name]: value for name, value in flat.items() if value is not None}


def bfs_config(**flat):
    return cg.BFSConfig().with_values(dotted(flat))


def sssp_config(**flat):
    return cg.SSSPConfig().with_values(dotted(flat, OF_SSSP))


def expand_config(**flat):
    return ExpandConfig().with_values(dotted(flat, OF_EXPAND))


def mode_of(config):
    """How the stages of a configuration are run, where the device can."""
    return (config.schedule.NAME if config.schedule else "") or "persistent"


def changed(config, **flat):
    """A configuration with some parameters set."""
    names = OF_SSSP if isinstance(config, cg.SSSPConfig) else OF_BFS
    return config.with_values(dotted(flat, names))
