"""A picture of what tuning tried: time against joules, with the Pareto front."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from clgraph.graph.formats.writing import written
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from pathlib import Path

    from clgraph.tune.result import Tuned
    from clgraph.tune.trials import Trial

__all__ = ["draw"]


def draw(found: Tuned, path: Path) -> None:
    """Draw the trials of a search as SVG.

    Parameters
    ----------
    found : Tuned
        What a search gave.
    path : pathlib.Path
        Where to. Without joules times stand against the order in which points were tried.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    figure = module("matplotlib.figure").Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = figure.subplots()
    usable = [one for one in found.trials if not one.error]
    metered = [one for one in usable if one.joules is not None]
    axes.set_xscale("log")
    axes.set_xlabel("time of a run, ms")
    axes.set_title(f"{found.algorithm} for {found.objective.name}: {found.tried} tried")
    if metered:
        front = found.pareto
        axes.errorbar(
            [one.time_ms for one in metered],
            [one.joules for one in metered],
            xerr=[one.time_ms * one.spread / 2 for one in metered],
            yerr=[(one.joules or 0.0) * (one.joules_spread or 0.0) / 2 for one in metered],
            fmt="o",
            markersize=4,
            capsize=2,
        )
        axes.step(
            [one.time_ms for one in front],
            [one.joules for one in front],
            where="post",
            color="black",
            linewidth=0.8,
            label="Pareto front",
        )
        axes.set_ylabel("joules of a run")
        axes.legend()
    else:
        axes.plot([one.time_ms for one in usable], range(len(usable)), "o", markersize=4)
        axes.set_ylabel("in the order they were tried; no joules without a meter")
    for trial, name in _named(found, metered):
        height = trial.joules if metered else usable.index(trial)
        axes.annotate(name, (trial.time_ms, height), (4, 4), textcoords="offset points", fontsize=8)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg")
    with written(path, compress=False) as file:
        file.write(drawn.getbuffer())


def _named(found: Tuned, metered: list[Trial]) -> list[tuple[Trial, str]]:
    same = found.best is found.auto
    named = [(found.auto, "auto, best" if same else "auto")]
    if not same:
        named.append((found.best, "best"))
    return [pair for pair in named if not metered or pair[0] in metered]
