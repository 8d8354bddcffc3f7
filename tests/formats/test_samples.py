"""Genuine files of every format give the counts that their collections publish."""

import graphs
import numpy as np
import pytest
import scipy.io

import clgraph.graph as cgg

FILES = graphs.DATA / "formats"
# file -> vertices, edges, directed, weighted, self-loops
SAMPLES = {
    "494_bus.mtx": (494, 1080, False, True, 494),
    "GD98_a.mtx": (38, 50, True, False, 0),
    "Ragusa16.mtx": (24, 81, True, True, 10),
    "chesapeake.mtx": (39, 170, False, False, 0),
    "soc-wiki-Vote.mtx": (889, 2914, False, False, 0),
    "west0067.mtx": (67, 294, True, True, 2),
    "airfoil1.graph": (4253, 12289, False, False, 0),
    "celegans_metabolic.graph": (453, 2025, False, False, 0),
    "jazz.graph": (198, 2742, False, False, 0),
    "lesmis.graph": (77, 254, False, True, 0),
    "tiny_02.graph": (7, 11, False, True, 0),
    "as20000102.txt": (6474, 13895, False, False, 1323),
    "out.moreno_train_train": (64, 243, False, True, 0),
    "out.opsahl-powergrid": (4941, 6594, False, False, 0),
    "rome99.gr": (3353, 8870, True, True, 0),
    "soc-hamsterster.edges": (2426, 16630, False, False, 0),
}
PARALLEL = {"rome99.gr": 11}


def test_every_sample_is_tested() -> None:
    assert {path.name for path in FILES.iterdir()} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_counts(name: str) -> None:
    graph = cgg.read(FILES / name)
    found = graph.statistics()
    assert (
        found.vertices,
        found.edges,
        found.directed,
        found.weighted,
        found.self_loops,
    ) == SAMPLES[name]
    assert found.isolated == 0
    assert found.parallel_edges == PARALLEL.get(name, 0)
    cgg.Graph(graph.indptr, graph.indices, graph.weights, directed=graph.directed)


@pytest.mark.parametrize(
    "name",
    # scipy insists on two percent signs, which soc-wiki-Vote.mtx has not
    [name for name in SAMPLES if name.endswith(".mtx") and name != "soc-wiki-Vote.mtx"],
)
def test_matrix_market_agrees_with_scipy(name: str) -> None:
    graph = cgg.read(FILES / name)
    expected = scipy.io.mmread(FILES / name).tocsr()
    assert (abs(graph.to_scipy() - expected) > 0).nnz == 0


def test_the_metis_manual_example() -> None:
    graph = cgg.read(FILES / "tiny_02.graph")
    first = slice(graph.indptr[0], graph.indptr[1])
    assert dict(zip(graph.indices[first].tolist(), graph.weights[first].tolist(), strict=True)) == {
        4: 1,
        2: 2,
        1: 1,
    }


@pytest.mark.parametrize(("name", "load"), graphs.bundled_graphs())
def test_bundled_graphs_have_the_published_answers(name: str, load: graphs.Loader) -> None:
    check_facts(load(), graphs.facts()[name])


@pytest.mark.parametrize(("name", "load"), graphs.shared_graphs())
def test_shared_graphs_have_the_published_answers(name: str, load: graphs.Loader) -> None:
    check_facts(load(), graphs.shared_facts()[name])


def check_facts(graph: cgg.Graph, fact: dict[str, object]) -> None:
    found = graph.statistics()
    assert (graph.n, graph.m, found.edges) == (fact["V"], fact["entries"], fact["E"])
    assert graph.directed == fact["directed"]
    assert found.self_loops == fact["loops"]
    assert found.parallel_edges == fact["parallel_entries"]
    assert found.isolated == fact["isolated"]
    assert found.max_degree == fact.get("max_degree", fact.get("max_out_degree"))
    if graph.directed:
        assert found.max_in_degree == fact["max_in_degree"]
    for source, prefix in ((0, "bfs0"), (int(fact["hub"]), "bfshub")):
        distances = graphs.reference_distances(graph, source)
        assert distances.max() == fact[f"{prefix}_depth"]
        assert np.count_nonzero(distances >= 0) == fact[f"{prefix}_reached"]
