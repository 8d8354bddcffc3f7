"""A model of searches by ranks, fitted to records of `scaling` beside it, and more cards by it.

``python -m bench.studies.searches.scaling_model records.json ... --cards 2,64,8192 --plot
scaling.svg``

A search of L levels that traverses m edges with p ranks, each of which is sent b bytes, takes
``L (latency + step log2 p) + m / (p rate) + b / bandwidth``. The four numbers are fitted to the
rows of one exchange, none below zero; the table shows how far each row is from the model. Then a
Kronecker graph, whose bytes are counted by the rules of `clgraph.cluster`, is searched on paper:
with the size of the records (strong), and with as many vertices a card (weak).
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls  # type: ignore[import-untyped]

from clgraph.cli.text import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Model", "fitted", "main", "paper_bytes"]

# Graph500, the record of a breadth-first search at the time of writing: edges are counted once.
RECORD_TEPS, RECORD_CARDS = 410e12, 8192
PULLED_LEVELS, PUSHED_WIDE = 3, 1  # of a Kronecker graph; what is narrow is next to nothing

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Model:
    """What a search costs.

    Attributes
    ----------
    latency_s, step_s : float
        Of a level, and more of it for each doubling of the ranks.
    edge_s : float
        Of an edge on one rank.
    byte_s : float
        Of a byte that a rank is sent.
    error : float
        Mean of how far rows are from it, as a share of each.
    """

    latency_s: float
    step_s: float
    edge_s: float
    byte_s: float
    error: float = 0.0

    def seconds(self, ranks: int, levels: float, edges: float, sent_bytes: float) -> float:
        """Give the time of a search; bytes are those of all ranks."""
        terms = _terms(ranks, levels, edges, sent_bytes)
        return float(np.dot(terms, [self.latency_s, self.step_s, self.edge_s, self.byte_s]))


def _terms(ranks: int, levels: float, edges: float, sent_bytes: float) -> NDArray[np.float64]:
    return np.array([levels, levels * math.log2(ranks), edges / ranks, sent_bytes / ranks])


def fitted(rows: Sequence[Row]) -> Model:
    """Fit the model to rows of one exchange.

    Parameters
    ----------
    rows : sequence of dict
        Of `bench.studies.searches.scaling`: ``parts``, ``levels``, ``edges``, ``bytes``, ``ms``.

    Returns
    -------
    Model
        Each row weighs the same, whatever its time.
    """
    terms = np.stack([_terms(r["parts"], r["levels"], r["edges"], r["bytes"]) for r in rows])
    seconds = np.array([row["ms"] / 1e3 for row in rows])
    found, _ = nnls(terms / seconds[:, None], np.ones(len(rows)))
    error = float(np.abs(terms @ found / seconds - 1).mean())
    latency, step, edge, byte = (float(value) for value in found)
    return Model(latency, step, edge, byte, error)


def paper_bytes(n: float, ranks: int) -> float:
    """Give what ranks send in a search of a Kronecker graph by bits.

    Wide levels that push send n bits from each to each, pulled ones those that a rank owns.
    """
    return (ranks - 1) * n / 8 * (PUSHED_WIDE * ranks + PULLED_LEVELS)


def _scale_of(row: Row) -> int:
    found = re.fullmatch(r"kron(\d+).*", row["graph"])
    return int(found[1]) if found else 0


def _on_paper(model: Model, row: Row, cards: Sequence[int]) -> list[Row]:
    scale, rows = _scale_of(row), []
    for kind in ("strong", "weak"):
        for count in cards:
            grown = math.log2(count) if kind == "weak" else 0.0
            n, edges = 2.0 ** (scale + grown), row["edges"] * 2.0**grown
            levels = row["levels"] + grown / 8  # a level more for each 256 times the vertices
            seconds = model.seconds(count, levels, edges, paper_bytes(n, count))
            rows.append(
                {"kind": kind, "cards": count, "scale": scale + grown, "teps": edges / seconds}
            )
    return rows


def _plot(path: str, rows: Sequence[Row], model: Model, paper: Sequence[Row]) -> None:
    import matplotlib as mpl  # noqa: PLC0415 - optional

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    for name in dict.fromkeys(row["graph"] for row in rows):
        mine = sorted((r for r in rows if r["graph"] == name), key=lambda row: int(row["parts"]))
        parts = [row["parts"] for row in mine]
        left.plot(parts, [row["gteps"] for row in mine], "o", label=name)
        modelled = [
            r["edges"] / model.seconds(r["parts"], r["levels"], r["edges"], r["bytes"]) / 1e9
            for r in mine
        ]
        left.plot(parts, modelled, "-", color="grey", linewidth=0.8)
    left.set(xlabel="ranks", ylabel="GTEPS", title="measured (points) and model (lines)")
    left.legend(fontsize="small")
    for kind in ("strong", "weak"):
        mine = [row for row in paper if row["kind"] == kind]
        cards = [row["cards"] for row in mine]
        right.loglog(cards, [row["teps"] / 1e9 for row in mine], "o-", label=kind)
    right.loglog([RECORD_CARDS], [2 * RECORD_TEPS / 1e9], "k*", label="Graph500 record")
    right.set(xlabel="cards", ylabel="GTEPS", title="on paper")
    right.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; default is those of the process.

    Returns
    -------
    int
        0.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("records", nargs="+", type=Path)
    parser.add_argument("--exchange", default="bits")
    parser.add_argument("--cards", default="1,2,4,8,64,8192")
    parser.add_argument("--plot", metavar="FILE")
    args = parser.parse_args(argv)
    every = [row for path in args.records for row in json.loads(path.read_text())["rows"]]
    rows = [row for row in every if row["exchange"] == args.exchange]
    if not rows:
        parser.error(f"no record has an exchange {args.exchange!r}")
    model = fitted(rows)
    print(
        f"{args.exchange}: {1e6 * model.latency_s:.1f} us a level, {1e6 * model.step_s:.1f} us "
        f"more for each doubling, {1e12 * model.edge_s:.2f} ps an edge, "
        f"{1e12 * model.byte_s:.1f} ps a byte; "
        f"rows are {100 * model.error:.0f} % from it in the mean"
    )
    lines = [
        [
            *(row["graph"], str(row["parts"]), f"{row['ms']:.3f}"),
            f"{1e3 * model.seconds(row['parts'], row['levels'], row['edges'], row['bytes']):.3f}",
        ]
        for row in rows
    ]
    print(table(["graph", "ranks", "ms", "model"], lines))
    cards = [int(count) for count in args.cards.split(",")]
    paper = _on_paper(model, max(rows, key=_scale_of), cards)
    lines = [
        [row["kind"], str(row["cards"]), f"{row['scale']:.0f}", f"{row['teps'] / 1e9:.1f}"]
        for row in paper
    ]
    print(table(["on paper", "cards", "scale", "GTEPS"], lines))
    if args.plot:
        _plot(args.plot, rows, model, paper)
    return 0


if __name__ == "__main__":
    sys.exit(main())
