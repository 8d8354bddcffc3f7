"""Profiles of whole plans: results stay, every criterion is in range, and reports say why not."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from interruption import interrupt, places

import clgraph as cg
from bench.studies import KERNELS
from clgraph.device import Memory, load, wait
from clgraph.device.memory import copying
from clgraph.device.observing import observed_by, observer
from clgraph.device.programs import kernel as launching
from clgraph.errors import ClgraphError, InvalidArgumentError
from clgraph.profile.microbenchmarks import choose, measure_entry
from clgraph.profile.passes.timeline import Timeline
from clgraph.profile.quality import PUBLISHED, Weights
from clgraph.profile.report import compared
from clgraph.profile.running import PASSES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "profiling.md"
GRAPH = cg.generate.kron(7, seed=3)
WEIGHTED = cg.Graph(GRAPH.indptr, GRAPH.indices, np.arange(GRAPH.m) % 9 + 1, directed=True)
SOURCE = int(np.argmax(GRAPH.degrees))

# Calls of every algorithm, each giving what can be compared.
CALLS = {
    "bfs": lambda d: cg.bfs(GRAPH, SOURCE, device=d).distances,
    "sssp": lambda d: cg.sssp(WEIGHTED, SOURCE, device=d).distances,
    "scc": lambda d: cg.scc(GRAPH, device=d).labels,
    "components": lambda d: cg.connected_components(GRAPH, device=d).labels,
    "triangles": lambda d: np.array(cg.triangle_count(GRAPH, device=d)),
    "betweenness": lambda d: cg.betweenness_centrality(GRAPH, sources=[SOURCE], device=d),
    "closeness": lambda d: cg.closeness_centrality(GRAPH, sources=[0, 1], device=d),
    "searches": lambda d: cg.apsp(GRAPH, sources=[0, SOURCE], device=d),
    "matching": lambda d: (
        cg.subgraph_matching(GRAPH, cg.generate.path(3), k=8, seed=1, device=d).mapping
    ),
    "invariants": lambda d: np.array(
        len(cg.mine_invariants(np.arange(60).reshape(3, 20), device=d).invariants)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_stay_the_same_and_criteria_are_in_range(name, pocl):
    check_profile(name, pocl)


@pytest.mark.rest
@pytest.mark.runtimes("pocl+lanes32", "intel")
def test_results_stay_the_same_where_there_are_lanes(device):
    report = check_profile("components", device)
    for criterion in ("TDiv", "Gran_L1", "Gran_L2"):
        assert report.criteria[criterion].value is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfs", "sssp", "scc", "triangles", "searches"])
@pytest.mark.runtimes("pocl+lanes32", "intel")
def test_results_of_searches_stay_the_same_where_there_are_lanes(name, device):
    check_profile(name, device)


def check_profile(name, device):
    """Profile a call, and check that it gave the same each time and every figure's range."""
    wanted = np.array(CALLS[name](device))
    seen = []
    report = cg.profile(
        lambda: seen.append(np.array(CALLS[name](device))), device=device, repeats=1
    )
    assert len(seen) >= 4
    for found in seen:
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert report.kernels
    for told in (report.criteria, *(kernel.criteria for kernel in report.kernels)):
        for criterion in told.values():
            if criterion.value is None:
                assert criterion.reason
            else:
                assert 0.0 <= criterion.value <= 1.0
            if criterion.potential_speedup is not None:
                assert criterion.potential_speedup >= 1.0
    assert list(report.criteria) == list(PUBLISHED.values)
    assert 0.0 <= report.quality <= 1.0
    for kernel in report.kernels:
        shares = kernel.prediction.shares
        assert all(share >= 0 for share in shares.values())
        assert sum(shares.values()) <= 1.0 + 1e-9
    return report


def test_a_user_s_multi_search_can_be_profiled(pocl):
    search = cg.MultiSearch(
        GRAPH,
        state={"hops": cg.State("int32", fill=-1)},
        init="if (lid == 0) hops[src] = 0;",
        visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
        device=pocl,
    )
    report = cg.profile(lambda: search.run([0, SOURCE]), repeats=1)
    assert report.kernels[0].time_s > 0
    assert cg.profile(search, repeats=1).kernels


def test_a_persistent_kernel_is_one_launch_also_when_it_is_instrumented(pocl):
    plan = cg.BFS(GRAPH, device=pocl)
    assert plan.run(SOURCE).stats.mode == "persistent"
    report = cg.profile(plan, repeats=2)
    assert [kernel.launches for kernel in report.kernels] == [1]
    assert report.kernels[0].totals.where("wait")[:, 0].sum() > 0
    assert report.criteria["LB_SM"].value is not None


def test_a_plan_that_needs_a_source_gets_the_vertex_with_most_edges(pocl):
    plan = cg.BFS(GRAPH, device=pocl)
    sources = []
    run = plan.run
    plan.run = lambda source: sources.append(source) or run(source)
    cg.profile(plan, passes=("time",), repeats=1)
    assert set(sources) == {SOURCE}


@pytest.mark.parametrize("target", [None, 3, "bfs"])
def test_what_cannot_be_called_is_refused(target):
    with pytest.raises(InvalidArgumentError, match="callable or a plan"):
        cg.profile(target)


def test_a_plan_that_needs_more_is_refused():
    class Plan:
        def run(self, left, right):
            """Need two things."""

    with pytest.raises(InvalidArgumentError, match="run needs left, right"):
        cg.profile(Plan())


def test_a_callable_that_launches_nothing_is_refused(pocl):
    with pytest.raises(InvalidArgumentError, match="nothing was launched"):
        cg.profile(lambda: None)
    with pytest.raises(InvalidArgumentError, match="nothing was launched"):
        cg.profile(lambda: None, device=pocl)


def test_a_plan_that_launches_only_once_is_refused(pocl):
    """The trusses of a grid, which has no triangles, are known after the first run."""
    grid = cg.generate.grid2d(9, 9).symmetrized()
    plan = cg.Truss(grid, clean=True, device=pocl)
    with pytest.raises(InvalidArgumentError, match=r"nothing was launched on .* again"):
        cg.profile(plan, passes=("time",), device=pocl, repeats=1)


@pytest.mark.parametrize(
    "asked", [{"passes": "fast"}, {"passes": ("time", "x")}, {"repeats": 0}, {"lanes": 0}]
)
def test_arguments_are_checked_before_anything_runs(asked):
    calls = []
    with pytest.raises(InvalidArgumentError):
        cg.profile(lambda: calls.append(1), **asked)
    assert calls == []


@pytest.mark.parametrize("passes", [(), ("counters",)])
def test_a_plan_that_is_divided_among_devices_is_refused_in_words(passes, pocl):
    plan = cg.DividedBFS(GRAPH, [pocl, pocl])
    with pytest.raises(ClgraphError, match="keeps no times"):
        cg.profile(lambda: plan.run(SOURCE), passes=passes, device=pocl, repeats=1)
    assert observer() is None


def test_kernels_with_bounds_checks_are_not_measured(monkeypatch, pocl):
    monkeypatch.setenv("CLGRAPH_CHECK", "1")
    with pytest.raises(InvalidArgumentError, match="a profile is not for CLGRAPH_CHECK=1"):
        cg.profile(cg.BFS(GRAPH, device=pocl))
    (entry,) = choose(["fp32_simple.fma_float"])
    with pytest.raises(InvalidArgumentError, match="a microbenchmark is not for CLGRAPH_CHECK=1"):
        measure_entry(entry, pocl)


def test_nobody_watches_after_an_exception(pocl):
    plan = cg.BFS(GRAPH, device=pocl)

    def fail():
        plan.run(SOURCE)
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        cg.profile(fail)
    assert observer() is None
    assert cg.profile(plan, repeats=1).kernels


def test_two_profiles_at_once_are_refused(pocl):
    plan = cg.BFS(GRAPH, device=pocl)
    timeline = Timeline()
    with observed_by(timeline):
        with pytest.raises(ClgraphError, match="already"):
            cg.profile(plan)
        assert observer() is timeline


@pytest.mark.parametrize("opcodes", [False, True], ids=["lines", "opcodes"])
def test_nobody_watches_after_ctrl_c(opcodes):
    """Wherever it comes, where watching begins and where it ends among them."""

    def watch():
        with observed_by(timeline):
            assert observer() is timeline

    timeline = Timeline()
    found = places(watch, opcodes=opcodes)
    assert len(found) > 10
    for place in found:
        interrupt(watch, place, opcodes=opcodes)
        assert (observer(), launching._instead, copying._noting) == (None, None, None), place
        watch()


def test_passes_that_were_not_asked_for_leave_none_with_the_reason(pocl):
    report = cg.profile(cg.BFS(GRAPH, device=pocl), passes=("plain",), repeats=1)
    for name in ("LB_SM", "TDiv", "Gran_L1"):
        assert report.criteria[name].value is None
        assert "pass" in report.criteria[name].reason
    assert report.prediction.time_s is None
    assert report.prediction.reason
    assert report.criteria["HSync"].value == 1.0


def test_a_processor_says_what_it_cannot_tell(pocl):
    report = cg.profile(cg.BFS(GRAPH, device=pocl), repeats=1)
    for name in ("TDiv", "Gran_L1", "Gran_L2", "SMem_eff"):
        assert report.criteria[name].value is None
        assert report.criteria[name].reason == "each SIMD group is one work-item here"
    assert "assembler" in report.criteria["CI"].reason
    assert report.kernels[0].static.registers is None
    assert report.card.joules is None
    assert report.card.reason
    assert "another definition" in report.criteria["OCC"].reason
    # Its cores reorder instructions: what one work-item does in a row binds nobody.
    assert report.kernels[0].totals.chain.operations > 0
    assert report.kernels[0].prediction.bounds["latency"] == 0.0


def sums(device, stride):
    """A callable that reads an array with a stride."""
    program = load(device, "patterns.cl", folders=(KERNELS,), type="uint")
    kernel, memory = program.kernel("patterns_strided"), Memory(device)
    items = 1024
    source = memory.upload("from", np.ones(items * stride, np.uint32))
    target = memory.allocate("to", items * stride, np.uint32)
    return lambda: wait(kernel.launch(items, 64, source, target, np.uint32(stride)))


def test_copies_and_buffers_of_a_run_are_those_of_dt(pocl):
    """What goes there and back, over that and the buffers that kernels were given."""
    kernel = load(pocl, "patterns.cl", folders=(KERNELS,), type="uint").kernel("patterns_strided")
    memory = Memory(pocl)
    source, *targets = (memory.allocate(name, 256, np.uint32) for name in ("from", "to", "there"))
    ones = np.ones(256, np.uint32)

    def run():
        source.write(ones)
        for target in targets:
            wait(kernel.launch(256, 64, source, target, np.uint32(1)))
        return targets[0].read(100)

    found = cg.profile(run, device=pocl, passes=("plain",), repeats=2).criteria["DT"]
    held, moved = 4 * 3 * 256, 4 * (256 + 100)
    assert found.inputs == {"allocated_bytes": held, "copied_bytes": moved, "beside_bytes": 0}
    assert found.value == pytest.approx(1 - moved / (moved + held))


def test_a_diff_goes_criterion_by_criterion(pocl):
    before = cg.profile(sums(pocl, 32), lanes=32, repeats=1)
    after = cg.profile(sums(pocl, 1), lanes=32, repeats=1)
    verdicts = {change.name: change.verdict for change in before.diff(after)}
    assert verdicts["Gran_L1"] == verdicts["Gran_L2"] == "improved"
    assert verdicts["OCC"] == verdicts["SMem_eff"] == verdicts["CI"] == "unchanged"
    back = {change.name: change.verdict for change in after.diff(before)}
    assert back["Gran_L1"] == "worsened"
    assert before.criteria["Gran_L1"].value == 1 / 32
    assert before.criteria["Gran_L2"].value == 1 / 8
    assert before.advice() == "Gran_L1"
    assert before.advice(accepted=("Gran_L1", "Gran_L2")) not in {"Gran_L1", "Gran_L2"}


def test_implementations_side_by_side(pocl):
    found = compared(
        {
            "strided": cg.profile(sums(pocl, 32), lanes=32, repeats=1),
            "straight": cg.profile(sums(pocl, 1), lanes=32, repeats=1),
        }
    )
    assert {row["name"] for row in found} == {"strided", "straight"}
    assert [row["by_time"] for row in found] == [1, 2]
    assert found[0]["time_s"] <= found[1]["time_s"]
    best = min(found, key=lambda row: row["by_quality"])
    assert best["name"] == "straight"
    assert best["Gran_L1"] == 1.0


def test_weights_of_ones_own(pocl):
    call = sums(pocl, 32)
    weights = Weights({"Gran_L2": 1.0})
    report = cg.profile(call, lanes=32, repeats=1, weights=weights)
    assert report.quality == 1 / 8
    assert report.quality_with(PUBLISHED) != report.quality


class Page(HTMLParser):
    """Collects the tags of a page that are open, and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        if tag not in {"meta", "rect", "path"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_data(self, data):
        self.texts.append(data)


def test_a_report_as_table_json_and_page(pocl, tmp_path):
    report = cg.profile(sums(pocl, 32), lanes=32, repeats=1)
    shown = str(report)
    for name, criterion in report.criteria.items():
        (line,) = (line for line in shown.splitlines() if line.split()[:1] == [name])
        weight = f"{PUBLISHED.values[name]:.0f}"
        assert weight in line.split()
        if criterion.value is not None:
            assert f"{criterion.value:.3f}" in line
            assert criterion.hint.split(":")[0] in line
        else:
            assert criterion.reason in line
    potentials = 0
    for row in report.rows():
        lost = None if row["value"] is None else row["weight"] * (1 - row["value"])
        gain, words = row["potential_speedup"], map(str.split, shown.splitlines())
        (cells,) = (line for line in words if line[:1] == [row["name"]])
        assert row["gap"] == lost
        assert cells[3] == ("-" if lost is None else f"{lost:.1f}")
        assert cells[4] == ("-" if gain is None else f"{gain:.2f}")
        potentials += gain is not None and gain > 1
    assert potentials
    told = json.loads(report.to_json())
    assert told["schema"] == "clgraph-profile/1"
    assert told["criteria"]["Gran_L1"]["value"] == 1 / 32
    assert told["criteria"]["Gran_L1"]["inputs"]["transactions"] == 64 * 32
    assert told["kernels"][0]["hot_places"][0]["per_request"] == 32
    assert told["ceilings"]["copy_bytes_per_s"] > 0
    text = report.html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text
    page = Page(text)
    assert "<svg" in text
    assert page.open == []
    assert any("random reads" in data for data in page.texts)
    assert any("atomics" in data for data in page.texts)
    assert "http" not in text  # it needs nothing else


def test_progress_is_told(pocl):
    told = []
    cg.profile(sums(pocl, 1), repeats=2, progress=lambda *what: told.append(what))
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1] == 2 + len(PASSES)


def test_the_example_of_the_page_runs(pocl, monkeypatch, capsys):
    """On a smaller graph than the page has it."""
    monkeypatch.setenv("CLGRAPH_DEVICE", "{}:{}".format(*pocl.index))
    (example,) = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert "kron(20)" in example
    made: dict[str, object] = {}
    exec(example.replace("kron(20)", "kron(7)"), made)  # noqa: S102 (the text of our own page)
    printed = capsys.readouterr().out
    assert all(name in printed for name in made["report"].criteria)
    assert made["page"].startswith("<!DOCTYPE html>")
    assert json.loads(made["record"])["limiter"] == made["report"].limiter
