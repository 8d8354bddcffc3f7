"""Devices each of which holds the whole graph, and which share the wide levels of a search.

As in test_mailboxes.py kernels of two queues must run at once, for which PoCL has threads enough.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from copies import run

import clgraph as cg
from clgraph.algorithms.bfs.sharing import SHARED_BITS, Sharing
from clgraph.cluster.copies import check_alike
from clgraph.cluster.parts.numbering import Numbering
from clgraph.cluster.parts.partition import RANGE_GRAIN
from clgraph.cluster.ranks.together import check_mailboxes
from clgraph.errors import InvalidArgumentError

SEARCHES = """
    parts, spec = {parts}, {spec!r}
    core = cg.generate.kron(9, seed=2)
    src, dst, _ = core.listed_edges()
    tail = np.concatenate([[int(np.argmax(core.degrees))], np.arange(core.n, core.n + 30)])
    tailed = cg.from_edges(np.concatenate([src, tail[:-1]]), np.concatenate([dst, tail[1:]]),
                           symmetrize=True)
    graphs = (cg.generate.kron(11, seed=2), tailed, cg.generate.rmat(10, seed=3), SHAPES["star"],
              cg.from_edges([0], [1], n=70), cg.from_edges([3], [4], n=300, symmetrize=True),
              cg.generate.grid2d(4, 9))
    directions = set()
    for graph in graphs:
        plan = copies(graph, parts, spec, predecessors=True)
        assert plan.partition.name == "copies"
        one = cg.BFS(graph, device=spec)
        bits = plan.parts[0].config.word_bits
        held = graph.n if graph.directed else np.count_nonzero(graph.degrees)
        room = -(-held // bits) * bits // 8
        for source in {{0, int(np.argmax(graph.degrees)), graph.n - 1}}:
            result = plan.run(source, verify=True)
            check_search(graph, source, result)
            table = result.stats.per_level
            np.testing.assert_array_equal(
                table["frontier"], one.run(source).stats.per_level["frontier"]
            )
            # A level is shared, and then all words go to all others, or nothing is sent.
            shared = table["sent_bytes"] > 0
            assert (table["sent_bytes"][shared] == (parts - 1) * room).all()
            np.testing.assert_array_equal(table["rounds"], shared)
            directions |= set(table["direction"][shared])
        assert stepped(plan) == [False] * parts
    assert directions == {directions}
"""
LIMITS = """
    graph = cg.generate.kron(10, seed=2)
    plan, one = copies(graph, 2), cg.BFS(graph)
    for limit in (None, 0, 1, 2, 3):
        result, expected = (each.run(1, max_depth=limit) for each in (plan, one))
        np.testing.assert_array_equal(result.distances, expected.distances)
        assert result.stats.per_level["frontier"].tolist() == (
            expected.stats.per_level["frontier"].tolist())
"""
IN_VAIN = """
    graph = cg.generate.kron(10, seed=2)
    sharing.CPU_POLLS = 1 << 8
    plan = copies(graph, 2, predecessors=True)
    nobody = np.zeros(1 << 14, np.uint32)  # where no other device writes
    for part in plan.parts:
        part.plan.link([nobody.ctypes.data] * 2)
    check_search(graph, 1, plan.run(1, verify=True))
    assert stepped(plan) == [True, True]
    addresses = [exchange.part.plan.sharing.address for exchange in plan._exchanges]
    for part in plan.parts:
        part.plan.link(addresses)
"""
INTERRUPTED = """
    from clgraph.cluster.parts.copies import SharedBFS

    graph = cg.generate.kron(10, seed=2)
    sharing.CPU_POLLS = 1 << 12
    plan = copies(graph, 2)
    launch = SharedBFS.launch

    def interrupted(one, *of):
        if one is plan.parts[1].plan:
            raise KeyboardInterrupt
        return launch(one, *of)

    SharedBFS.launch = interrupted
    try:
        plan.run(1)
    except KeyboardInterrupt:
        pass
    SharedBFS.launch = launch
    for part in plan.parts:
        part.plan.driver.table["box_polls"] = np.uint32(1 << 29)
    check_search(graph, 1, plan.run(1))
    assert stepped(plan) == [False, False]
"""
CLOSE = """
    from clgraph.device import native

    graph = cg.generate.kron(10, seed=2)
    plan = copies(graph, 3)
    plan.run(1)
    kernels = [part.kernels[0]._handle for part in plan.parts]
    calls = []

    def noting(name):
        call = getattr(native.KernelHandle, name)

        def noted(handle, *of):
            calls.append((name, handle))
            return call(handle, *of)

        setattr(native.KernelHandle, name, noted)

    for name in ("set_bytes", "enqueue", "enqueue_unseen"):
        noting(name)
    for source in np.flatnonzero(graph.degrees)[:2].tolist():
        calls.clear()
        result = plan.run(source)
        launched = calls.copy()
        check_search(graph, source, result)
        first = launched.index(("enqueue_unseen", kernels[0]))
        assert any(name == "set_bytes" for name, _ in launched[:first])
        assert launched[first : first + 3] == [("enqueue_unseen", kernel) for kernel in kernels]
        assert all(name != "set_bytes" for name, _ in launched[first:])
"""
NUMBERS = """
    # A core whose levels are shared, and two vertices apart, which is too little for that.
    core = cg.generate.kron(10, seed=2)
    src, dst, _ = core.listed_edges()
    graph = cg.from_edges(np.append(src, core.n), np.append(dst, core.n + 1), symmetrize=True)
    sharing.SHARE_FROM = 4
    plan = copies(graph, 2)
    # What another search left in the mailboxes would end this one wrong, or have it give up.
    *_, small, large = np.argsort(graph.degrees, kind="stable").tolist()
    for stamp in (1, (1 << 31) + (1 << 20), (1 << 32) - 2):
        plan._exchanges[0]._gathered.stamp = stamp
        for source in (large, core.n, small):
            result = plan.run(source)
            check_search(graph, source, result)
            assert result.stats.per_level["rounds"].any() == (source != core.n)
            assert stepped(plan) == [False, False]
"""
KEPT = """
    from clgraph.errors import DeviceMemoryError

    graph, sources = cg.generate.kron(10, seed=2), (1, 5, 2, 7, 3)
    plan = copies(graph, 2)
    pools = [part.plan._pool for part in plan.parts]

    def full():
        raise DeviceMemoryError("nothing is left")

    for pool in pools:
        pool._make = full
    kept = [plan.run(source) for source in sources]
    for source, result in zip(sources, kept):
        check_search(graph, source, result)
    assert [len(pool._all) for pool in pools] == [1, 1]
    assert all(pool._all[0].living() for pool in pools)
    kept[-1].detach()
    assert not any(pool._all[0].living() for pool in pools)
    assert kept[-1].stats.per_level["frontier"].sum() == kept[-1].reached
"""
TURNS = """
    import re

    plan = copies(cg.generate.kron(8, seed=2), 2, "intel", config=None)
    source = plan.parts[0].kernels[0].program.source
    found, = re.findall(
        r"uint words_together = (\\d+)u;\\s+while \\((.*)\\) words_together /= 2u;"
        r"\\s+if \\((.*)\\) \\{\\s+//.*\\s+const uint in_turn = (.*), turns = (.*);"
        r"\\s+words_together = (.*);\\s+\\}", source)

    def python(text):
        text = re.sub(r"(\\d)u\\b", r"\\1", text.replace("&&", "and").replace("now.", ""))
        text = re.sub(r"\\(share \\? (\\d+) : 1\\)", r"(\\1 if share else 1)", text)
        return text.replace("/", "//")

    begin, loop, shared, in_turn, turns, even = map(python, found)
    # Half of kron24, by 132 groups of 32 SIMD groups: how much more than others some have to do.
    given = {"part_words": 138_590, "GROUP_LANES": 32, "members": 132}

    def most_to_mean(share):
        together = int(begin)
        names = given | {"share": share, "words_together": together}
        while eval(loop, names):
            names["words_together"] //= 2
        if eval(shared, names):
            names["in_turn"] = eval(in_turn, names)
            names["turns"] = eval(turns, names)
            names["words_together"] = eval(even, names)
        taken = given["part_words"] / names["words_together"] / (32 * 132)
        return np.ceil(taken) / taken

    assert most_to_mean(1) < 1.1 < 1.25 < most_to_mean(0), (most_to_mean(1), most_to_mean(0))
"""
REFUSED = """
    graph = cg.generate.kron(8, seed=2)
    for options, sentence in (
        ({"transfers": "host"}, "devices that meet"),
        ({"config": "merrill-two-phase"}, "copies of a graph are searched"),
        ({"config": cg.BFSConfig(pull=cg.pull.Never())}, "copies of a graph are searched"),
    ):
        try:
            copies(graph, 2, **options)
        except cg.InvalidArgumentError as error:
            assert sentence in str(error), error
        else:
            raise AssertionError(options)
    empty = cg.from_edges([], [], n=0)
    assert copies(empty, 2, config=None).partition.name != "copies"
"""


@pytest.mark.parametrize(
    ("parts", "spec", "directions"),
    [
        (2, "pocl", {"pull"}),
        (2, "intel", {"push", "pull"}),
        pytest.param(4, "pocl", {"pull"}, marks=pytest.mark.slow),
    ],
)
def test_searches_are_as_one_device_has_them(parts, spec, directions):
    """Results, frontiers and bytes; levels are shared in both directions where pushes are bare."""
    run(SEARCHES.format(parts=parts, spec=spec, directions=directions))


@pytest.mark.rest
def test_a_limit_ends_a_search():
    """Also at a level that is shared."""
    run(LIMITS)


@pytest.mark.rest
def test_who_waits_in_vain_searches_alone():
    """Never a hang, and the same answer."""
    run(IN_VAIN)


def test_a_search_after_an_interrupted_one():
    """Numbers of levels are others, and who was launched alone has given up."""
    run(INTERRUPTED)


def test_kernels_are_launched_one_right_behind_the_other():
    """What each takes is handed over before: whoever is launched first waits for the last."""
    run(CLOSE)


def test_numbers_of_levels_begin_anew():
    """Also where half of all have gone by since a mailbox was used, and where they are used up."""
    run(NUMBERS)


def test_results_that_are_kept_make_way_where_memory_is_full():
    run(KEPT)


def test_words_of_a_shared_level_are_dealt_evenly():
    """Whoever has one turn more than others holds up all devices."""
    run(TURNS)


@pytest.mark.rest
def test_what_cannot_be_shared_is_refused():
    """With a sentence that says what can."""
    run(REFUSED)


def part_of(config, groups):
    """Stand for a device's part of a search."""
    plan = SimpleNamespace(driver=SimpleNamespace(groups=groups))
    return SimpleNamespace(
        part=SimpleNamespace(config=config, plan=plan, device=SimpleNamespace(name=config))
    )


def test_devices_that_would_share_different_levels_are_refused():
    check_alike([part_of("a", 2), part_of("a", 2), part_of("a", 2)])
    for other in (part_of("b", 2), part_of("a", 3)):
        with pytest.raises(InvalidArgumentError, match="search alike"):
            check_alike([part_of("a", 2), part_of("a", 2), other])


def test_mailboxes_are_refused_where_accesses_are_checked(pocl, monkeypatch):
    """No array that checks know of lies in the memory of others."""
    check_mailboxes([pocl, pocl])
    monkeypatch.setenv("CLGRAPH_CHECK", "1")
    with pytest.raises(InvalidArgumentError, match="CLGRAPH_CHECK"):
        check_mailboxes([pocl, pocl])


def test_more_hubs_than_a_shared_stage_counts_are_refused(pocl):
    graph = SimpleNamespace(n=64, degrees=None)
    config = SimpleNamespace(hubs_among=lambda _: 1 << SHARED_BITS["hubs"])
    sharing = Sharing([0, 32, 64], 0)
    sharing._check = lambda _: None
    with pytest.raises(InvalidArgumentError, match="hubs"):
        sharing.declare(None, graph, config, pocl)


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("scale", [4, 7, 9])
def test_vertices_with_edges_are_numbered(ranks, scale):
    """Each in its turn; ranks begin at grains and have as many, as far as there are grains."""
    graph = cg.generate.kron(scale, seed=2)
    numbering = Numbering(graph, ranks)
    held = np.flatnonzero(graph.degrees)
    np.testing.assert_array_equal(numbering.order, held)
    np.testing.assert_array_equal(numbering.numbers[numbering.order], np.arange(held.size))
    assert numbering.number(int(held[0])) is not None
    assert all(numbering.number(int(lone)) is None for lone in np.flatnonzero(graph.degrees == 0))
    begins = numbering.begins
    assert begins[0] == 0
    assert begins[-1] == held.size
    assert not any(begin % RANGE_GRAIN for begin in begins[:-1] if begin < held.size)
    sizes = np.diff(begins)
    assert sizes.max() - sizes.min() <= 2 * RANGE_GRAIN
