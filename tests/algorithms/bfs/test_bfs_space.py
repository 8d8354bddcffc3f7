"""The configuration space: every combination is refused in one sentence or gives right results."""

import itertools
import os

import numpy as np
import pytest
from searches import (
    MIXED,
    MIXED_ONE_WAY,
    MIXED_ONE_WAY_SOURCES,
    MIXED_SOURCES,
    check_search,
)

import clgraph as cg
from clgraph.engine.legal import RULES, objection
from clgraph.engine.space import DIMENSIONS, _is_idle

# Sources that differ most: the hub, the far end of the path, a lone vertex.
PLACES = (0, 3, 5)


@pytest.fixture(scope="module")
def every():
    return [config.as_dict() for config in cg.BFSConfig.space()]


def features(config, size, first=()):
    """The values of any `size` dimensions together, and of those named `first`."""
    chosen = [(name, config[name]) for name in DIMENSIONS if name not in first]
    head = tuple((name, config[name]) for name in first)
    return {head + rest for rest in itertools.combinations(chosen, size)}


def covering(configs, size, seed=0, first=()):
    """A few configurations in which any values of `size` dimensions meet that meet at all."""
    rng = np.random.default_rng(seed)
    of_each = [features(config, size, first) for config in configs]
    missing, chosen = set().union(*of_each), []
    while missing:
        pool = rng.choice(len(configs), min(400, len(configs)), replace=False)
        best = max(pool, key=lambda index: len(of_each[index] & missing))
        if len(of_each[best] & missing) < 3:
            best = max(range(len(configs)), key=lambda index: len(of_each[index] & missing))
        missing -= of_each[best]
        chosen.append(configs[best])
    return chosen


def build_and_run(config, device, *, predecessors):
    chosen = {name: value for name, value in config.items() if value is not None}
    lanes = device.traits.lanes
    if chosen.get("visited") == "labels" and chosen.get("direction") == "switching" and lanes > 1:
        with pytest.raises(cg.InvalidArgumentError, match="one-lane devices"):
            cg.BFS(MIXED, config=cg.BFSConfig(**chosen), device=device)
        return
    # Several SIMD groups in a group, so that they meet in local memory.
    config = cg.BFSConfig(**chosen, group_size=2 * lanes if lanes > 1 else 1)
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
        for place in PLACES:
            check_search(graph, sources[place], plan.run(sources[place]))


def test_space_holds_legal_configurations_once(every):
    assert len(every) > 10_000
    assert len({tuple(config.items()) for config in every}) == len(every)
    for name, values in DIMENSIONS.items():
        found = {config[name] for config in every}
        assert found - {None} <= set(values) - {None}
        assert len(found) > 1, name


def test_space_with_dimensions_fixed():
    some = list(cg.BFSConfig.space(queue="status", direction="switching"))
    assert some
    assert {(config.queue, config.direction) for config in some} == {("status", "switching")}


def test_space_of_a_balancer_by_its_other_name():
    some, same = (
        list(cg.BFSConfig.space(queue="edge", solo=False, balance=name))
        for name in ("lane_scan", "warp_search")
    )
    assert some
    assert some == same
    with pytest.raises(cg.InvalidArgumentError, match="balance='best' is not one of"):
        list(cg.BFSConfig.space(balance="best"))


def test_what_is_left_out_of_the_space_is_refused(every):
    """Changing one value of a legal configuration gives one of the space or is objected to."""
    rng = np.random.default_rng(1)
    points = {tuple(config[name] for name in DIMENSIONS) for config in every}
    refused = held = 0
    for index in rng.choice(len(every), 1000, replace=False):
        name = list(DIMENSIONS)[rng.integers(len(DIMENSIONS))]
        value = DIMENSIONS[name][rng.integers(len(DIMENSIONS[name]))]
        changed = {**every[index], name: value}
        complaint = objection(changed)
        if complaint is not None:
            refused += 1
            with pytest.raises(cg.InvalidArgumentError) as caught:
                cg.BFSConfig(**changed)
            assert "\n" not in str(caught.value)
        elif value is not None and not any(_is_idle(changed, each) for each in DIMENSIONS):
            if changed["balance"] == "cws" and changed["group_scan"] is None:
                changed["group_scan"] = "ordered"
            assert tuple(changed[each] for each in DIMENSIONS) in points
            held += 1
    assert refused > 100
    assert held > 100


@pytest.mark.parametrize("number", range(len(RULES)))
def test_each_rule_says_in_one_sentence_what_to_do(number):
    rule = RULES[number]
    stand_ins = {"some": 8, "any": 4}
    chosen = {
        name: stand_ins.get(values[0], values[0]) if isinstance(values[0], str) else values[0]
        for name, values in rule.values.items()
    }
    if "generation" in chosen and chosen["generation"] == 4:
        chosen["generation"] = "bins"
    if chosen.get("balance") == 4:
        chosen["balance"] = "vwarp"
    complaint = objection(chosen)
    assert complaint is not None
    assert complaint.endswith(".")
    assert complaint.count(". ") == 0
    assert any(word in complaint for word in ("choose", "leave", "needs"))
    assert "{" not in complaint


@pytest.mark.parametrize("spec", ["pocl", pytest.param("intel", marks=pytest.mark.slow)])
@pytest.mark.parametrize("part", range(2))
def test_forms_with_each_value(part, spec, every, request):
    """One at least for every form of frontier and value that can be combined.

    Balancers are left to test_bfs_balance.py.
    """
    usual = [config for config in every if config["balance"] in {None, "warp_search"}]
    sample = covering(usual, 1, first=("queue",))[part::2]
    for number, config in enumerate(sample):
        build_and_run(config, request.getfixturevalue(spec), predecessors=number % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_pairs_of_values(part, every, intel):
    """The same for every two values."""
    sample = covering(every, 2)[part::4]
    for number, config in enumerate(sample):
        build_and_run(config, intel, predecessors=number % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_triples_of_values(part, every, intel):
    """The same for three values; with CLGRAPH_WHOLE_SPACE=1 for every configuration there is."""
    whole = os.environ.get("CLGRAPH_WHOLE_SPACE", "0") not in {"", "0"}
    sample = (every if whole else covering(every, 3))[part::8]
    for number, config in enumerate(sample):
        build_and_run(config, intel, predecessors=number % 2 == 0)
