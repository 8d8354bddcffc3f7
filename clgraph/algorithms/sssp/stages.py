"""Which stages the kernels of a search for shortest paths have, and what they are rendered with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from clgraph.algorithms.sssp.classes import ROW_CUTS
from clgraph.algorithms.sssp.method import EDGE_CLASSES
from clgraph.engine.control import (
    DEGREE_FACTOR,
    DEGREE_FLOOR,
    DENSITY_FACTOR,
    EPSILON,
    FALL,
    INFORMATIVE,
    JUMP,
    STARTUP,
    VARIANCE_FLOOR,
)
from clgraph.engine.state import (
    COUNTERS,
    COUNTERS_AT,
    SLOT_WORDS,
    STATE_WORDS,
    stage_fields,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.algorithms.sssp.resolved import ResolvedPaths
    from clgraph.algorithms.sssp.weights import Keys

__all__ = [
    "CONTROL_BLOCK_COUNT",
    "CONTROL_BLOCK_WORDS",
    "FLAG_BELOW",
    "FLAG_BEYOND",
    "FLAG_ROUNDS",
    "TUNED_WORDS",
    "kernel_parameters",
    "stage_payload",
    "stages_of",
]

# A stage word has three bits for them; 0 is the end of a search. No search has both of the 4s, or
# of the 7s.
STAGE_NUMBERS = {
    "fill": 1,
    "start": 2,
    "relax": 3,
    "split": 4,
    "leaves": 4,
    "finish": 5,
    "tree": 6,
    "heavy": 7,
    "clear": 7,
}
FLAG_BEYOND, FLAG_BELOW, FLAG_ROUNDS = 1, 2, 4
# Words of the control block, 64 bits each where they are keys; contended ones on own lines.
CONTROL_BLOCK_WORDS = {
    "PILE_EVEN": 0,
    "PILE_ODD": 32,
    "LEAST": 64,
    "LOW": 96,
    "HIGH": 98,
    "CUT": 100,
    "ROOTS": 128,
    "SETTLED": 160,
    "SETTLED_BEGIN": 161,
    "BUCKETS_CLEAN": 168,
    "SETTLED_EDGES": 204,
    "LEFT_EDGES": 206,
    "FLAG_BEYOND": FLAG_BEYOND,
    "FLAG_BELOW": FLAG_BELOW,
    "FLAG_ROUNDS": FLAG_ROUNDS,
}
CONTROL_BLOCK_COUNT = 320
# Of a search that tunes itself; the last ones are doubles, and five of a model each.
TUNED_WORDS = {
    "LIVE_EVEN": 162,
    "LIVE_ODD": 163,
    "LEAST_EVEN": 192,
    "LEAST_ODD": 194,
    "NEAREST": 196,
    "SHALLOWEST": 198,
    **{name: 224 + 2 * k for k, name in enumerate(("FAR_BOUND", "FRONTIER_EDGES"))},
    **{
        name: 228 + k
        for k, name in enumerate(
            (
                *("SCAN_EVEN", "SCAN_ODD", "FRONTIER_SIZE", "IMPROVED", "NEAR_SIZE", "CURRENT"),
                *("PARTITIONS", "FINISHED"),
            )
        )
    },
}
CONTROL_WORDS = {
    **{
        name: 256 + 2 * k
        for k, name in enumerate(("DELTA", "BOUND", "BELOW", "UNIT", "CHANGE", "NEAR", "STEPS"))
    },
    "DEGREE": 272,
    "DENSITY": 282,
}
CONTROL_START = {
    "epsilon": repr(EPSILON),
    "memory": repr(2.0 * (1.0 + EPSILON)),
    "variance_floor": repr(VARIANCE_FLOOR),
    "degree_floor": repr(DEGREE_FLOOR),
    "startup": repr(float(STARTUP)),
    "degree_factor": repr(DEGREE_FACTOR),
    "density_factor": repr(DENSITY_FACTOR),
    "informative": repr(INFORMATIVE),
    "jump": repr(JUMP),
    "fall": repr(FALL),
}


def stages_of(config: ResolvedPaths, *, predecessors: bool) -> tuple[str, ...]:
    """Names of the stages that a configuration goes through, the first one first."""
    stages = ["fill", "start", "relax"]
    if config.method.name != "bellman-ford":
        stages.append("split")
        if config.method.name == "delta-stepping":
            stages.append("heavy")
        elif config.method.name == "asynchronous":
            stages.append("clear")
    elif "leaf" in config.method.edge_classes:
        stages.append("leaves")
    stages.append("finish")
    if predecessors:
        stages.append("tree")
    return tuple(stages)


def bodies_of(config: ResolvedPaths) -> SimpleNamespace:
    """Give the files in ``kernels_cl/sssp`` that a configuration's stages are rendered from.

    Returns
    -------
    types.SimpleNamespace
        ``stages``: the relaxing stages; ``relaxation``: of self-tuning ones, who walks the rows;
        ``decisions``: what follows a stage; ``rows``: how edges lie in memory.
    """
    one_item = config.group_size == 1
    method = config.method.name
    decisions = "bounds"
    if method == "self-tuning":
        stages, decisions = "self_tuning", "self_tuning"
    elif method == "asynchronous":
        stages, decisions = "buckets", "buckets"
    elif one_item:
        stages = "one_item"
    else:
        stages = "bands" if config.row_limit else "lanes"
    return SimpleNamespace(
        stages=f"/sssp/{stages}.mako",
        relaxation=f"/sssp/self_tuning_{'rows' if one_item else 'lanes'}.mako",
        decisions=f"/sssp/decisions/{decisions}.mako",
        rows=f"/sssp/{'core_rows' if one_item else 'relax'}.mako",
    )


def _counting(config: ResolvedPaths) -> str:
    """When edges of a frontier are counted, see ``/sssp/decisions/bounds.mako``."""
    if config.group_size == 1:
        return "expanded"
    return "both" if config.drift or config.row_limit else "queued"


def stage_payload(config: ResolvedPaths, *, predecessors: bool) -> dict[str, int]:
    """Bits of what is said of a stage.

    Which queue and which pile; what a SIMD group takes at a time; where a tree is labelled, whether
    TREE follows chains of predecessors; and what the method adds: whether heavy edges are pulled,
    whether it is the second half of a split, or whether the frontier is found anew among all
    vertices. A field that nobody needs costs time in each of a road's many stages; of bands, whose
    stages are few, a compiler spills 32 bytes of registers with it, 272 without.
    """
    own = {"delta-stepping": "pulls", "self-tuning": "second", "asynchronous": "rebuilds"}
    flags = {"chain": 1} if predecessors or config.row_limit else {}
    flags |= {own[config.method.name]: 1} if config.method.name in own else {}
    first = {"queue": 1, "pile": 1, "tile": 3, "length": 32}
    return first | flags | {"hubs": 24 - len(flags), "level": 32}


def kernel_parameters(
    config: ResolvedPaths,
    keys: Keys,
    stages: Sequence[str],
    *,
    predecessors: bool,
    parallel_edges: bool,
    undirected: bool,
) -> dict[str, Any]:
    """Give what ``sssp/sssp.cl`` is rendered with for a kernel of these stages."""
    classes = config.method.edge_classes
    all_stages = stages_of(config, predecessors=predecessors)
    problem = SimpleNamespace(
        predecessors=predecessors,
        classes=bool(classes),
        skips=tuple(EDGE_CLASSES[name] for name in ("self", "leaf") if name in classes),
        one_way_in=EDGE_CLASSES["in-degree-1"] if "in-degree-1" in classes else None,
        undirected=undirected,
        direct_start="source" in classes and not parallel_edges,
    )
    return {
        "config": config,
        "keys": keys,
        "problem": problem,
        "stages": tuple(stages),
        "all_stages": all_stages,
        "single_group_stages": [
            name for name in ("split", "heavy") if name in all_stages and config.group_size == 1
        ],
        "bodies": bodies_of(config),
        "counting": _counting(config),
        "stage_numbers": {name: STAGE_NUMBERS[name] for name in all_stages},
        "control_block_words": CONTROL_BLOCK_WORDS
        | (TUNED_WORDS if config.method.name == "self-tuning" else {}),
        "row_cuts": ROW_CUTS,
        "counters": {name: COUNTERS_AT + k for k, name in enumerate(COUNTERS)},
        "control_words": CONTROL_WORDS,
        "control_start": CONTROL_START,
        "state_words": STATE_WORDS,
        "stage_fields": stage_fields(stage_payload(config, predecessors=predecessors)),
        "slot_words": SLOT_WORDS,
    }
