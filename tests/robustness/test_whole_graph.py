"""Issue 28: whatever ranks, groups, joins or colours a whole graph has all that it is to have.

`whole_graph_list` names the parts of each, and these tests look for them.
"""

import inspect
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SAME, simple
from test_readme import blocks
from unit.test_energy_measuring import FakeMeter, VirtualTime
from whole_graph_list import DEGENERATE, WHOLE

import _clgraph_networkx_info as backend
import clgraph as cg
from bench.peers.peer import compare
from bench.runner import graphs, machine, runner
from bench.runner.graphs import find
from bench.runner.measure import Settings
from bench.runner.pinned import Pinned
from bench.runner.problem import problem_of
from bench.runner.suites import SUITES, cases_of
from clgraph.cli import reporting
from clgraph.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
EVERY = pytest.mark.parametrize("name", WHOLE)
GRAPH = cg.generate.kron(6, 6, seed=4)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "graph.mtx"
    cg.write(GRAPH, path)
    return str(path)


def options_for(name, graph):
    """Give what a call takes beside the graph, of as many vertices as this one has."""
    options = dict(WHOLE[name].options)
    if "labels" in options:
        options["labels"] = np.arange(graph.n) % 2
    if graph.n < 3:
        options |= {key: options[key][:0] for key in ("pairs", "starts") if key in options}
    return options


def called(name, graph, device, **options):
    return getattr(cg, name)(graph, device=device, **options_for(name, graph), **options)


@EVERY
def test_a_plan_runs_again_and_says_what_it_took(name, pocl):
    whole = WHOLE[name]
    of_run = dict(whole.of_run)
    if "labels" in of_run:
        of_run["labels"] = np.arange(GRAPH.n) % 2
    plan = getattr(cg, whole.plan)(GRAPH, device=pocl)
    first, again = (plan.run(**of_run) for _ in range(2))
    stats = getattr(again, "stats", None)
    log = plan.log if stats is None else stats  # a modularity is a number
    assert log.kernel_ms > 0
    assert log.launches > 0
    assert plan.source_hash
    if stats is not None:
        assert stats.total_ms > 0
        assert stats.device_bytes >= 0
    np.testing.assert_array_equal(answers(first), answers(again))


def answers(result):
    """Give the array of a result of a plan."""
    for attribute in ("ranks", "numbers", "labels", "values", "mask", "colors", "walks"):
        found = getattr(result, attribute, None)
        if found is not None:
            return np.asarray(found)
    return np.asarray(result)


@EVERY
def test_a_result_can_be_verified(name, pocl):
    plan = getattr(cg, WHOLE[name].plan)
    for call in (getattr(cg, name), plan.run):
        assert "verify" in inspect.signature(call).parameters
    np.asarray(WHOLE[name].answer(called(name, GRAPH, pocl, verify=True)))


@EVERY
def test_progress_is_reported_to_the_end(name, pocl):
    told = []
    called(name, GRAPH, pocl, progress=lambda *said: told.append(said))
    assert "progress" in inspect.signature(getattr(cg, WHOLE[name].plan)).parameters
    if WHOLE[name].reports:
        done, most, what = told[-1]
        assert done == most
        assert what


@EVERY
def test_ctrl_c_is_tried(name, pocl):
    """`tests/fuzz/test_interruptions.py` does, for every line there is."""
    made = ALGORITHMS[WHOLE[name].interrupted].make(GRAPH, pocl)
    assert type(made).__name__ == SAME.get(WHOLE[name].plan, WHOLE[name].plan)


@EVERY
def test_the_command_answers_with_joules(name, pocl, file, capsys, monkeypatch):
    clock = VirtualTime()

    def metered(run, device):
        def once():
            run()
            clock.sleep(0.5)

        meter = FakeMeter(clock, 80.0)
        taken = cg.energy.per_run(once, device=device, meter=meter, timebase=clock)
        return {"joules_per_run": taken.joules_per_run}

    monkeypatch.setattr(reporting, "energy_of", metered)
    command, *words = WHOLE[name].words
    device = "{}:{}".format(*pocl.index)
    assert main([command, file, *words, "--device", device, "--energy", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["energy"]["joules_per_run"] == pytest.approx(40.0, rel=0.01)
    assert record["kernel_ms"] > 0


@EVERY
def test_the_runner_compares_it_with_others(name, pocl, monkeypatch):
    whole = WHOLE[name]
    kind, preset = whole.problem
    assert any(case.algorithm == kind for cases in SUITES.values() for case in cases)
    monkeypatch.setitem(graphs.GRAPHS, "tiny", Pinned("kron", (7, 6)))
    problem_type = problem_of(kind)
    problem = problem_type(find("tiny", weighted=problem_type.weighted), pocl, preset)
    given = problem.inputs(1)
    assert problem.check(given)["against"] == whole.checked_by
    found = compare(problem, given, whole.oracles, problem.peers)
    here = {peer: "ok" if find_spec(peer) else "skipped" for peer in whole.oracles}
    assert {peer: of["status"] for peer, of in found.items()} == here
    assert whole.oracles or name in {"label_propagation", "overlap"}


@EVERY
def test_networkx_is_served(name):
    for function in WHOLE[name].networkx:
        assert function in backend.FUNCTIONS


@EVERY
def test_a_page_has_an_example(name):
    examples = blocks(ROOT / "docs" / f"{WHOLE[name].page}.md", "python")
    assert any(f"cg.{name}(" in example for example in examples)


@EVERY
@pytest.mark.parametrize("shape", DEGENERATE)
def test_degenerate_graphs_have_answers(name, shape, pocl):
    """Each is answered, and right by the algorithm's own check; or refused with the way out."""
    graph, refused = DEGENERATE[shape](), ""
    try:
        result = called(name, graph, pocl, verify=True)
    except (cg.InvalidGraphError, cg.InvalidArgumentError) as error:
        refused = str(error)
        result = called(name, simple(graph), pocl, verify=True)
    assert not refused or "symmetrized" in refused or "dedup" in refused
    found = np.asarray(WHOLE[name].answer(result))
    if found.dtype.kind == "f":
        assert np.isfinite(found).all()


@pytest.mark.rest
@pytest.mark.parametrize("suite", ["gap", "graphalytics"])
def test_suites_of_others_run_whole_on_a_processor(suite, intel, monkeypatch):
    """Each case, by its rules, on a small graph of its kind in place of the large one."""
    small = {
        "kron20": Pinned("kron", (7, 8)),
        "unif22": Pinned("random", (150, 8)),
        "road": Pinned("road", (12, 9)),
        "rgg": Pinned("geometric", (200,)),
        "web-notredame": Pinned("rmat", (7, 5)),
        "dblp-2010": Pinned("mesh", (9, 9)),
    }
    for name in {case.graph for case in cases_of(suite)}:
        monkeypatch.setitem(graphs.GRAPHS, name, small[name])
    monkeypatch.setattr(machine, "COPY_BYTES", 1 << 16)
    settings = Settings(sources=2, passes=1, validate=2, peers=("scipy",))
    found = runner.run(suite, settings, device=intel)
    assert found["finished"]
    assert [case["key"] for case in found["cases"]] == [
        case.key(preset) for case in cases_of(suite) for preset in case.presets
    ]
    for case in found["cases"]:
        assert case["status"] == "ok", (case["key"], case.get("reason"))
        assert case["verified"]["against"]
        for peer in case.get("peers", {}).values():
            assert peer["status"] in {"ok", "skipped"}, (case["key"], peer)
