"""The graphs of the seed's k-truss tables that can be had or generated, beside its times.

``python -m bench.studies.trusses.seed --data FOLDER --output record.json``; the folder holds
``email-enron``, ``soc-slashdot0902`` and ``cit-hepph`` as ``NAME.npz.xz``, and what is not there is
left out. Generated graphs stand for those of the same number of vertices and edges: the seed's came
of other generators, so their greatest k is not compared.

The greatest k is found by default (alone, and by all numbers), by the seed's own algorithm, k by k
and subtracting (``delta``), and by both at the greatest k only: one k is to need no more rounds
than all up to it, and less time. Seconds are of the device from the first launch to the last,
counting triangles included, but for ``delta``, whose peeling alone is compared.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import clgraph
from clgraph import Graph, Truss, generate
from clgraph.cli.text import table

from ...runner import machine
from ...runner.graphs import Places, UnavailableError, find
from ..command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device

__all__ = ["main"]

SEED = 20261122
REPEATS = 5
# By graph: the greatest k and the seconds that a P100 took for it (table 19.2).
REAL = {
    "email-enron": (22, 0.026),
    "soc-slashdot0902": (36, 0.085),
    "cit-hepph": (25, 0.24),
}
# Of a graph of 2^scale vertices and 16 times as many edges, likewise.
GENERATED = {18: 0.74, 19: 6.8, 20: 17.3, 21: 117.0, 22: 291.0, 23: 780.0}
# By scale: seconds for k = 3 by Graphulo, and by the seed (table 19.3, lower half).
GRAPHULO = {
    10: (1.63, 0.003),
    11: (3.93, 0.007),
    12: (12.1, 0.016),
    13: (37.2, 0.042),
    14: (110.0, 0.106),
    15: (3290.0, 0.352),
    16: (8770.0, 1.18),
}
WAYS = ("greatest", "numbers", "one k", "delta", "delta, one k")
# Of its upper half, beside Wang and Cheng's: not at hand.
ABSENT = ("P2P", "HEP", "Amazon", "Wiki", "Skitter", "LJ")


def seconds_of(run: Callable[[], Any], repeats: int) -> dict[str, Any]:
    """Give the median of the device's seconds and all of them, and the rounds of the last run."""
    run()
    stats = [run().stats for _ in range(repeats)]
    spent = [each.kernel_ms / 1e3 for each in stats]
    return {
        "s": statistics.median(spent),
        "all_s": spent,
        "host_s": statistics.median(each.total_ms for each in stats) / 1e3,
        "rounds": len(stats[-1].rounds),
    }


def greatest(graph: Graph, device: Device, repeats: int) -> dict[str, Any]:
    """Time every way to the greatest k, and say whether they agree."""
    plan = Truss(graph, device=device, clean=True)
    max_k = plan.run().max_k
    seeds = Truss(plan.simple, config="delta", device=device)
    bottom_up = seeds.run()
    one = seeds.run(max_k)
    found = {
        "n": plan.simple.n,
        "m": plan.simple.m,
        "max_k": max_k,
        "agree": max_k == plan.run(greatest=True).max_k == bottom_up.max_k
        and one.count > 0
        and seeds.run((max_k or 0) + 1).count == 0,
        "greatest": seconds_of(lambda: plan.run(greatest=True, prepare=True), repeats),
        "numbers": seconds_of(lambda: plan.run(prepare=True), repeats),
        "one k": seconds_of(lambda: plan.run(max_k, prepare=True), repeats),
        "delta": seconds_of(seeds.run, repeats),
        "delta, one k": seconds_of(lambda: seeds.run(max_k), repeats),
    }
    up_to = bottom_up.stats.rounds["k"] <= max_k
    found["rounds_up_to_max_k"] = int(up_to.sum())
    return found


def one_k(graph: Graph, device: Device, repeats: int) -> dict[str, Any]:
    """Time the 3-truss."""
    plan = Truss(graph, device=device)
    found = {"n": plan.simple.n, "m": plan.simple.m, "count": plan.run(3).count}
    return found | {"k3": seconds_of(lambda: plan.run(3, prepare=True), repeats)}


def rows_of(record: dict[str, Any]) -> tuple[list[list[str]], list[list[str]]]:
    """Give the lines of both tables."""
    upper = []
    for name, found in record["greatest"].items():
        ours = [found[way]["s"] for way in WAYS]
        figures = [f"{1e3 * each:.2f}" for each in ours]
        rounds = f"{found['delta, one k']['rounds']} of {found['rounds_up_to_max_k']}"
        seed_s = found["seed_s"]
        upper.append(
            [name, str(found["max_k"]), *figures, rounds, f"{seed_s:g}", f"{seed_s / ours[0]:.1f}"]
        )
    lower = []
    for name, found in record["k3"].items():
        graphulo_s, seed_s = found["graphulo_s"], found["seed_s"]
        ours_s = found["k3"]["s"]
        ratios = [f"{graphulo_s / seed_s:.0f}", f"{graphulo_s / ours_s:.0f}"]
        lower.append([name, f"{1e3 * ours_s:.2f}", f"{graphulo_s:g}", f"{seed_s:g}", *ratios])
    return upper, lower


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if ways disagree, or a real graph has another greatest k than printed."""
    parser = command(__doc__, data=None, repeats=REPEATS)
    parser.add_argument("--graphs", default=",".join(REAL), help="real ones, with commas")
    parser.add_argument("--scales", default="18,19,20", help="of generated ones, with commas")
    parser.add_argument("--graphulo", default="10,11,12,13,14,15,16", help="scales for k = 3")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    record: dict[str, Any] = machine.head_of("truss-seed", device) | {
        "seed": SEED,
        "repeats": args.repeats,
        "greatest": {},
        "k3": {},
        "left_out": dict.fromkeys(ABSENT, "not at hand"),
    }
    wrong = []
    for name in filter(None, args.graphs.split(",")):
        try:
            graph = find(name, Places(data=args.data)).graph
        except UnavailableError as error:
            record["left_out"][name] = str(error)
            continue
        max_k, seed_s = REAL[name]
        found = greatest(graph, device, args.repeats) | {"seed_s": seed_s}
        record["greatest"][name] = found
        wrong += [name] * (found["max_k"] != max_k or not found["agree"])
    for scale in map(int, filter(None, args.scales.split(","))):
        found = greatest(generate.kron(scale, seed=SEED), device, args.repeats)
        record["greatest"][f"kron{scale}"] = found | {"seed_s": GENERATED[scale]}
        wrong += [f"kron{scale}"] * (not found["agree"])
    for scale in map(int, filter(None, args.graphulo.split(","))):
        found = one_k(generate.kron(scale, seed=SEED), device, args.repeats)
        graphulo_s, seed_s = GRAPHULO[scale]
        record["k3"][f"kron{scale}"] = found | {"graphulo_s": graphulo_s, "seed_s": seed_s}
    record["wrong"] = wrong
    keep(record, args.output)
    upper, lower = rows_of(record)
    columns = ["graph", "k", *(f"{way}, ms" for way in WAYS), "rounds"]
    print(table([*columns, "seed, s", "times"], upper))
    print(table(["graph", "k = 3, ms", "Graphulo, s", "seed, s", "seed's ratio", "ours"], lower))
    for name, why in record["left_out"].items():
        print("left out:", name, why)
    if wrong:
        print("WRONG:", ", ".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
