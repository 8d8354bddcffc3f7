"""What devices that share a search send each other: bfs-merrill 20, 21 and bfs-enterprise 22."""

import numpy as np
import pytest
from configs import bfs_config
from graphs import SHAPES
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph.algorithms.bfs.likely import LOOKED_AT
from clgraph.cluster import DividedBFS
from clgraph.cluster.parts import candidates
from clgraph.cluster.parts.bits import BitPart
from clgraph.cluster.ranks.transport import Transport

ONE_RUNTIME = pytest.mark.runtimes("intel")
BITS = {"queue": "status", "gamma": 0}  # pulls from the second level on, where there are hubs
FORMS = {"candidates": "merrill-two-phase", "bits": bfs_config(queue="status")}


def same(device, parts):
    return [device] * parts


def sent(device, **config):
    predecessors = config.pop("predecessors", False)
    plan = DividedBFS(
        MIXED,
        same(device, 3),
        predecessors=predecessors,
        # A work-group a device: of several two may find a vertex together, and both send it.
        config=bfs_config(**{"queue": "two_phase", "visited": "plain", "groups": 1, **config}),
    )
    result = plan.run(MIXED_SOURCES[1])
    check_search(MIXED, MIXED_SOURCES[1], result)
    return result.stats.exchanged_bytes


@ONE_RUNTIME
def test_bytes_that_devices_send(device):
    """bfs-merrill 20: told for each level, doubled by a tree, fewer with culling before sending."""
    plain = sent(device)
    owner = np.arange(MIXED.n) % 3
    edge_sources = np.repeat(owner, MIXED.degrees)
    depths = cg.bfs(MIXED, MIXED_SOURCES[1], device=device).distances
    apart = (edge_sources != owner[MIXED.indices]) & (np.repeat(depths, MIXED.degrees) >= 0)
    levels = np.repeat(depths, MIXED.degrees)[apart]
    np.testing.assert_array_equal(plain, 4 * np.bincount(levels, minlength=plain.size))
    np.testing.assert_array_equal(sent(device, predecessors=True), 2 * plain)
    by_mask = sent(device, visited="mask")
    by_lanes = sent(device, duplicates="lookup_lanes")
    assert by_mask.sum() < 0.5 * plain.sum()
    assert by_lanes.sum() < plain.sum()
    assert (by_mask <= plain).all()


@ONE_RUNTIME
def test_it_ends_when_all_bins_are_empty(device):
    """bfs-merrill 21: the last exchange, and no other, has nothing in any bin."""
    graph = cg.from_edges([0, 1, 2, 10, 11], [1, 2, 3, 11, 12], n=40)
    config = bfs_config(queue="edge", visited="plain")
    for parts in (1, 2, 3):
        result = DividedBFS(graph, same(device, parts), config=config).run(0)
        assert result.stats.frontiers.tolist() == [1, 1, 1, 1]
        assert len(result.stats.directions) == 4
        expected = [4, 4, 4, 0] if parts > 1 else [0, 0, 0, 0]
        assert result.stats.exchanged_bytes.tolist() == expected


@ONE_RUNTIME
def test_bits_are_one_a_vertex(device):
    """bfs-enterprise 22: devices send each other n bits a level, or a list if that is less.

    Who has no edge out of the frontier sends nothing, and is launched for nothing.
    """
    plan = DividedBFS(MIXED, same(device, 3), predecessors=True, config=bfs_config(**BITS))
    for source in MIXED_SOURCES:
        result = plan.run(source)
        check_search(MIXED, source, result)
        stats = result.stats
        whole = 8 * -(-MIXED.n // 64)
        edges = np.zeros((stats.levels, 3), np.int64)
        for rank, part in enumerate(plan.parts):
            distances = result.distances[part.owned.vertices]
            here = distances >= 0
            degrees = MIXED.degrees[part.owned.vertices]
            np.add.at(edges[:, rank], distances[here], degrees[here])
        expected = []
        for way, frontier in zip(stats.directions, edges, strict=True):
            lists = 4 * (frontier + 1)
            pushing = frontier > 0
            if way == "pull":  # pulled bits are of those whom a device owns
                expected.append(2 * whole)
            elif (lists <= whole).all() and lists.mean() < whole:
                expected.append(2 * lists[pushing].sum())
            else:  # what a device pushes may be anyone's
                expected.append(2 * whole * pushing.sum())
        assert stats.exchanged_bytes.tolist() == expected
    # From the hub wide levels; from the end of the path narrow ones first.
    first = {MIXED_SOURCES[0]: 2 * whole, MIXED_SOURCES[3]: 2 * 4 * (1 + 1)}
    for source, size in first.items():
        assert plan.run(source).stats.exchanged_bytes[0] == size


@ONE_RUNTIME
def test_who_has_nothing_to_expand_is_not_launched(device, monkeypatch):
    """Of a path each level is one device's: one expansion a level, and none marks its own list."""
    graph = cg.generate.path(400)
    plan = DividedBFS(graph, same(device, 3), config=bfs_config(**BITS))
    counts = {"expand": 0, "mark": 0, "merge": 0}
    for name in counts:
        inner = getattr(BitPart, name)

        def counted(self, *args, name=name, inner=inner, **options):
            counts[name] += 1
            return inner(self, *args, **options)

        monkeypatch.setattr(BitPart, name, counted)
    result = plan.run(0)
    check_search(graph, 0, result)
    assert set(result.stats.directions) == {"push"}
    assert counts == {"expand": 400, "mark": 2 * counts["expand"], "merge": 3 * 400}
    assert result.stats.launches == 3 + sum(counts.values())


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_through_the_host(form, device):
    """What is exchanged arrives the same, copied directly or through memory of the host."""
    told = []
    for transfers in ("direct", "host"):
        plan = DividedBFS(
            MIXED, same(device, 3), predecessors=True, config=FORMS[form], transfers=transfers
        )
        for source in MIXED_SOURCES:
            result = plan.run(source)
            check_search(MIXED, source, result)
        told.append(plan.run(MIXED_SOURCES[0]).stats.frontiers.tolist())
    assert told[0] == told[1]


@ONE_RUNTIME
def test_each_level_is_told(device):
    plan = DividedBFS(MIXED, same(device, 2), config=FORMS["bits"])
    result = plan.run(MIXED_SOURCES[0])
    levels = result.stats.per_level
    distances = result.distances
    found = distances >= 0
    assert levels["frontier"].tolist() == np.bincount(distances[found]).tolist()
    edges = np.bincount(distances[found], weights=MIXED.degrees[found])
    assert levels["edges"].tolist() == edges.tolist()
    assert levels["sent_bytes"].tolist() == result.stats.exchanged_bytes[: levels.size].tolist()
    assert (levels["microseconds"] > 0).all()
    assert 0 < result.stats.kernel_ms <= result.stats.total_ms
    assert result.stats.edges_traversed == edges.sum()
    assert result.stats.devices == (device.name,) * 2
    assert result.stats.exchange == "bits"
    assert result.stats.launches > 2 * result.stats.levels


@ONE_RUNTIME
def test_the_exchange_follows_from_the_graph(device):
    """Bits where levels reach much of the graph, candidates where they do not."""
    for graph, exchange in ((SHAPES["clique"], "bits"), (SHAPES["grid"], "candidates")):
        result = DividedBFS(graph, same(device, 2)).run(0)
        check_search(graph, 0, result)
        assert result.stats.exchange == exchange


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_what_a_broken_off_search_has_under_way_is_waited_for(form, device, monkeypatch):
    """Copies between queues that an interrupt left behind do not reach the next search."""
    plan = DividedBFS(MIXED, same(device, 3), predecessors=True, config=FORMS[form])
    deliver = Transport.deliver

    def interrupted(*args):
        deliver(*args)
        raise KeyboardInterrupt

    for source in MIXED_SOURCES[:3]:
        with monkeypatch.context() as patch:
            patch.setattr(Transport, "deliver", interrupted)
            with pytest.raises(KeyboardInterrupt):
                plan.run(MIXED_SOURCES[0])
        check_search(MIXED, source, plan.run(source))


@pytest.mark.parametrize("edges", ["bin_begins", "arrivals"])
def test_more_candidates_than_32_bits_number(edges, any_device, monkeypatch):
    """Counts that kernels could not add up are refused before anything is launched."""
    monkeypatch.setattr(candidates, "MOST_CANDIDATES", 2000 if edges == "arrivals" else 500)
    graph = cg.from_edges(np.arange(3000) % 300, np.zeros(3000, int), n=300)
    config = bfs_config(queue="vertex", visited="plain")
    with pytest.raises(cg.InvalidGraphError, match="32 bits"):
        DividedBFS(graph, same(any_device, 2), config=config)


@ONE_RUNTIME
@pytest.mark.parametrize("kept", [1, 2])
def test_likely_parents_are_tried_first(device, kept):
    """Of a vertex's in-neighbours those with most edges to the part's vertices; same results."""
    config = cg.BFSConfig(frontier="status", pull=cg.pull.ByEdges(likely=kept))
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = DividedBFS(graph, same(device, 3), predecessors=True, config=config)
        back = graph.transpose()
        for part in plan.parts:
            first, count = part.owned.first, part.owned.count
            begins = back.indptr[first : first + count + 1].astype(np.int64)
            into = back.indices[begins[0] : begins[-1]]
            edges = np.bincount(into, minlength=graph.n)
            likely = part._back[-1].read().reshape(count, kept)
            for v, mine in enumerate(likely):
                row = into[begins[v] - begins[0] : begins[v + 1] - begins[0]][:LOOKED_AT]
                best = np.sort(edges[row])[::-1][:kept]
                assert np.isin(mine, [*row, first + v]).all()
                assert edges[mine[: best.size]].tolist() == best.tolist()
                assert (mine[best.size :] == first + v).all()
        pulled = False
        for source in sources:
            result = plan.run(source, verify=True)
            check_search(graph, source, result)
            pulled |= "pull" in result.stats.directions
        assert pulled
