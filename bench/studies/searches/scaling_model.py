"""A model of searches by ranks, fitted to records of `scaling` beside it, and more cards by it.

``python -m bench.studies.searches.scaling_model records.json ... --bus streaming.json --cards
2,64,8192 --plot scaling.svg --text scaling.txt``

A search of L levels that traverses m edges with p ranks on d devices, which are sent b bytes in
all, takes ``L (p/d latency + step log2 p) + m / (d rate) + b / (d bandwidth)``: devices run in turn
what several ranks of theirs have. The numbers are fitted to the rows of one exchange in one record,
none below zero. Where all rows have as many ranks they cannot say how latency grows: then there are
two models, in one of which it stays, while in the other it grows with each doubling. Nor can they
tell bytes from edges then: with ``--bus`` bytes pass at the speed of that record. The tables show
how far each row is from the model, and from one that is fitted to the other rows.

Then the largest graph of the record, if each rank had a device, is searched on paper by more: as it
is (strong), and with as many vertices a rank (weak). What is sent is as much for each vertex and
receiver as in the record.
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

__all__ = ["Model", "fitted", "left_out", "main", "models", "on_paper"]

# Graph500, the record of a breadth-first search at the time of writing: edges are counted once.
RECORD_TEPS, RECORD_CARDS = 410e12, 8192

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

    def seconds(self, row: Row) -> float:
        """Give the time of a search; see `fitted` for what a row has."""
        numbers = [self.latency_s, self.step_s, self.edge_s, self.byte_s]
        return float(np.dot(_terms(row), numbers))


def _terms(row: Row) -> NDArray[np.float64]:
    parts, devices, levels = row["parts"], row["devices"], row["levels"]
    return np.array(
        [
            *(levels * parts / devices, levels * math.log2(parts)),
            *(row["edges"] / devices, row["bytes"] / devices),
        ]
    )


def fitted(rows: Sequence[Row], terms: Sequence[int] = (0, 1, 2, 3), byte_s: float = 0.0) -> Model:
    """Fit the model to rows of one exchange.

    Parameters
    ----------
    rows : sequence of dict
        Of `bench.studies.searches.scaling`: ``parts``, ``devices``, ``levels``, ``edges``,
        ``bytes``, ``ms``.
    terms : sequence of int
        Which of the four numbers are fitted.
    byte_s : float
        The last, if it is not; others are 0.

    Returns
    -------
    Model
        Each row weighs the same, whatever its time.
    """
    table = np.stack([_terms(row) for row in rows])
    seconds = np.array([row["ms"] / 1e3 for row in rows])
    numbers = np.array([0.0, 0.0, 0.0, byte_s])
    rest = 1 - table @ numbers / seconds
    numbers[list(terms)], _ = nnls((table / seconds[:, None])[:, list(terms)], rest)
    error = float(np.abs(table @ numbers / seconds - 1).mean())
    latency, step, edge, byte = map(float, numbers)
    return Model(latency, step, edge, byte, error)


def models(rows: Sequence[Row], byte_s: float = 0.0) -> dict[str, Model]:
    """Give the models that rows allow: one, two where all have as many ranks, none for too few.

    What a byte costs is taken from elsewhere only where rows cannot say it.
    """
    forms: dict[str, tuple[int, ...]] = {"latency stays": (0, 2), "latency grows": (1, 2)}
    if len({row["parts"] for row in rows}) > 1:
        forms, byte_s = {"fitted": (0, 1, 2)}, 0.0
    if not byte_s:
        forms = {name: (*terms, 3) for name, terms in forms.items()}
    return {
        name: fitted(rows, terms, byte_s)
        for name, terms in forms.items()
        if len(terms) <= len(rows)
    }


def left_out(rows: Sequence[Row], byte_s: float = 0.0) -> list[float]:
    """Give the seconds of each row by a model that is fitted to the others, nan if too few."""
    found = []
    for place, row in enumerate(rows):
        others = [other for at, other in enumerate(rows) if at != place]
        made = list(models(others, byte_s).values())
        found.append(made[0].seconds(row) if made else math.nan)
    return found


def _scale_of(row: Row) -> int:
    found = re.match(r"kron(\d+)", row["graph"])
    return int(found[1]) if found else 0


def on_paper(model: Model, row: Row, cards: Sequence[int]) -> list[Row]:
    """Search with more cards what a row of at least two ranks has searched, and larger graphs.

    Returns
    -------
    list of dict
        ``kind``, ``cards``, ``scale``, ``ms``, ``gteps``, ``received_gb`` by each card.
    """
    scale, found = _scale_of(row), []
    for kind in ("strong", "weak"):
        for count in cards:
            grown = math.log2(count / row["parts"]) if kind == "weak" else 0.0
            edges = row["edges"] * 2.0**grown
            sent = row["bytes"] * 2.0**grown * (count - 1) / (row["parts"] - 1)
            searched = {
                "parts": count,
                "devices": count,
                "edges": edges,
                "bytes": sent,
                # A level more for each 256 times the vertices.
                "levels": row["levels"] + grown / 8,
            }
            seconds = model.seconds(searched)
            found.append(
                {
                    "kind": kind,
                    "cards": count,
                    "scale": scale + grown,
                    "ms": 1e3 * seconds,
                    "gteps": edges / seconds / 1e9,
                    "received_gb": sent / count / 1e9,
                }
            )
    return found


def _plot(path: str, studied: Sequence[Row]) -> None:
    import matplotlib as mpl  # noqa: PLC0415 - optional

    mpl.use("Agg")
    mpl.rcParams["svg.fonttype"], mpl.rcParams["svg.hashsalt"] = "none", "scaling"
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(len(studied), 2, figsize=(9, 3.5 * len(studied)), squeeze=False)
    for (left, right), study in zip(axes, studied, strict=True):
        rows = study["rows"]
        for name in dict.fromkeys(row["graph"] for row in rows):
            mine = sorted((r for r in rows if r["graph"] == name), key=lambda r: int(r["parts"]))
            parts = [row["parts"] for row in mine]
            left.plot(parts, [row["gteps"] for row in mine], "o", label=name)
            for model in study["models"].values():
                modelled = [row["edges"] / model.seconds(row) / 1e9 for row in mine]
                left.plot(parts, modelled, "-", color="grey", linewidth=0.8, marker="_")
        left.set(xlabel="ranks", ylabel="GTEPS", title=f"{study['name']}: points, and model")
        left.legend(fontsize="small")
        if not study["paper"]:
            right.axis("off")
            continue
        for name, paper in study["paper"].items():
            for kind in ("strong", "weak"):
                mine = [row for row in paper if row["kind"] == kind]
                cards = [row["cards"] for row in mine]
                gteps = [row["gteps"] for row in mine]
                right.loglog(cards, gteps, "o-", markersize=3, label=f"{kind}, {name}")
        right.loglog([RECORD_CARDS], [2 * RECORD_TEPS / 1e9], "k*", label="Graph500 record")
        right.set(xlabel="cards", ylabel="GTEPS", title="on paper, by the model")
        right.legend(fontsize="x-small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _study(name: str, rows: Sequence[Row], cards: Sequence[int], byte_s: float) -> Row:
    found = models(rows, byte_s)
    own = (row for row in rows if 1 < row["parts"] == row["devices"])
    largest = max(own, key=_scale_of, default=None)
    kinds = found.items() if largest is not None else ()
    paper = {kind: on_paper(model, largest or {}, cards) for kind, model in kinds}
    others = left_out(rows, byte_s)
    return {"name": name, "rows": rows, "models": found, "others": others, "paper": paper}


def _text(study: Row) -> str:
    blocks = [f"# {study['name']}"]
    for kind, model in study["models"].items():
        blocks.append(
            f"{kind}: {1e6 * model.latency_s:.1f} us a level, {1e6 * model.step_s:.1f} us more "
            f"for each doubling, {1e12 * model.edge_s:.2f} ps an edge, {1e12 * model.byte_s:.1f} "
            f"ps a byte; rows are {100 * model.error:.0f} % from it in the mean"
        )
    if not study["models"]:
        return f"{blocks[0]}\n\nToo few rows for a model.\n"
    model = next(iter(study["models"].values()))
    lines = [
        [
            *(row["graph"], str(row["parts"]), f"{row['ms']:.3f}"),
            *(f"{1e3 * model.seconds(row):.3f}", f"{1e3 * other:.3f}"),
            f"{row['bytes'] / row['n'] / max(row['parts'] - 1, 1):.3f}",
        ]
        for row, other in zip(study["rows"], study["others"], strict=True)
    ]
    head = ["graph", "ranks", "ms", "model", "by the others", "bytes a vertex and receiver"]
    blocks.append(table(head, lines))
    for kind, paper in study["paper"].items():
        lines = [
            [
                *(row["kind"], str(row["cards"]), f"{row['scale']:.0f}", f"{row['ms']:.2f}"),
                *(f"{row['gteps']:.1f}", f"{row['received_gb']:.3f}"),
            ]
            for row in paper
        ]
        head = [f"on paper, {kind}", "cards", "scale", "ms", "GTEPS", "GB to each"]
        blocks.append(table(head, lines))
    return "\n\n".join(blocks) + "\n"


def _studies(args: argparse.Namespace, cards: Sequence[int]) -> list[Row]:
    studies, byte_s = [], 0.0
    if args.bus:
        byte_s = 1e-9 / json.loads(args.bus.read_text(encoding="utf-8"))["bus_gb_per_s"]
    for path in args.records:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        divided = [row for row in rows if row["exchange"] != "undivided"]
        for exchange in dict.fromkeys(row["exchange"] for row in divided):
            if args.exchange in (None, exchange):
                mine = [row for row in divided if row["exchange"] == exchange]
                studies.append(_study(f"{path.stem}, {exchange}", mine, cards, byte_s))
    return studies


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
    parser.add_argument("--exchange", help="default is each that a record has")
    parser.add_argument("--bus", type=Path, metavar="FILE", help="a record of `streaming` there")
    parser.add_argument("--cards", default="2,4,8,16,64,8192")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--text", metavar="FILE", type=Path, help="where to write it, too")
    args = parser.parse_args(argv)
    studies = _studies(args, [int(count) for count in args.cards.split(",")])
    if not studies:
        parser.error(f"no record has an exchange {args.exchange!r}")
    text = "\n".join(_text(study) for study in studies)
    text += (
        f"\nThe Graph500 record: {RECORD_CARDS} cards, {2 * RECORD_TEPS / 1e9:.0f} GTEPS where "
        "edges are counted both ways, as they are here.\n"
    )
    print(text, end="")
    if args.text:
        args.text.write_text(text, encoding="utf-8")
    if args.plot:
        _plot(args.plot, studies)
    return 0


if __name__ == "__main__":
    sys.exit(main())
