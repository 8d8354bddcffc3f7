"""Algorithms of whole graphs, a line each: by what names and where each of their parts is found."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import clgraph as cg


@dataclass(frozen=True)
class Whole:
    """One algorithm.

    Attributes
    ----------
    plan : str
        Class of its plan.
    answer : callable
        From what the call gives to an array.
    options, of_run : dict
        What the call takes beside the graph, and what the plan's `run` does.
    reports : bool
        Whether its runs have steps between which they can report: one launch has none.
    interrupted : str
        Its line in `algorithms_list`.
    words : tuple of str
        The command, and what follows the name of the file.
    problem : tuple of str
        The runner's problem, and a preset.
    oracles : tuple of str
        Peers of that problem whose values are compared, beside what `check` compares with.
    checked_by : str
        What `check` says it compared with.
    networkx : tuple of str
        Functions that the backend serves; none where networkx has no function of this rule.
    page : str
        Where an example of it runs.
    """

    plan: str
    answer: Any
    words: tuple[str, ...]
    problem: tuple[str, ...]
    oracles: tuple[str, ...]
    checked_by: str
    networkx: tuple[str, ...]
    page: str
    interrupted: str
    options: dict[str, Any] = field(default_factory=dict)
    of_run: dict[str, Any] = field(default_factory=dict)
    reports: bool = True


def ranks(result):
    return result.ranks


def numbers(result):
    return result.numbers


def labels(result):
    return result.labels


PAIRS = {"pairs": [[0, 1], [1, 2]]}
WALKS = {"starts": [0, 1, 2], "length": 5}
PARTS = {"labels": np.arange(6) % 2}
LIBRARIES = ("networkx", "igraph")
WHOLE = {
    "pagerank": Whole(
        "PageRank",
        ranks,
        ("rank",),
        ("pagerank", "auto"),
        ("networkx", "igraph", "networkit"),
        "scipy",
        ("pagerank",),
        "ranking",
        "pagerank",
    ),
    "hits": Whole(
        "Hits",
        ranks,
        ("rank", "--measure", "hits"),
        ("hits", "auto"),
        LIBRARIES,
        "its definition",
        ("hits",),
        "ranking",
        "hits",
    ),
    "eigenvector_centrality": Whole(
        "EigenvectorCentrality",
        ranks,
        ("rank", "--measure", "eigenvector"),
        ("eigenvector", "auto"),
        LIBRARIES,
        "its definition",
        ("eigenvector_centrality",),
        "ranking",
        "eigenvector",
    ),
    "katz_centrality": Whole(
        "KatzCentrality",
        ranks,
        ("rank", "--measure", "katz", "--alpha", "0.01"),
        ("katz", "auto"),
        ("networkx", "networkit"),
        "its definition",
        ("katz_centrality",),
        "ranking",
        "katz",
        options={"alpha": 0.01},
        of_run={"alpha": 0.01},
    ),
    "core_numbers": Whole(
        "Cores",
        np.asarray,
        ("core",),
        ("cores", "auto"),
        LIBRARIES,
        "numpy",
        ("core_number", "k_core"),
        "truss",
        "cores",
    ),
    "minimum_spanning_forest": Whole(
        "SpanningForest",
        lambda result: result.mask,
        ("mst",),
        ("spanning-forest", "auto"),
        LIBRARIES,
        "scipy",
        ("minimum_spanning_edges", "minimum_spanning_tree"),
        "trees",
        "spanning-forest",
    ),
    "label_propagation": Whole(
        "LabelPropagation",
        labels,
        ("communities", "--method", "propagation"),
        ("propagation", "auto"),
        # No library has this rule; its other oracle is what Graphalytics' specification prints.
        (),
        "numpy",
        (),
        "communities",
        "propagation",
    ),
    "local_clustering": Whole(
        "Triangles",
        np.asarray,
        ("triangles", "--clustering"),
        ("clustering", "auto"),
        LIBRARIES,
        "scipy",
        ("clustering",),
        "triangles",
        "triangles",
        of_run={"per": "vertex"},
        reports=False,
    ),
    "louvain": Whole(
        "Louvain",
        labels,
        ("communities", "--method", "louvain"),
        ("louvain", "auto"),
        LIBRARIES,
        "numpy, scipy",
        ("louvain_communities",),
        "communities",
        "leiden",
    ),
    "leiden": Whole(
        "Leiden",
        labels,
        ("communities", "--method", "leiden"),
        ("leiden", "auto"),
        ("igraph", "networkit"),
        "numpy, scipy",
        ("leiden_communities",),
        "communities",
        "leiden",
    ),
    "modularity": Whole(
        "Modularity",
        np.asarray,
        ("communities",),
        ("modularity", "auto"),
        LIBRARIES,
        "numpy",
        ("modularity",),
        "communities",
        "modularity",
        options=PARTS,
        of_run=PARTS,
        reports=False,
    ),
    "greedy_color": Whole(
        "Coloring",
        lambda result: result.colors,
        ("color",),
        ("coloring", "auto"),
        LIBRARIES,
        "its definition",
        ("greedy_color",),
        "trees",
        "coloring",
    ),
    "maximal_independent_set": Whole(
        "IndependentSet",
        lambda result: result.mask,
        ("color", "--independent"),
        ("independent-set", "auto"),
        ("networkx", "networkit"),
        "its definition",
        ("maximal_independent_set",),
        "trees",
        "independent-set",
    ),
    "jaccard": Whole(
        "Similarity",
        np.asarray,
        ("similarity",),
        ("similarity", "auto"),
        LIBRARIES,
        "scipy",
        ("jaccard_coefficient",),
        "communities",
        "similarity",
        options=PAIRS,
        of_run=PAIRS,
    ),
    "overlap": Whole(
        "Similarity",
        np.asarray,
        ("similarity", "--measure", "overlap"),
        ("similarity", "auto"),
        # No library has it; sets of neighbours are its other oracle.
        (),
        "scipy",
        (),
        "communities",
        "similarity",
        options=PAIRS,
        of_run=PAIRS | {"measure": "overlap"},
    ),
    "random_walks": Whole(
        "RandomWalks",
        lambda result: result.walks,
        ("walk", "--length", "5"),
        ("walks", "auto"),
        # Of the libraries' walks, which are other draws, the same is asked as of ours.
        ("scipy", "igraph"),
        "its definition, and chi-square of second steps",
        (),
        "trees",
        "walks",
        options=WALKS,
        of_run=WALKS,
    ),
}
# Six vertices each, but for the empty one and the single one: what is there, and what is not.
DEGENERATE = {
    "nothing": lambda: cg.from_edges([], [], n=0),
    "one vertex": lambda: cg.from_edges([], [], n=1),
    "no edges": lambda: cg.from_edges([], [], n=6),
    "loops": lambda: cg.from_edges([0, 1, 1], [0, 1, 1], n=6),
    "parallel": lambda: cg.from_edges([0, 0, 1, 1], [1, 1, 0, 0], n=6),
    "one way": lambda: cg.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], n=6),
    "apart": lambda: cg.from_edges([0, 1, 3], [1, 2, 4], n=6, symmetrize=True),
    "weighted": lambda: cg.from_edges(
        [0, 1, 2, 3], [1, 2, 0, 4], np.array([1, 0, 3, 2], np.int32), n=6, symmetrize=True
    ),
}
