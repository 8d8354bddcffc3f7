"""What the command for shortest paths can be given about searches that tune themselves."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clgraph.cli.searching import check_place, needs_matplotlib
from clgraph.errors import InvalidArgumentError
from clgraph.graph.formats.writing import written

if TYPE_CHECKING:
    import argparse

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from clgraph import SSSP, SSSPResult

__all__ = ["add_tuning", "check_trace", "draw_profiles", "trace_of", "tuned_settings"]

PICTURES = (".png", ".svg", ".pdf")


def add_tuning(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the preset self-tuning."""
    knob = parser.add_mutually_exclusive_group()
    knob.add_argument(
        "--set-point", type=float, metavar="EDGES", help="edges per step, for --config self-tuning"
    )
    knob.add_argument(
        "--power-target", type=float, metavar="WATTS", help="power to hold, for self-tuning"
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="draw the edges of every step, with a bound that rises evenly and self-tuned, to "
        "FILE.png (or .svg, .pdf)",
    )


def tuned_settings(args: argparse.Namespace) -> list[str]:
    """Give the parameters that these options ask for; none if they ask for nothing."""
    asked = {"set_point": args.set_point, "power_target": args.power_target}
    if args.trace is None and not any(value is not None for value in asked.values()):
        return []
    if args.config not in (None, "self-tuning"):
        raise InvalidArgumentError(
            "--set-point, --power-target and --trace are for the preset self-tuning, not for "
            f"--config {args.config}."
        )
    asked["delta"] = args.delta
    given = [f"method.{name}={value}" for name, value in asked.items() if value is not None]
    return ["method=self-tuning", *given]


def check_trace(path: str | None, *inputs: str) -> None:
    """Refuse a picture that cannot be drawn, before anything is run."""
    if path is None:
        return
    if Path(path).suffix not in PICTURES:
        raise InvalidArgumentError(
            f"--trace {path} ends in none of {', '.join(PICTURES)}; name it so."
        )
    check_place(path, *inputs)
    needs_matplotlib("--trace")


def trace_of(path: str, plan: SSSP, result: SSSPResult, source: list[int]) -> None:
    """Search once more with a fixed step of the bound, and draw both."""
    import clgraph

    fixed = clgraph.sssp(
        plan.graph,
        source if len(source) > 1 else source[0],
        config=clgraph.SSSPConfig(
            method=clgraph.method.NearFar(drift=0),
            schedule=clgraph.schedule.Schedule(single_group=False),
        ),
        device=plan.device,
    )
    stages = fixed.stats.per_level
    before = stages["edges"][stages["direction"] == "near"]
    draw_profiles(path, before, result.stats.per_level["X2"], plan.set_point)


def draw_profiles(
    path: str, before: NDArray[np.int64], after: NDArray[np.int64], set_point: float
) -> None:
    """Draw the edges of every step, before and after tuning, and how they are distributed.

    Parameters
    ----------
    path : str
        Where to, by its ending in the format.
    before, after : array
        Edges of each step with a fixed rise of the bound, and tuned.
    set_point : float
        Edges per step that were wanted.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 5.5), layout="constrained")
    rows = figure.subplots(2, 2, sharey=True, width_ratios=(3, 1))
    for (profile, density), edges, title in zip(
        rows, (before, after), ("fixed step of the bound", "self-tuned"), strict=True
    ):
        _draw(profile, density, edges, title, set_point)
    rows[1][0].set_xlabel("step")
    rows[1][1].set_xlabel("steps")
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=150, format=Path(path).suffix[1:])
    try:
        with written(path, compress=False) as file:
            file.write(drawn.getbuffer())
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be written: {error}.") from error


def _draw(
    profile: Axes, density: Axes, edges: NDArray[np.int64], title: str, set_point: float
) -> None:
    shown = np.maximum(edges, 1)
    profile.step(np.arange(shown.size), shown, where="mid", linewidth=0.8)
    spread = edges.std() / edges.mean() if edges.size and edges.any() else 0.0
    profile.set_title(
        f"{title}: {edges.size:,} steps, median {np.median(edges) if edges.size else 0:,.0f} "
        f"edges, coefficient of variation {spread:.2f}",
        fontsize="medium",
    )
    profile.set_ylabel("edges of the step")
    profile.set_yscale("log")
    bins = np.geomspace(1, max(float(shown.max(initial=10)), 10.0), 40)
    density.hist(shown, bins=list(bins), orientation="horizontal")
    for axes in (profile, density):
        axes.axhline(set_point, color="black", linestyle="--", linewidth=0.8)
