"""Random numbers of a seed: NumPy's, and NumPy as it was wherever Ctrl-C comes."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from interruption import interrupt, places

import clgraph as cg
from clgraph.seeded import seeded

PACKAGE = Path(cg.__file__).parent


@pytest.mark.parametrize("seed", [0, 2**70, [3, 1]])
def test_numbers_are_those_of_numpy(seed):
    numbers = [draw(seed).random(9) for draw in (seeded, np.random.default_rng)]
    np.testing.assert_array_equal(*numbers)


@pytest.mark.parametrize("opcodes", [False, True], ids=["lines", "opcodes"])
def test_an_interruption_leaves_the_handling_of_errors(opcodes):
    before, call = np.geterr(), partial(seeded, 1)
    call()
    tried = places(call, opcodes=opcodes)
    assert any("errstate" in code.name for (code, _), _ in tried)
    for place in tried:
        assert interrupt(call, place, opcodes=opcodes)
        assert np.geterr() == before, place


def test_nothing_else_seeds():
    texts = {path.name: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    assert [name for name, text in texts.items() if "default_rng" in text] == ["seeded.py"]
