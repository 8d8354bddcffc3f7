"""How a run went, as plans and stats read it."""

from types import SimpleNamespace

import numpy as np

from clgraph.engine import outcome
from clgraph.engine.outcome import NOTHING_COUNTED, Outcome


def between(start, end):
    return SimpleNamespace(profile=SimpleNamespace(start=start, end=end))


def test_a_second_attempt_has_a_time_of_its_own(monkeypatch):
    monkeypatch.setattr(outcome, "wait", lambda event: event)
    words, noted = memoryview(np.zeros(64, np.uint32)), Outcome()
    for milliseconds in (3, 5):
        events = (between(0, 0), between(0, milliseconds * 1_000_000))
        noted.ended("persistent", events, 1, 1, words, NOTHING_COUNTED)
        assert noted.kernel_ms == milliseconds
