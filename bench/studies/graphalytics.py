"""Data sets of LDBC Graphalytics: its six algorithms, written and compared as the benchmark does.

``python -m bench.studies.graphalytics FOLDER NAME`` reads ``NAME.properties``, ``NAME.v`` and
``NAME.e``, runs what the properties ask for, and compares with ``NAME-BFS``, ``NAME-PR``, ... where
they are there. The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph.errors import InvalidArgumentError

from ..runner.graphalytics import ALGORITHMS, matches, read_values, write_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from clgraph import Device, Graph

__all__ = ["DataSet", "compared", "main", "read_data_set"]

KINDS = {name.lower(): kind for kind, (name, _) in ALGORITHMS.items()}
DIRECTED_LCC = "of directed graphs it counts edges by direction, which local_clustering does not"


@dataclass(frozen=True, slots=True)
class DataSet:
    """A graph and what is asked of it.

    Attributes
    ----------
    graph : Graph
        Vertices by the order of their names.
    names : int64 array [n]
        What the benchmark calls them.
    asked : mapping of str to str
        Its properties, without the name of the graph.
    """

    graph: Graph
    names: NDArray[np.int64]
    asked: Mapping[str, str]

    def source(self, algorithm: str) -> int:
        """Give the vertex that a search starts from.

        Raises
        ------
        InvalidArgumentError
            If no vertex has that name.
        """
        name = int(self.asked[f"{algorithm}.source-vertex"])
        vertex = int(np.searchsorted(self.names, name))
        if vertex == len(self.names) or self.names[vertex] != name:
            raise InvalidArgumentError(f"{algorithm}.source-vertex = {name} is no vertex.")
        return vertex


def read_data_set(folder: Path, name: str) -> DataSet:
    """Read a graph of the benchmark.

    Raises
    ------
    InvalidArgumentError
        If an edge's end is not among the vertices.
    """
    prefix = f"graph.{name}."
    asked: dict[str, str] = {}
    for line in (folder / f"{name}.properties").read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals and key.strip().startswith(prefix):
            asked[key.strip().removeprefix(prefix)] = value.strip()
    names = np.sort(np.loadtxt(folder / f"{name}.v", np.int64, ndmin=1))
    listed = np.loadtxt(folder / f"{name}.e", str, ndmin=2)
    ends = listed[:, :2].astype(np.int64).T
    places = np.minimum(np.searchsorted(names, ends), len(names) - 1)
    if (names[places] != ends).any():
        raise InvalidArgumentError(f"{name}.e has an edge of a vertex that {name}.v has not.")
    weights = listed[:, 2].astype(np.float64) if listed.shape[1] > 2 else None
    directed = asked["directed"] == "true"
    sources, targets = places
    about: dict[str, Any] = {"n": len(names), "directed": directed, "symmetrize": not directed}
    graph = clgraph.from_edges(sources, targets, weights, **about)
    return DataSet(graph, names, asked)


def result_of(data: DataSet, algorithm: str, device: Device) -> NDArray[Any]:
    """Run one of the six algorithms as the properties ask for it."""
    graph, asked = data.graph, data.asked
    if algorithm == "bfs":
        return clgraph.bfs(graph, data.source("bfs"), device=device).distances
    if algorithm == "sssp":
        return clgraph.sssp(graph, data.source("sssp"), device=device).distances
    if algorithm == "pr":
        options: dict[str, Any] = {
            "alpha": float(asked["pr.damping-factor"]),
            "max_iter": int(asked["pr.num-iterations"]),
            "tol": 0.0,
        }
        ranks: NDArray[Any] = clgraph.pagerank(
            graph, weights=False, convention="graphalytics", device=device, **options
        ).ranks
        return ranks
    if algorithm == "cdlp":
        rounds = int(asked["cdlp.max-iterations"])
        return clgraph.label_propagation(graph, rounds, device=device).labels
    if algorithm == "wcc":
        return clgraph.connected_components(graph, device=device).labels
    return clgraph.local_clustering(graph, clean=True, device=device)


def compared(
    folder: Path, name: str, device: Device, output: Path | None = None
) -> dict[str, str | None]:
    """Run all that a data set asks for.

    Parameters
    ----------
    folder, name
        Where the data set is, and what it is called.
    device : Device
        Where to run.
    output : Path, optional
        Folder for results; default is that of the data set, as ``NAME-BFS.ours`` and so on.

    Returns
    -------
    dict
        By algorithm: what differs from the reference, nothing where it is the same, or None where
        nothing was compared.
    """
    data = read_data_set(folder, name)
    found: dict[str, str | None] = {}
    for algorithm in data.asked["algorithms"].replace(",", " ").split():
        if algorithm == "lcc" and data.graph.directed:
            found[algorithm] = None
            continue
        kind = KINDS[algorithm]
        path = (output or folder) / f"{name}-{algorithm.upper()}.ours"
        write_values(path, kind, result_of(data, algorithm, device), data.names)
        reference = folder / f"{name}-{algorithm.upper()}"
        if reference.exists():
            found[algorithm] = matches(kind, read_values(path), read_values(reference))
        else:
            found[algorithm] = None
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Compare a data set, and print a line for each algorithm."""
    parser = argparse.ArgumentParser(prog="python -m bench.studies.graphalytics")
    parser.add_argument("folder", type=Path, help="where the data set is")
    parser.add_argument("name", help="what it is called")
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument("--output", type=Path, help="folder for results (default: the data set's)")
    args = parser.parse_args(argv)
    found = compared(args.folder, args.name, clgraph.device(args.device), args.output)
    for algorithm, fault in found.items():
        said = "not compared" if fault is None else fault or "as the reference has it"
        if fault is None and algorithm == "lcc":
            said += f": {DIRECTED_LCC}"
        print(f"{algorithm.upper()}: {said}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
