"""What a decomposition into strong components may do in more than one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from clgraph.engine.strategies.parameters import check_number, choice, number, parameter
from clgraph.engine.strategies.presets import Configuration
from clgraph.engine.strategies.schedule import Persistent, Schedule, Stepped, check_groups_only
from clgraph.engine.strategies.strategy import Slot, slot
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["FINISHES", "STRATEGIES", "TABLE_ROWS", "SCCConfig"]

FINISHES = ("coloring", "signatures", "sequential", "forward-backward")
STRATEGIES = ("Q", "Q_VW", "L")
TRIM_SIZES = (1, 2, 3)
VIRTUAL_WARPS = (2, 4, 8, 16, 32)
FULL: Literal["full"] = "full"
ADAPTIVE: Literal["adaptive"] = "adaptive"
# What is done where a dimension is left open.
OPEN: dict[str, Any] = {
    "trim": 0,
    "trim_size": 1,
    "forward_backward": 0,
    "fb_strategy": "L",
    "coloring_strategy": "L",
}
LARGEST = 1 << 20  # that a number may be
# What says which steps there are, and how they are done.
STEPS = (*OPEN, "finish", "virtual_warp")

# Table 9.3 of the thesis: trimming and forward-backward iterations, closure strategy of each step.
# Where it gives two strategies as about equal, the first stands here.
TABLE_ROWS: dict[str, tuple[int | Literal["full"], int, str, str]] = {
    "amazon-2008": (1, 1, "Q_VW", "Q"),
    "livejournal": (1, 1, "Q_VW", "Q"),
    "flickr": (1, 1, "Q_VW", "Q"),
    "r-mat": (1, 1, "Q_VW", "Q"),
    "cit-patents": (1, 1, "Q", "Q"),
    "random": (0, 1, "Q_VW", "Q"),
    "pokec": (1, 1, "Q_VW", "L"),
    "language": (0, 2, "L", "Q"),
    "baidu": (3, 1, "L", "L"),
    "pre2": (0, 1, "L", "L"),
    "ca-road": (0, 1, "L", "L"),
    "web-berkstan": (FULL, 17, "L", "L"),
    "ssca8": (0, 1, "L", "L"),
    "trec-w10g": (2, 20, "L", "L"),
    "fullchip": (0, 1, "L", "L"),
    "usa-road": (0, 1, "L", "Q"),
    "wiki-talk": (5, 1, "L", "L"),
}


@dataclass(frozen=True, slots=True)
class _Trim:
    """Checks iterations of trimming: a number, or a name."""

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value in {FULL, ADAPTIVE}:
            return value
        if isinstance(value, np.integer):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgumentError(
                f'{name}={shown(value)} is not an integer, "full" or "adaptive".'
            )
        check_number(name, value, 0, LARGEST)
        return value

    def parse(self, name: str, text: str) -> Any:
        return self.check(name, int(text) if text.isascii() and text.isdigit() else text)

    @property
    def values(self) -> str:
        return f"number|{FULL}|{ADAPTIVE}"


def _row(name: str) -> dict[str, Any]:
    trim, forward_backward, fb_strategy, coloring_strategy = TABLE_ROWS[name]
    return {
        "trim": trim,
        "forward_backward": forward_backward,
        "fb_strategy": fb_strategy,
        "coloring_strategy": coloring_strategy,
        "finish": "coloring",
    }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SCCConfig(Configuration):
    """A point in the configuration space of the decomposition into strong components.

    Three steps follow one another: trimming of vertices without live in- or out-neighbours,
    forward-backward closures of pivots, and whatever finishes the rest. A configuration changes
    speed, never results. ``None`` leaves a parameter to the graph and the device.

    Parameters
    ----------
    trim : int, "full" or "adaptive", optional
        Iterations of trimming that are executed at most; "full" until one removes nothing,
        "adaptive" until one removes less than a thirty-second of the vertices that were left.
    trim_size : {1, 2, 3}, optional
        Vertices of the largest components that trimming takes out: those that no more than so many
        vertices reach, or are reached from, themselves among them.
    forward_backward : int, optional
        Iterations of the forward-backward step that are executed at most.
    finish : {"coloring", "signatures", "sequential", "forward-backward"}, optional
        What decomposes the rest: maximum colours with backward closures; two-sided signatures with
        path compression and removal of edges between components; a depth-first search by one
        work-item; or more forward-backward iterations.
    fb_strategy, coloring_strategy : {"Q", "Q_VW", "L"}, optional
        How closures of the two steps are traversed: by scans over all vertices with one work-item
        each, the same with several lanes each, or with a frontier queue.
    virtual_warp : {2, 4, 8, 16, 32}, optional
        Lanes that share a vertex under "Q_VW"; as many as the device has, if it has fewer.
    schedule : {"persistent", "stepped"} or Schedule, optional
        All stages of steps and of signatures in one launch, or one launch per stage, with how many
        work-items and work-groups; see `clgraph.schedule`.
    scan_budget : int, optional
        How many times the size of the graph scans may cost before the sequential search takes over.
    rules : {"auto", "table"}
        What decides where steps are left open: "table" goes by the graph's degrees and the depth of
        four searches, as the published tuned configurations do; the preset "selected".

    Notes
    -----
    Whatever the configuration, no graph takes quadratic time: steps whose scans have cost more than
    ``scan_budget`` times the size of the graph leave the rest to the sequential search.

    A parameter that is left open is "auto"'s, unless another one is given: then no trimming, no
    forward-backward step, closures by "L", and the device's usual finish.
    """

    trim: int | Literal["full", "adaptive"] | None = parameter(_Trim())
    trim_size: int | None = number(among=TRIM_SIZES)
    forward_backward: int | None = number(most=LARGEST)
    finish: str | None = choice(*FINISHES)
    fb_strategy: str | None = choice(*STRATEGIES)
    coloring_strategy: str | None = choice(*STRATEGIES)
    virtual_warp: int | None = number(among=VIRTUAL_WARPS)
    schedule: Slot[Schedule] = slot(Schedule, Persistent, Stepped)
    scan_budget: int | None = number(least=1, most=LARGEST)
    rules: str = choice("auto", "table", default="auto")

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "forward-backward": {"trim": 1, "forward_backward": 1, "finish": "forward-backward"},
        "coloring": {"trim": 1, "forward_backward": 0, "finish": "coloring"},
        "multistep": {"trim": FULL, "forward_backward": 1, "finish": "coloring"},
        "signatures": {"trim": 0, "forward_backward": 0, "finish": "signatures"},
        "sequential": {"trim": 0, "forward_backward": 0, "finish": "sequential"},
        "devshatwar": {
            "trim": 1,
            "forward_backward": 1,
            "fb_strategy": "Q_VW",
            "coloring_strategy": "Q_VW",
            "finish": "coloring",
        },
        "selected": {"rules": "table"},
        **{name: _row(name) for name in TABLE_ROWS},
    }

    def validate(self) -> None:
        """Refuse modes that the stages do not have."""
        check_groups_only(self.schedule)

    def completed(self, graph: Graph, device: Device) -> SCCConfig:
        """Fill in what is left open by the rules that are named, where those know of graphs."""
        if self.rules != "table" or not graph.n:
            return self
        choosing = module("clgraph.algorithms.scc.choose")
        wanted = choosing.table_choice(choosing.shape_of(graph, device))
        return self.filled(SCCConfig(**wanted))

    def decided(self) -> dict[str, Any]:
        """Report what the steps do by name, with what is done where it was left open."""
        decided = {name: getattr(self, name) for name in STEPS} | {
            name: value for name, value in OPEN.items() if getattr(self, name) is None
        }
        return decided if self.origin is None else decided | {"origin": self.origin}
