"""What a user of many searches can get wrong, and what they are told."""

import gc
import math

import numpy as np
import pytest
from searches import MIXED, MIXED_SOURCES, SEARCH_RUNTIMES

import clgraph as cg

VISIT = "if (FIRST(v)) ENQ(v);"
HOPS = {"hops": cg.State("int32", fill=-1)}

every_runtime = pytest.mark.runtimes(*SEARCH_RUNTIMES)


@every_runtime
def test_a_compiler_error_points_at_the_line_of_the_snippet(device):
    with pytest.raises(cg.KernelBuildError) as raised:
        cg.MultiSearch(
            MIXED, state=HOPS, visit="int x = 1;\nhops[v] = nonsense;\nENQ(v);", device=device
        )
    text = str(raised.value)
    assert "(line 2 of visit)\n" in text
    assert "nonsense" in text
    assert ">    2 | hops[v] = nonsense;" in text
    with pytest.raises(cg.KernelBuildError, match="line 1 of finalize"):
        cg.MultiSearch(MIXED, state=HOPS, visit=VISIT, finalize="hops[0] = ;", device=device)


@every_runtime
@pytest.mark.parametrize("config", ["auto", "hybrid"])
def test_checklist_15_a_queue_that_overflows_is_noticed(config, device):
    plan = cg.MultiSearch(MIXED, state=HOPS, visit="ENQ(v);", config=config, device=device)
    with pytest.raises(cg.ClgraphError, match=f"than the {MIXED.n} it can hold"):
        plan.run(MIXED_SOURCES[:1])
    small = cg.MultiSearch(
        MIXED, state=HOPS, visit=VISIT, capacity=50, config=config, device=device
    )
    with pytest.raises(cg.ClgraphError, match="than the 50 it can hold"):
        small.run(MIXED_SOURCES[:1])
    small.run(MIXED_SOURCES[-1:])  # the plan still works


@every_runtime
def test_other_misuse_of_the_queue(device):
    for visit, complaint in (("ENQ(v); ENQ(v);", "twice"), ("ENQ(n + v);", "no vertex")):
        plan = cg.MultiSearch(MIXED, state=HOPS, visit=visit, device=device)
        with pytest.raises(cg.ClgraphError, match=complaint):
            plan.run(MIXED_SOURCES[:1])
    pair = cg.from_edges([0, 1], [1, 0])
    endless = cg.MultiSearch(pair, state=HOPS, visit="ENQ(v);", device=device)
    with pytest.raises(cg.ClgraphError, match="went on after 2 levels"):
        endless.run([0])


@every_runtime
def test_checklist_14_what_does_not_fit_is_refused_with_its_bytes(device, monkeypatch):
    plan = cg.MultiSearch(MIXED, state=HOPS, visit=VISIT, device=device)
    gc.collect()
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(device.ledger.used_bytes + 500_000))
    with pytest.raises(cg.DeviceMemoryError, match=f"need {4 * MIXED.n * 900} bytes.*per='group'"):
        plan.run([0] * 900)
    plan.run([0] * 3)
    scratch = cg.MultiSearch(
        MIXED,
        state={"hops": cg.State("int32", per="group", fill=-1), "far": cg.State("int32", size=1)},
        visit="if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
        finalize="if (lid == 0) far[0] = level - 1;",
        device=device,
    )
    assert scratch.run([0] * 900)["far"].shape == (900, 1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"state": {"u": cg.State("int32")}}, "cannot name"),
        ({"state": {"2x": cg.State("int32")}}, "cannot name"),
        ({"state": {"search_x": cg.State("int32")}}, "cannot name"),
        ({"state": {"ADD": cg.State("int32")}}, "cannot name"),
        ({"state": {"x": np.int32}}, "pass a clgraph.State"),
        ({"state": {}, "visit": "barrier(1);"}, "visit has a barrier"),
        ({"state": {}, "back": "GROUP_BARRIER();"}, "back has a barrier"),
        ({"state": {}, "back": "SUM(1);"}, "back_vertex, which is missing"),
        ({"state": {}, "visit": 3}, "pass OpenCL C"),
        ({"state": {}, "visit": '#line 3 "x"\n'}, "#line"),
        ({"state": {}, "arguments": {"x": "text"}}, "use numbers or arrays"),
        ({"state": {}, "arguments": {"x": None}}, "use numbers or arrays"),
        ({"state": {}, "arguments": {"x": [[1], [2, 3]]}}, "a list that NumPy cannot read"),
        ({"state": {}, "arguments": {"x": 2**70}}, "int64 does not hold"),
        ({"state": {}, "arguments": {"x": 1e300}}, "float32 does not hold"),
        ({"state": {}, "arguments": [1]}, "arguments is a list; pass a dict"),
        ({"state": ["x"]}, "state is a list; pass a dict"),
        ({"state": HOPS, "arguments": {"hops": 1}}, "rename one"),
        ({"state": {}, "config": "fast"}, "not a preset"),
        ({"state": {}, "config": 3}, "preset name"),
        ({"state": {}, "keep_levels": True, "config": "edge-parallel"}, "keeps no frontiers"),
        ({"state": {}, "max_levels": -1}, "max_levels=-1"),
        ({"state": {}, "capacity": 0}, "capacity=0"),
    ],
)
def test_declarations_that_cannot_be(options, complaint, any_device):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        cg.MultiSearch(MIXED, **options, device=any_device)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: cg.State("complex64"), "cannot be an array"),
        (lambda: cg.State("int33"), "dtype=int33 cannot be an array"),
        (lambda: cg.State(None), "dtype=None cannot be an array"),
        (lambda: cg.State("int8", fill=300), "not a value"),
        (lambda: cg.State("int64", fill=2**70), "not a value"),
        (lambda: cg.State("int32", fill="a"), "not a value"),
        (lambda: cg.State("int32", fill=[1, 2]), "not a value"),
        (lambda: cg.State("float32", fill=1e300), "not a value"),
        (lambda: cg.State("int32", fill=0.5), "not a value"),
        (lambda: cg.State("int32", size="k"), "size='k'"),
        (lambda: cg.State("int32", size=0), "size=0"),
        (lambda: cg.State("int32", per="vertex"), "per='vertex'"),
        (lambda: cg.MultiSearchConfig(method="bits"), "method='bits'"),
        (lambda: cg.MultiSearchConfig(balance="best"), "balance='best'"),
        (lambda: cg.MultiSearchConfig(threshold=-1), "threshold=-1"),
        (lambda: cg.MultiSearchConfig(threshold=1.5), "threshold=1.5"),
        (lambda: cg.MultiSearchConfig(groups=0), "groups=0"),
        (lambda: cg.MultiSearchConfig(method="all-edges", threshold=3), "leave threshold"),
    ],
)
def test_values_that_cannot_be(make, complaint):
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        make()


@pytest.mark.parametrize("sources", [[-1], [MIXED.n], [0.5], 3, [[1]], ["a"], [[1], [2, 3]]])
def test_sources_that_are_not(sources, any_device):
    plan = cg.MultiSearch(MIXED, state=HOPS, visit=VISIT, device=any_device)
    with pytest.raises(cg.InvalidArgumentError, match="sources"):
        plan.run(sources)


def test_group_sizes_that_are_not_possible(intel):
    with pytest.raises(cg.InvalidArgumentError, match="group_size=3"):
        cg.MultiSearch(MIXED, state={}, config=cg.MultiSearchConfig(group_size=3), device=intel)
    with pytest.raises(cg.InvalidArgumentError, match="emulated"):
        cg.MultiSearch(
            MIXED,
            state={},
            config=cg.MultiSearchConfig(group_size=16, threshold=math.inf),
            device=intel.emulating(8),
        )


def test_progress_and_launches_of_bounded_length(any_device, monkeypatch):
    monkeypatch.setattr("clgraph.algorithms.multi_search.run.LAUNCH_S", 0.0)
    monkeypatch.setattr("clgraph.algorithms.multi_search.run.FIRST_LAUNCH_CPU", 0)
    plan = cg.MultiSearch(
        MIXED, state=HOPS, visit=VISIT, config=cg.MultiSearchConfig(groups=2), device=any_device
    )
    told = []
    result = plan.run([0] * 7, progress=lambda *words: told.append(words))
    assert told == [(done, 7, "searches") for done in (2, 4, 6, 7)]
    assert result.stats.launches == 4
