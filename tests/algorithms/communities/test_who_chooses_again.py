"""Vertices choose again once moves of their neighbours may have changed what is best for them."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.communities import moving
from clgraph.algorithms.communities.scale import Scale
from clgraph.engine.sweeps import SweepLog

everywhere = pytest.mark.runtimes("pocl", "pocl+lanes8", "intel")
GROUPS, SIZE = 3, 12


def cliques(weight):
    """Cliques of heavy edges, and light ones between any of them."""
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(GROUPS), SIZE)
    heavy = np.where(group[:, None] == group, weight, 0)
    light = rng.random(heavy.shape) < 0.3
    weights = np.triu(heavy + np.where(light, rng.integers(1, 4, heavy.shape), 0), 1)
    return group, weights + weights.T


def settled(device, kind):
    """A plan whose vertices have all looked and stayed where they are."""
    group, weights = cliques(6)
    ends = np.nonzero(np.triu(weights))
    graph = cg.from_edges(*ends, weights[ends].astype(kind), directed=False, symmetrize=True)
    plan = cg.Leiden(graph, device=device)
    plan._first.labels.write((group * SIZE).astype(np.uint32))
    plan._turns.order(SweepLog(), plan._first, 1)
    plan._levels.start(SweepLog(), plan._first, given=True)
    assert passes(plan) == 0
    return plan, group, weights


def passes(plan):
    """Vertices that move in a pass."""
    scale = Scale.of(plan.total, 1.0)
    how = {"tolerance": 1.0, "report": lambda: None}
    return moving.moved(SweepLog(), plan._turns, plan._first, scale, **how)[1]


def slacks_of(plan):
    slacks = plan._levels.sums("slacks", plan.graph.n).read(plan.graph.n)
    return slacks.view(np.int64 if slacks.dtype == np.uint64 else np.int32).astype(float)


@everywhere
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_who_stays_knows_what_it_would_lose(device, kind):
    plan, group, weights = settled(device, kind)
    strengths = weights.sum(axis=1)
    totals = np.bincount(group, strengths)
    sums = np.stack([weights[:, group == one].sum(axis=1) for one in range(GROUPS)], axis=1)
    own = group[:, None] == np.arange(GROUPS)
    scores = sums - strengths[:, None] * (totals - own * strengths[:, None]) / strengths.sum()
    best = np.where(own, -np.inf, scores).max(axis=1)
    lost = scores[own] - np.maximum(best, 0)
    assert (lost > 1).all()
    unit = plan.total / strengths.sum()
    assert np.abs(slacks_of(plan) / unit - lost).max() <= 1 / min(unit, 1e3)


@everywhere
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_move_takes_off_what_it_may_change(device, kind):
    plan, group, weights = settled(device, kind)
    before, unit = slacks_of(plan), plan.total / weights.sum()
    # One vertex is put elsewhere, and moves back.
    astray, other = 2, 1
    labels = (group * SIZE).astype(np.uint32)
    labels[astray] = other * SIZE
    strengths = weights.sum(axis=1)
    totals = np.bincount(labels, strengths * unit, plan.graph.n)
    slacks = before.copy()
    slacks[astray] = -1
    for array, values in (
        (plan._first.labels, labels),
        (plan._first.totals, np.rint(totals)),
        (plan._levels.sums("slacks", plan.graph.n), slacks),
    ):
        array.write(values.astype(np.int64).astype(array.dtype))
    assert passes(plan) == 1
    assert plan._first.labels.read(plan.graph.n)[astray] == 0
    # In the community it joins nobody is drawn away; in that it leaves an edge counts twice.
    taken = np.where(group == 0, 0, np.where(group == other, 2, 1)) * weights[astray]
    taken[astray] = 0
    wanted = before - taken * unit
    wanted[astray] = 0
    assert (slacks_of(plan) == wanted).all()
    assert (wanted < before).sum() > GROUPS


@everywhere
def test_who_cannot_have_changed_its_mind_does_not_choose(device):
    """A vertex that would move is left alone as long as it has something to lose."""
    plan, group, _ = settled(device, np.int64)
    labels = (group * SIZE).astype(np.uint32)
    labels[2] = SIZE
    plan._first.labels.write(labels)
    assert passes(plan) == 0
    slacks = plan._levels.sums("slacks", plan.graph.n)
    held = slacks.read(plan.graph.n)
    held[2] = np.iinfo(held.dtype).max  # below zero, by one
    slacks.write(held)
    assert passes(plan) == 1
