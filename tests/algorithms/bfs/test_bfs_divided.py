"""A search over several devices: bfs-merrill 19 to 21 (candidates) and bfs-enterprise 22 (bits).

The devices are one runtime's processor as often as there are parts, and two runtimes together.
"""

import gc
import json

import numpy as np
import pytest
from configs import bfs_config
from graphs import SHAPES, graphs
from hypothesis import given, settings
from runtimes import POCL, clean_environment, driver_library, run_python
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
)

import clgraph as cg
from clgraph.cluster import DividedBFS
from clgraph.cluster.parts import candidates
from clgraph.cluster.parts.bits import BitPart
from clgraph.cluster.parts.partition import Ownership
from clgraph.cluster.parts.share import rows_of
from clgraph.cluster.ranks.transport import Transport
from clgraph.engine.strategies.balance import BALANCERS

ONE_RUNTIME = pytest.mark.runtimes("intel")
SLOW = pytest.mark.slow
BITS = {"queue": "status", "gamma": 0}  # pulls from the second level on, where there are hubs
STATUS = bfs_config(queue="status")
FORMS = {"candidates": "merrill-two-phase", "bits": STATUS, "usual": None}


EXPANSIONS = {
    **{name: name for name in cg.BFSConfig.presets() if name not in {"helix", "enterprise"}},
    **{
        name: bfs_config(queue="vertex", balance=name)
        for name, kind in BALANCERS.items()
        if kind.SCOPE != "grid"
    },
}


def same(device, parts):
    return [device] * parts


@SLOW
@pytest.mark.runtimes("intel", "pocl")
@pytest.mark.parametrize("name", EXPANSIONS)
def test_every_preset_and_balancer(name, device):
    """A part is expanded by what one device has for it; Helix's rules may ask for other queues."""
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True, config=EXPANSIONS[name])
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))


@ONE_RUNTIME
@pytest.mark.parametrize("parts", [pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW), 3, 4])
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_parts_equal_one_device(form, parts, device):
    """bfs-merrill 19 and bfs-enterprise 22: levels and trees as of one device."""
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = DividedBFS(graph, same(device, parts), predecessors=True, config=FORMS[form])
        for source in sources:
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.frontiers.sum() == result.reached
            assert result.stats.levels == result.depth + 1


@pytest.mark.parametrize("form", FORMS)
def test_devices_of_two_platforms(form, pocl, intel):
    """bfs-merrill 19: what each finds passes through the host, whatever the devices are."""
    plan = DividedBFS(MIXED, [pocl, intel], predecessors=True, config=FORMS[form])
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))


@pytest.mark.runtimes("intel", "pocl")
def test_bits_of_levels_that_only_push(device):
    """Ranks know their frontier's edges also where queues are of vertices and none pulls."""
    config = cg.BFSConfig(frontier="status", pull=cg.pull.Never())
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True, config=config)
    for source in MIXED_SOURCES[:2]:
        check_search(MIXED, source, plan.run(source))


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_more_parts_than_vertices(form, device):
    """bfs-merrill 19 (p > n) and bfs-enterprise 22 (an empty part, p not dividing n)."""
    for name in ("one-vertex", "one-edge", "no-edges", "self-loops", "star", "path"):
        graph = SHAPES[name]
        plan = DividedBFS(graph, same(device, 4), predecessors=True, config=FORMS[form])
        for source in {0, graph.n // 2, graph.n - 1}:
            check_search(graph, source, plan.run(source))


def test_vertices_dealt_out_in_turns():
    """bfs-merrill 19: vertex v is number v div p of device v mod p; every row is somewhere."""
    for count in (1, 2, 3, 7):
        parts = Ownership.in_turns(MIXED.n, count)
        for place, part in enumerate(parts):
            vertices = np.arange(MIXED.n)[part.vertices]
            np.testing.assert_array_equal(vertices % count, place)
            np.testing.assert_array_equal(vertices // count, np.arange(part.count))
        check_rows(MIXED, parts)


def test_vertices_in_ranges():
    """bfs-enterprise 22: a range each, alike in size but for the grain of a bitmap."""
    for count in (1, 2, 7, 60):
        parts = Ownership.in_ranges(MIXED.n, count)
        sizes = [part.count for part in parts]
        assert max(sizes) - min(sizes) <= 2 * 64
        vertices = np.arange(MIXED.n)
        np.testing.assert_array_equal(
            np.concatenate([vertices[part.vertices] for part in parts]), vertices
        )
        assert all(part.first % 64 == 0 for part in parts if part.count)
        check_rows(MIXED, parts)


def check_rows(graph, parts):
    numbers = np.arange(graph.n)
    edges = 0
    for part in parts:
        indptr, indices, _ = rows_of(graph, part)
        edges += indices.size
        for local, v in enumerate(numbers[part.vertices]):
            assert part.number(int(v)) == local
            np.testing.assert_array_equal(
                indices[indptr[local] : indptr[local + 1]],
                graph.indices[graph.indptr[v] : graph.indptr[v + 1]],
            )
        others = np.delete(numbers, numbers[part.vertices])
        assert all(part.number(int(v)) == part.count for v in others[::97])
    assert edges == graph.m


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
@pytest.mark.parametrize("switching", ["hubs", pytest.param("edges", marks=SLOW)])
def test_all_devices_turn_at_once(switching, device):
    """bfs-enterprise 22: by counts of all together, so at the level at which one device does."""
    graph = cg.generate.kron(10, seed=5)
    config = bfs_config(queue="status", switching=switching, gamma=30)
    source = int(np.argmax(graph.degrees))
    alone = cg.bfs(graph, source, config=config, device=device)
    result = DividedBFS(graph, same(device, 3), config=config).run(source)
    check_search(graph, source, result)
    ways = list(alone.stats.per_level["direction"][: alone.depth])
    assert list(result.stats.directions[: alone.depth]) == ways
    assert "pull" in ways


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
    plan = DividedBFS(MIXED, same(device, 2), config=STATUS)
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
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_a_graph_without_vertices(form, device):
    plan = DividedBFS(cg.from_edges([], [], n=0), same(device, 2), config=FORMS[form])
    with pytest.raises(cg.InvalidArgumentError, match="not a vertex of this graph"):
        plan.run(0)


@ONE_RUNTIME
def test_results_outlive_the_next_search_and_the_plan(device):
    """One that nobody has read is copied before its memory is used again; then all is freed."""
    gc.collect()
    before = device.ledger.used_bytes
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True)
    results = [(source, plan.run(source)) for source in MIXED_SOURCES]
    del plan
    for source, result in results:
        check_search(MIXED, source, result)
    del result, results
    gc.collect()
    assert device.ledger.used_bytes == before


INTERRUPTED = """
import json, os, signal, sys, threading
sys.path.insert(0, "tests")
import numpy as np
import clgraph as cg
from clocks import Work

config = json.loads(sys.argv[1])
config = cg.BFSConfig(frontier="status") if config == "status" else config
n = 60_000
graph = cg.generate.path(n)
plan = cg.DividedBFS(graph, ["pocl", "pocl"], predecessors=True, config=config)
plan.run(0, max_depth=10)
sent, delays = [], []

def interrupt():
    sent.append(Work())
    os.kill(os.getpid(), signal.SIGINT)

for _ in range(3):
    timer = threading.Timer(0.1, interrupt)
    timer.start()
    try:
        plan.run(0)
    except KeyboardInterrupt:
        delays.append(sent[-1].seconds())
    else:
        sys.exit("the search was over too soon")
result = plan.run(n - 200, max_depth=300)
expected = abs(np.arange(n) - (n - 200))
assert np.array_equal(result.distances, np.where(expected > 300, -1, expected))
print(json.dumps(delays))
"""


@pytest.mark.optimised
@pytest.mark.parametrize("config", ["merrill-two-phase", "status"])
def test_an_interrupted_search(config):
    """Ctrl-C is answered at once and leaves a plan that works."""
    driver_library(*POCL)
    ran = run_python(INTERRUPTED, json.dumps(config), env=clean_environment())
    assert max(json.loads(ran.stdout)) < 0.5


@SLOW
@pytest.mark.parametrize("config", [{"queue": "vertex"}, BITS], ids=["candidates", "bits"])
@pytest.mark.runtimes("pocl+lanes8")
def test_emulated_lanes(config, device):
    """The collectives of bins and bitmaps, checked lane by lane."""
    plan = DividedBFS(SHAPES["power-law"], same(device, 2), config=bfs_config(**config))
    check_search(SHAPES["power-law"], 0, plan.run(0))


@ONE_RUNTIME
@pytest.mark.parametrize("form", ["candidates", "bits"])
def test_depth_is_limited(form, device):
    plan = DividedBFS(MIXED, same(device, 2), predecessors=True, config=FORMS[form])
    for limit in (0, 1, 3):
        source = MIXED_SOURCES[3]
        check_search(MIXED, source, plan.run(source, max_depth=limit), max_depth=limit)
    assert plan.run(MIXED_SOURCES[3]).depth > 100


@settings(max_examples=15)
@given(graph=graphs(max_vertices=20, max_edges=60))
def test_any_graph(any_device, graph):
    for form in ("candidates", "bits"):
        plan = DividedBFS(graph, same(any_device, 3), predecessors=True, config=FORMS[form])
        check_search(graph, 0, plan.run(0))


@ONE_RUNTIME
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"devices": []}, "not a sequence of devices; pass at least one"),
        ({"devices": "intel"}, "not a sequence of devices"),
        ({"devices": None}, "not a sequence of devices"),
        ({"devices": ["intel"] * 65}, "at most 64"),
        ({"transfers": "pigeon"}, "not one of direct, host"),
        ({"devices": ["intel", "pocl"], "transfers": "direct"}, "devices of one OpenCL context"),
        ({"config": bfs_config(balance="direct")}, "needs prefix sums of a frontier"),
        ({"config": "enterprise"}, r"frontier\.classes is about the status array of one device"),
        (
            {"config": bfs_config(queue="status", generation="bins")},
            r"frontier\.generation is about",
        ),
        (
            {"config": bfs_config(queue="status", status_bits=8)},
            r"frontier\.bits is about the status",
        ),
        (
            {"config": bfs_config(visited="plain", duplicates="load_lanes")},
            "in which parts of a graph have each once",
        ),
    ],
)
def test_what_is_refused(arguments, complaint, device):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        DividedBFS(MIXED, **{"devices": same(device, 2), **arguments})
    plan = DividedBFS(MIXED, same(device, 2))
    with pytest.raises(cg.InvalidArgumentError, match="not a vertex of this graph"):
        plan.run(MIXED.n)
