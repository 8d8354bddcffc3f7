"""Configurations as values: how they print, what they have, and which are refused."""

import numpy as np
import pytest
from configs import bfs_config
from searches import MIXED

import clgraph as cg
from clgraph.engine.choose import resolve
from clgraph.engine.strategies.strategy import Strategy
from clgraph.primitives import ExpandConfig


def evaluated(text):
    """What a call makes that `repr` gave."""
    names = {"inf": np.inf}
    for module in (cg.balance, cg.frontier, cg.limits, cg.method, cg.pull, cg.schedule):
        names |= {name: getattr(module, name) for name in module.__all__}
    for kind in (cg.BFSConfig, cg.SSSPConfig, cg.SCCConfig, cg.MultiSearchConfig):
        names[kind.__name__] = kind
    return eval(text, names)  # noqa: S307 - of our own making


@pytest.mark.parametrize("kind", [cg.BFSConfig, cg.SSSPConfig, cg.SCCConfig, cg.MultiSearchConfig])
def test_a_configuration_prints_as_the_call_that_makes_it(kind):
    for name in kind.presets():
        config = kind.preset(name)
        assert evaluated(repr(config)) == config
        assert kind().with_values(config.as_dict()) == config
        assert len(repr(config)) <= 200


def test_a_resolved_configuration_makes_itself(any_device):
    traits = any_device.traits
    for config in (*map(cg.BFSConfig.preset, cg.BFSConfig.presets()), cg.BFSConfig(counts=True)):
        completed = config.completed(MIXED, traits)
        known = {"m": MIXED.m, "predecessors": True, "max_degree": MIXED.max_degree}
        ran = resolve(completed, traits, **known, asked=config)
        assert len(repr(ran)) <= 200
        made = evaluated(repr(ran))
        assert made == ran.asked
        completed = made.completed(MIXED, traits)
        assert resolve(completed, traits, **known, asked=made) == ran


def test_a_configuration_has_few_parameters():
    """Issue 15: at most 14 in any class that users write down."""
    kinds = [cg.BFSConfig, cg.SSSPConfig, cg.SCCConfig, cg.MultiSearchConfig, ExpandConfig]
    for kind in kinds:
        families = [
            check.family for check in kind.parameters().values() if hasattr(check, "family")
        ]
        kinds.extend(each for family in families for each in family if each not in kinds)
    assert len(kinds) > 30
    assert all(issubclass(kind, Strategy) and len(kind.parameters()) <= 14 for kind in kinds)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ({"balance": "fastest"}, "balance='fastest' is not one of item_thread, "),
        ({"pull": "sometimes"}, "pull='sometimes' is not one of edges, hubs, never"),
        ({"synchronisation": "async"}, "schedule='async' is not one of persistent, stepped"),
        ({"membership": True}, "membership=True is not one of fixed, open"),
        ({"visited": ""}, "visited='' is not one of bitmap, labels, mask, plain"),
        ({"distribution": 3}, "distribution=3 is not one of static, claimed"),
        ({"single_group": 1}, "single_group=1 is neither True nor False"),
        ({"group_size": 0}, "group_size=0 is out of range; it must be at least 1 and below"),
        ({"group_size": 2**31}, "group_size=2147483648 is out of range"),
        ({"group_size": "64"}, "group_size='64' is not an integer"),
        ({"groups": 1.5}, r"groups=1\.5 is not an integer"),
        ({"groups": True}, "groups=True is not an integer"),
        ({"groups": -4}, "groups=-4 is out of range"),
        ({"hub_degree": -1}, "degree=-1 is out of range; it must be at least 0"),
        ({"balance": "warp_search", "wide": -1}, "wide=-1 is out of range"),
        ({"alpha": 0}, "alpha=0 is out of range"),
        ({"pull_floor": 0}, "floor=0 is out of range"),
        ({"pull_probes": 3}, "probes=3 is out of range; it must be at least 4"),
        ({"pull_probes": 10}, "probes=10 is not a multiple of 4"),
        ({"single_group_capacity": 0}, "single_group_capacity=0 is out of range"),
        ({"single_group_edges": -1}, "single_group_edges=-1 is out of range"),
        ({"eager_limit": 2**40}, "eager=1099511627776 is out of range"),
        ({"spin_limit": 63}, "spin=63 is out of range; it must be at least 64"),
        ({"patience": -1}, "patience=-1 is out of range"),
        (
            {"synchronisation": "stepped", "membership": "open"},
            "schedule.membership is of persistent",
        ),
        ({"pull": np.array(["edges", "hubs"])}, "is not one of edges, hubs, never"),
        ({"balance": "vwarp", "virtual_warp": 3}, "width=3 is not a power of two; choose 2 or 4"),
        (
            {"balance": "dyn_vwarp", "min_virtual_warp": 48},
            "width=48 is not a power of two; choose 32 or 64",
        ),
        ({"queue": "status", "status_bits": 8.0}, r"bits=8\.0 is not one of 8, 32"),
        ({"queue": "status", "status_bits": [8]}, r"bits=\[8\] is not one of 8, 32"),
        # A mask would be chosen for these, out of which nothing can be pulled.
        ({"history": 64, "direction": "switching"}, "history=64 remembers nothing of use"),
        (
            {"duplicates": "lookup_group", "direction": "switching"},
            "choose pull='never' or duplicates='keep'",
        ),
    ],
)
def test_what_no_device_can_run(bad, complaint):
    with pytest.raises(cg.InvalidArgumentError, match=complaint) as caught:
        bfs_config(**bad)
    assert "\n" not in str(caught.value)


def test_unknown_dimensions_and_presets():
    with pytest.raises(TypeError, match="balancer"):
        cg.BFSConfig(balancer="lane_scan")
    with pytest.raises(TypeError, match="unit_batch"):
        cg.balance.Cws(unit_batch=8)
    with pytest.raises(
        cg.InvalidArgumentError, match=r"balance\.unit_batch is of two_phase, multi_"
    ):
        cg.BFSConfig().with_values({"balance.unit_batch": 8})
    with pytest.raises(cg.InvalidArgumentError, match="no balance has colour"):
        cg.BFSConfig().with_values({"balance.colour": 8})
    with pytest.raises(
        cg.InvalidArgumentError, match=r"config='fast' is not a preset; choose .*auto"
    ):
        cg.BFSConfig.preset("fast")
    with pytest.raises(cg.InvalidArgumentError, match="config='fast' is not a preset"):
        cg.bfs(MIXED, 0, config="fast")
    with pytest.raises(
        cg.InvalidArgumentError, match="config is a dict; pass a BFSConfig, a preset"
    ):
        cg.bfs(MIXED, 0, config={"balance": "lane_scan"})


@pytest.mark.parametrize(
    ("spec", "bad", "complaint"),
    [
        ("intel", {"group_size": 17}, "group_size=17 is not a multiple of the 16 lanes"),
        ("pocl", {"group_size": 2**20}, "group_size=1048576 exceeds the [0-9]+ work-items"),
        (
            "pocl",
            {"group_size": 8, "visited": "labels", "direction": "switching"},
            "choose 'bitmap' here",
        ),
        ("intel", {"visited": "labels", "direction": "switching"}, "choose 'bitmap' here"),
        ("pocl+lanes8", {"group_size": 16}, "with emulated lanes; it must be 8"),
        # Strides of 2**32 edges, which kernels take for none, had no end.
        ("intel", {"hub_batch": 2**28, "hub_degree": 5}, r"hubs\.batch=268435456 edges for each"),
        ("pocl", {"hub_batch": 2**31 - 1, "hub_degree": 5}, "choose at most 1048832"),
    ],
)
def test_what_a_device_cannot_run(spec, bad, complaint, pocl, intel):
    assert pocl
    assert intel
    with pytest.raises(cg.InvalidArgumentError, match=complaint):
        cg.BFS(MIXED, config=bfs_config(**bad), device=spec)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (
            {"single_group_capacity": 2**31 - 1},
            "single_group_capacity=2147483647 entries, twice, do not fit",
        ),
        (
            {"balance": "multi_phase", "unit_batch": 300, "iterations": 4},
            "unit_batch=300 times iterations=4 are 1200 units",
        ),
    ],
)
def test_sizes_that_compilers_fall_over_are_refused_before_they_see_them(bad, complaint, intel):
    """Intel's ended the process over the first, and had no end with the second."""
    with pytest.raises(cg.InvalidArgumentError, match=complaint) as caught:
        resolve(bfs_config(**bad), intel.traits, m=10, predecessors=False)
    assert "\n" not in str(caught.value)


def test_numbers_may_be_those_of_numpy():
    config = bfs_config(group_size=np.int64(64), alpha=np.uint8(3), single_group=np.False_)
    assert config == bfs_config(group_size=64, alpha=3, single_group=False)
    status = bfs_config(queue="status", status_bits=np.int64(8))
    assert type(status.frontier.bits) is int
    assert type(config.schedule.group_size) is int
    with pytest.raises(cg.InvalidArgumentError, match="is not an integer"):
        bfs_config(group_size=np.float64(64))


@pytest.mark.parametrize(
    "strategy",
    [cg.frontier.Registers(), cg.balance.DynVwarp(), cg.balance.Cws(), cg.pull.ByEdges()],
)
def test_what_is_usual_is_legal_and_leaves_alone_what_is_said(strategy):
    usual = strategy.with_usual()
    decided = {name for name, value in usual.given().items() if value is not None}
    assert decided  # as the declarations have it, checked as if a user had written it down
    said = strategy.with_values({name: getattr(usual, name) for name in decided})
    assert said.with_usual() == said == usual
