"""Failed builds name what the user asked for and nothing else, in all kernels of all algorithms."""

import re

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SOURCES, fresh_graph
from interruption import interrupt, places

import clgraph as cg
from clgraph.algorithms.invariants.config import MiningConfig
from clgraph.device.programs import program
from clgraph.device.programs.asked import asking, what_was_asked
from clgraph.errors import KernelBuildError

HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}
GRID = cg.generate.grid2d(9, 8)
MATCHING = cg.MatchingConfig(seeds="flat")
MINING = MiningConfig(probe=8192)
TRIANGLES = cg.TrianglesConfig(intersect="merge")
SEARCHES = cg.MultiSearchConfig(threshold=77)
PULL = cg.BFSConfig(pull=cg.pull.ByEdges(alpha=7))
TRACE = np.random.default_rng(3).integers(0, 9, (4, 50)).astype(np.int32)
# What the lines of `ALGORITHMS` ask for that have a configuration.
ASKED = {
    "bfs-stepped": "schedule=stepped",
    "bfs-status": "config=enterprise",
    "sssp-delta": "method=delta-stepping, schedule=stepped",
    "sssp-buckets": "method=asynchronous",
    "sssp-self-tuning": "config=self-tuning",
    "sssp-host": "method=self-tuning, method.controller=host",
    "scc-steps": "config=multistep",
    "scc-signatures": "config=signatures",
}
# Those whose result is plain, or that have no configuration.
WITHOUT_CONFIG = {
    "betweenness",
    "closeness",
    "apsp-shared",
    "diameter",
    "modularity",
    "condensation",
    "dynamic",
    "dynamic-truss",
    "cluster-components",
    "divided-searches",
    "spmv",
}


def labels_of(call, monkeypatch):
    """Name the kernel files that a call builds."""
    build, seen = program.build, []

    def noting(device, source, *, label, **more):
        seen.append(label)
        return build(device, source, label=label, **more)

    with monkeypatch.context() as patch:
        patch.setattr(program, "build", noting)
        patch.setattr("clgraph.algorithms.multi_search.plan.build", noting)
        call()
    return list(dict.fromkeys(seen))


def complaints(call, device, monkeypatch):
    """Let the build of each kernel file fail in turn; give what is said of the configuration."""
    said = {}
    build = program.build
    for broken in labels_of(call, monkeypatch):

        def failing(device, source, *, label, broken=broken, **more):
            text = f"#error no luck\n{source}" if label == broken else source
            return build(device, text, label=label, **more)

        with monkeypatch.context() as patch:
            patch.setattr(program, "build", failing)
            patch.setattr("clgraph.algorithms.multi_search.plan.build", failing)
            with pytest.raises(KernelBuildError) as caught:
                call()
        first = str(caught.value).splitlines()[0]
        head = f"{broken} did not compile on {device.name} (driver {device.driver})"
        assert first.startswith(head)
        found = re.fullmatch(r"(?: with (.*))?: .*no luck \(line 1\)", first.removeprefix(head))
        assert found, first
        said[broken] = found[1] or ""
    assert said
    return said


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_kernel_of_an_algorithm_names_what_was_asked_for(name, any_device, monkeypatch):
    algorithm = ALGORITHMS[name]
    graph = fresh_graph()

    def call():
        algorithm.outcome(algorithm.make(graph, any_device), SOURCES[0])

    said = complaints(call, any_device, monkeypatch)
    assert set(said.values()) == {ASKED.get(name, "")}, said


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_ran_is_shown_in_one_line(name, any_device):
    """Issue 15: `stats.config` takes at most 200 characters, whatever ran; stats show it."""
    algorithm = ALGORITHMS[name]
    result = algorithm.run(algorithm.make(fresh_graph(), any_device), SOURCES[0])
    stats = getattr(result, "stats", None)
    assert stats is None or "_ms=" in repr(stats).partition("\n")[0]
    config = getattr(stats, "config", None)
    assert (config is None) == (name in WITHOUT_CONFIG), type(result)
    assert len(repr(config)) <= 200
    assert "\n" not in repr(config)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda d: cg.scc(fresh_graph(), config=cg.SCCConfig(trim=1), device=d), "trim=1"),
        (lambda d: cg.condensation(fresh_graph(), config="coloring", device=d), "config=coloring"),
        (lambda d: cg.MultiSearch(GRID, **HOPS, config=SEARCHES, device=d), "threshold=77"),
        (lambda d: cg.apsp(GRID, [0], config=SEARCHES, device=d), "threshold=77"),
        (lambda d: cg.closeness_centrality(GRID, [0], config=SEARCHES, device=d), "threshold=77"),
        (lambda d: cg.betweenness_centrality(GRID, [0], config=SEARCHES, device=d), "threshold=77"),
        (lambda d: cg.DividedBFS(GRID, [d, d], config=PULL), "pull=edges, pull.alpha=7"),
        (lambda d: cg.DividedSearches(GRID, [d], **HOPS, config=SEARCHES).run([0]), "threshold=77"),
        (lambda d: cg.triangle_count(GRID, config=TRIANGLES, device=d), "intersect=Merge"),
        (lambda d: match(d, config=MATCHING), "seeds=flat"),
        (lambda d: cg.mine_invariants(TRACE, config=MINING, device=d), "probe=8192"),
        (lambda d: cg.mine_invariants(TRACE, device=d), ""),
    ],
)
def test_what_was_asked_for_is_named(call, said, any_device, monkeypatch):
    found = complaints(lambda: call(any_device), any_device, monkeypatch)
    assert set(found.values()) == {said}


def match(device, config):
    query = cg.generate.path(3)
    return cg.subgraph_matching(GRID, query, k=4, config=config, device=device)


def test_the_outermost_call_is_the_users():
    class Plan:
        @asking
        def __init__(self, config=None):
            self.config = config
            self.first = what_was_asked()

        @asking
        def run(self):
            return what_was_asked()

    @asking
    def call(graph, config=None):
        assert graph
        assert config != "inner"
        plan = Plan("inner")
        return plan.first, plan.run(), what_was_asked()

    assert call(1, "outer") == ("config=outer",) * 3
    assert call(1, config="outer") == ("config=outer",) * 3
    assert call(1) == call(1, config="auto") == ("",) * 3
    assert Plan("inner").run() == Plan("inner").first == "config=inner"
    assert what_was_asked() == ""


@pytest.mark.parametrize("opcodes", [False, True])
def test_nothing_is_left_of_a_call_that_is_interrupted(opcodes):
    """Issue 14: the next call's own config is named, wherever Ctrl-C came."""

    @asking
    def call(config=None):
        assert config
        return what_was_asked()

    found = places(lambda: call("first"), opcodes=opcodes)
    assert found
    for place in found:
        interrupt(lambda: call("first"), place, opcodes=opcodes)
        assert call("second") == "config=second", place
    assert what_was_asked() == ""
