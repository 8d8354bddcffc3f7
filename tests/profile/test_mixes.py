"""Mixes of known work, which prices of predicted times are fitted to."""

from dataclasses import fields, replace

import numpy as np
import pytest

from clgraph.device.observing import observed_by
from clgraph.profile import mixes
from clgraph.profile.instrument.words import Mask
from clgraph.profile.mixes import GROUP, MIXES, Mix
from clgraph.profile.passes.watching import Counting

COUNTERS = Mask.DIV | Mask.GMEM | Mask.LMEM
SMALL = Mix(items=9, span=12, words=4)


def counted(mix, device, monkeypatch):
    monkeypatch.setattr(mixes, "MIXES", (mix,))
    ((_, _, make),) = mixes.mixes(device)
    counting = Counting(COUNTERS, device, lanes=32)
    with observed_by(counting):
        make()()
    (found,) = counting.found.values()
    counting.release()
    return found.totals


@pytest.mark.parametrize(
    ("mix", "kind", "lanes"),
    [
        (replace(SMALL, reads=3), "load", 3 << 9),
        (replace(SMALL, links=5), "load", 5 << 9),
        (replace(SMALL, near=2), "load", 2 << 9),
        (replace(SMALL, reads=4, active=8), "load", 4 << 7),
        (replace(SMALL, atomics=2), "atomic", 2 << 9),
        (replace(SMALL, passes=7), "local_load", 7 << 9),
        (replace(SMALL, barriers=3), "local_load", 3 << 9),
    ],
)
def test_a_mix_does_what_it_says(mix, kind, lanes, pocl, monkeypatch):
    assert counted(mix, pocl, monkeypatch).where(kind)[:, 1].sum() == lanes


def test_neighbours_read_neighbours_unless_they_are_scattered(pocl, monkeypatch):
    """32 words of 4 bytes lie in 4 sectors, or nearly each in one of its own."""
    together, apart = (
        counted(replace(SMALL, reads=4, scattered=scattered), pocl, monkeypatch).where("load")
        for scattered in (False, True)
    )
    assert together[:, 4].sum() == 4 * together[:, 0].sum()
    assert apart[:, 4].sum() > 25 * apart[:, 0].sum()


def test_every_kind_of_work_is_in_some_mix_alone_and_beside_others():
    kinds = ("reads", "links", "near", "additions", "passes", "atomics", "barriers")
    for kind in kinds:
        alone = [mix for mix in MIXES if [k for k in kinds if getattr(mix, k)] == [kind]]
        assert len(alone) >= 2, kind
    plain = Mix()
    for each in fields(Mix):
        assert any(getattr(mix, each.name) != getattr(plain, each.name) for mix in MIXES), each.name
    assert len(set(MIXES)) == len(MIXES)


def test_devices_without_a_barrier_of_all_work_groups_run_the_rest(pocl, monkeypatch):
    assert not pocl.traits.grid_barrier
    staged, alone = Mix(stages=4), replace(SMALL, additions=1)
    monkeypatch.setattr(mixes, "MIXES", (staged, alone))
    assert [where for where, _, _ in mixes.mixes(pocl)] == ["mix 1"]


def test_smaller_mixes_are_smaller(pocl, monkeypatch):
    monkeypatch.setattr(mixes, "MIXES", (Mix(items=12, reads=1, span=14),))
    for less, items in ((0, 1 << 12), (2, 1 << 10), (9, pocl.traits.group_of(GROUP))):
        ((_, _, make),) = mixes.mixes(pocl, less)
        counting = Counting(COUNTERS, pocl, lanes=32)
        with observed_by(counting):
            make()()
        (found,) = counting.found.values()
        counting.release()
        assert found.totals.where("load")[:, 1].sum() == items
    assert np.uint32((1 << 14) - 1) in Mix(span=14).numbers()
