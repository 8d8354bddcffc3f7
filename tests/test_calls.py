"""Every algorithm takes ``config``, those with one way to compute too; so do front ends."""

import numpy as np
import pytest

import clgraph as cg

GRAPH = cg.generate.kron(5, 4, seed=3)
ONE_WAY = {
    "connected_components": lambda **given: cg.connected_components(GRAPH, **given).labels,
    "spmv": lambda **given: cg.spmv(GRAPH, np.arange(GRAPH.n), **given),
    "pagerank": lambda **given: cg.pagerank(GRAPH, **given).ranks,
    "hits": lambda **given: cg.hits(GRAPH, **given).hubs,
    "eigenvector_centrality": lambda **given: cg.eigenvector_centrality(GRAPH, **given).ranks,
    "katz_centrality": lambda **given: cg.katz_centrality(GRAPH, alpha=0.01, **given).ranks,
    "modularity": lambda **given: cg.modularity(GRAPH, np.arange(GRAPH.n) % 3, **given),
    "greedy_color": lambda **given: cg.greedy_color(GRAPH, **given).colors,
    "maximal_independent_set": lambda **given: cg.maximal_independent_set(GRAPH, **given).mask,
    "random_walks": lambda **given: cg.random_walks(GRAPH, [1, 2], 5, **given).walks,
}
CLUSTERING = [cg.local_clustering, cg.average_clustering, cg.transitivity]


@pytest.mark.parametrize("name", ONE_WAY)
def test_auto_is_the_one_way_there_is(name, any_device):
    call = ONE_WAY[name]
    usual = call(device=any_device)
    np.testing.assert_array_equal(call(device=any_device, config="auto"), usual)
    with pytest.raises(cg.InvalidArgumentError, match="there is one way to compute this"):
        call(device=any_device, config="helix")


@pytest.mark.parametrize("call", CLUSTERING, ids=lambda call: call.__name__)
def test_clustering_counts_triangles_as_it_is_told(call, any_device):
    usual = call(GRAPH, clean=True, device=any_device)
    for name in cg.TrianglesConfig.presets():
        found = call(GRAPH, clean=True, config=name, verify=True, device=any_device)
        np.testing.assert_array_equal(found, usual)
    with pytest.raises(cg.InvalidArgumentError):
        call(GRAPH, clean=True, config="no such preset", device=any_device)
