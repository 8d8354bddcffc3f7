"""Which stages the kernels of a breadth-first search have, and what they are rendered with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from clgraph.engine.state import SLOT_WORDS, STATE_WORDS, stage_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph.engine.choose import Resolved

__all__ = ["UNREACHED", "kernel_parameters", "stages_of"]

UNREACHED = -1


def stages_of(config: Resolved) -> list[str]:
    """Names of the stages that a configuration goes through, the first one first."""
    candidates = {
        "edge": ["contract_expand"],
        "two_phase": ["contract", "expand"],
        "hybrid": ["contract", "expand", "contract_expand"],
    }
    if config.queue in candidates:
        return ["fill", *candidates[config.queue]]
    stages = ["fill", "push"]
    if config.pull:
        stages += ["pull", "gather"]
        if config.visited == "labels":
            stages.append("mark")
    return stages


def kernel_parameters(
    config: Resolved, stages: Sequence[str], *, predecessors: bool
) -> dict[str, Any]:
    """Give what ``bfs.cl`` is rendered with for a kernel of these stages."""
    return {
        "config": config,
        "problem": SimpleNamespace(predecessors=predecessors),
        "stages": tuple(stages),
        "stage_numbers": stage_numbers(config.queue),
        "UNREACHED": UNREACHED,
        "state_words": STATE_WORDS,
        "slot_words": SLOT_WORDS,
    }
