"""What a decomposition into strong components may do in more than one way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from clgraph.engine.presets import Presets
from clgraph.errors import InvalidArgumentError

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
LARGEST = 1 << 20  # that a dimension may be
# Dimensions that are numbers, which may be NumPy's.
NUMBERS = (
    "trim",
    "trim_size",
    "forward_backward",
    "virtual_warp",
    "group_size",
    "groups",
    "scan_budget",
)

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


def _row(name: str) -> dict[str, Any]:
    trim, forward_backward, fb_strategy, coloring_strategy = TABLE_ROWS[name]
    return {
        "trim": trim,
        "forward_backward": forward_backward,
        "fb_strategy": fb_strategy,
        "coloring_strategy": coloring_strategy,
        "finish": "coloring",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SCCConfig(Presets):
    """A point in the configuration space of the decomposition into strong components.

    Three steps follow one another: trimming of vertices without live in- or out-neighbours,
    forward-backward closures of pivots, and whatever finishes the rest. A configuration changes
    speed, never results. ``None`` leaves a dimension to the graph and the device.

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
    group_size, groups : int, optional
        Work-items in a work-group and work-groups in a launch, of steps and of signatures.
    synchronisation : {"persistent", "stepped"}, optional
        All stages of steps and of signatures in one launch, or one launch per stage.
    scan_budget : int, optional
        How many times the size of the graph scans may cost before the sequential search takes over.

    Notes
    -----
    Whatever the configuration, no graph takes quadratic time: steps whose scans have cost more than
    ``scan_budget`` times the size of the graph leave the rest to the sequential search.

    A dimension that is left open is "auto"'s, unless another one is given: then no trimming, no
    forward-backward step, closures by "L", and the device's usual finish.
    """

    trim: int | Literal["full", "adaptive"] | None = None
    trim_size: int | None = None
    forward_backward: int | None = None
    finish: str | None = None
    fb_strategy: str | None = None
    coloring_strategy: str | None = None
    virtual_warp: int | None = None
    group_size: int | None = None
    groups: int | None = None
    synchronisation: str | None = None
    scan_budget: int | None = None

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
        **{name: _row(name) for name in TABLE_ROWS},
    }

    def __post_init__(self) -> None:
        """Refuse what is not legal as soon as it is written down."""
        for name in NUMBERS:
            value = getattr(self, name)
            if isinstance(value, np.integer):
                object.__setattr__(self, name, int(value))
        self.validate()

    def validate(self) -> None:
        """Check every dimension.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first thing that is not legal.
        """
        choices: dict[str, tuple[Any, ...]] = {
            "finish": FINISHES,
            "fb_strategy": STRATEGIES,
            "coloring_strategy": STRATEGIES,
            "trim_size": TRIM_SIZES,
            "virtual_warp": VIRTUAL_WARPS,
            "synchronisation": ("persistent", "stepped"),
        }
        for name, allowed in choices.items():
            value = getattr(self, name)
            # By type too: 2.0 and True equal numbers that are allowed, and arrays none or many.
            fits = isinstance(value, type(allowed[0])) and not isinstance(value, bool)
            if value is not None and not (fits and value in allowed):
                raise InvalidArgumentError(
                    f"{name}={value!r} is not one of {', '.join(map(str, allowed))}."
                )
        if not (isinstance(self.trim, str) and self.trim in (FULL, ADAPTIVE)):
            _check_count("trim", self.trim, 0)
        _check_count("forward_backward", self.forward_backward, 0)
        _check_count("scan_budget", self.scan_budget, 1)
        for name in ("group_size", "groups"):
            _check_count(name, getattr(self, name), 1)

    def as_dict(self) -> dict[str, Any]:
        """Every dimension by name, for records."""
        return asdict(self)

    def decided(self) -> dict[str, Any]:
        """Every dimension by name, with what is done where one was left open."""
        asked = asdict(self)
        return asked | {name: value for name, value in OPEN.items() if asked[name] is None}


def _check_count(name: str, value: Any, least: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        also = ', "full" or "adaptive"' if name == "trim" else ""
        raise InvalidArgumentError(f"{name}={value!r} is not an integer{also}.")
    if not least <= value <= LARGEST:
        raise InvalidArgumentError(
            f"{name}={value} is out of range; it must be from {least} to {LARGEST}."
        )
