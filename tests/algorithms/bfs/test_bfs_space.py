"""The configuration space: every combination is refused in one sentence or gives right results."""

import itertools
import os
import re

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

# Sources that differ most: the hub, the far end of the path, a lone vertex.
PLACES = (0, 3, 5)
PARTS = 8  # of the forms, a case each


@pytest.fixture(scope="module")
def every():
    return list(cg.BFSConfig.space())


def named(config):
    """Every choice of a configuration by its dotted name, of those that its strategies have."""
    found = {}
    for name in ("frontier", "pull", "balance", "schedule"):
        strategy = getattr(config, name)
        found[name] = strategy and strategy.NAME
        for each in strategy.parameters() if strategy else ():
            value = getattr(strategy, each)
            found[f"{name}.{each}"] = getattr(value, "NAME", value)
    return found


NAMES = (
    *("frontier", "frontier.visited", "frontier.duplicates", "frontier.history"),
    *("frontier.update", "frontier.rows", "frontier.generation", "frontier.bits"),
    *("frontier.classes", "frontier.hub_cache", "pull", "pull.beta", "balance"),
    *("balance.group_scan", "schedule", "schedule.single_group", "schedule.distribution"),
)


def features(config, size, first=()):
    """The values of any `size` choices together, and of those named `first`."""
    values = named(config)
    chosen = [(name, values.get(name)) for name in NAMES if name not in first]
    head = tuple((name, values[name]) for name in first)
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
    lanes = device.traits.lanes
    values = named(config)
    labels = values.get("frontier.visited") == "labels"
    if labels and values["pull"] != "never" and lanes > 1:
        with pytest.raises(cg.InvalidArgumentError, match="one-lane devices"):
            cg.BFS(MIXED, config=config, device=device)
        return
    # Several SIMD groups in a group, so that they meet in local memory.
    config = config.with_values({"schedule.group_size": 2 * lanes if lanes > 1 else 1})
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        plan = cg.BFS(graph, predecessors=predecessors, config=config, device=device)
        for place in PLACES:
            check_search(graph, sources[place], plan.run(sources[place]))


def test_space_holds_legal_configurations_once(every):
    assert len(every) == 23_256
    assert len(set(every)) == len(every)
    values = [named(config) for config in every]
    for name in NAMES:
        assert len({each.get(name) for each in values} - {None}) > 1, name


def test_space_with_strategies_fixed():
    some = list(cg.BFSConfig.space(frontier="status", pull="hubs"))
    assert some
    assert {(config.frontier.NAME, config.pull.NAME) for config in some} == {("status", "hubs")}
    never = cg.pull.Never()
    assert all(config.pull == never for config in cg.BFSConfig.space(frontier="edge", pull=never))


def test_space_of_a_balancer_by_its_other_name():
    some, same = (
        list(cg.BFSConfig.space(frontier="edge", balance=name))
        for name in ("lane_scan", "warp_search")
    )
    assert some
    assert some == same
    with pytest.raises(cg.InvalidArgumentError, match="balance='best' is not one of"):
        list(cg.BFSConfig.space(balance="best"))


def test_what_is_left_out_of_the_space_is_refused(every):
    """Changing one value of a legal configuration gives one of the space or is objected to."""
    rng = np.random.default_rng(1)
    points = set(every)
    choices = [named(config) for config in every]
    values = {name: {each.get(name) for each in choices} - {None} for name in NAMES}
    refused = held = 0
    for index in rng.choice(len(every), 1000, replace=False):
        config, name = every[index], NAMES[rng.integers(len(NAMES))]
        value = sorted(values[name], key=str)[rng.integers(len(values[name]))]
        slot = name.partition(".")[0]
        try:
            changed = config.with_values({name: value})
            if name in {"frontier", "schedule"}:
                changed = changed.filled(config)  # what both kinds have stays as it was
        except cg.InvalidArgumentError:
            refused += 1
            continue
        if None in [named(changed).get(each) for each in NAMES if each in named(changed)]:
            continue  # of a kind that the configuration had no values for
        idle = changed.pull.NAME == "never" and getattr(changed.frontier, "hub_cache", 0)
        assert changed in points or idle, (slot, repr(changed))
        held += 1
    assert refused > 100
    assert held > 100


def test_each_rule_says_in_one_sentence_what_to_do(every):
    """What strategies that are legal by themselves have against each other."""
    rng = np.random.default_rng(2)
    hubs = cg.frontier.VertexQueue(hubs=cg.frontier.Hubs(degree=8, bins=True))
    by_width = cg.frontier.VertexQueue(update=cg.frontier.Registers(induced_by="width"))
    frontiers = [*{config.frontier for config in every}, hubs, by_width]
    complaints = set()
    for _ in range(20_000):
        frontier = (
            (hubs, by_width)[rng.integers(2)]
            if rng.random() < 0.1
            else frontiers[rng.integers(len(frontiers))]
        )
        other = every[rng.integers(len(every))]
        try:
            cg.BFSConfig(
                frontier=frontier,
                balance=other.balance,
                pull=every[rng.integers(len(every))].pull,
                schedule=every[rng.integers(len(every))].schedule,
            )
        except cg.InvalidArgumentError as error:
            complaints.add(str(error))
    assert len({re.sub("'[a-z_]+'|[0-9]+", "_", complaint) for complaint in complaints}) >= 12
    for complaint in complaints:
        assert complaint.endswith(".")
        assert complaint.count(". ") == 0
        assert any(word in complaint for word in ("choose", "leave", "needs"))
        assert "{" not in complaint


@pytest.mark.parametrize("spec", ["pocl", pytest.param("intel", marks=pytest.mark.slow)])
@pytest.mark.parametrize("part", range(PARTS))
def test_forms_with_each_value(part, spec, every, request):
    """One at least for every form of frontier and value that can be combined.

    Balancers are left to test_bfs_balance.py.
    """
    usual = [config for config in every if named(config)["balance"] in {None, "warp_search"}]
    sample = covering(usual, 1, first=("frontier",))[part::PARTS]
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
