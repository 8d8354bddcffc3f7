"""NumPy's handling of errors is as it was, wherever Ctrl-C comes."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from interruption import interrupt, places

import clgraph as cg
from clgraph.apart import apart
from clgraph.seeded import seeded

PACKAGE = Path(cg.__file__).parent
# What NumPy does by setting for a while how errors are handled.
SETS = r"np\.(?:errstate|isclose|allclose|linalg\.solve|random\.default_rng)\b"


@pytest.mark.parametrize("seed", [0, 2**70, [3, 1]])
def test_numbers_are_those_of_numpy(seed):
    numbers = [draw(seed).random(9) for draw in (seeded, np.random.default_rng)]
    np.testing.assert_array_equal(*numbers)


def test_errors_are_handled_as_asked_and_the_rest_goes_through():
    add = np.errstate(over="ignore")(lambda x, y, *, times: (x + y) * times)
    assert np.isinf(apart(add, np.float32(3e38), np.float32(3e38), times=2))
    with pytest.raises(FloatingPointError, match="overflow"):
        apart(np.errstate(over="raise")(np.multiply), np.float32(3e38), np.float32(2))
    with pytest.raises(TypeError):
        apart(add, None, 1, times=2)


CALLS = {
    "a seed": partial(seeded, 1),
    "a statement": lambda: apart(
        np.errstate(over="ignore")(lambda: np.float32(1e30) * np.float32(1e30))
    ),
    "a comparison": lambda: apart(lambda: np.isclose(np.inf, 1.0)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("opcodes", [False, True], ids=["lines", "opcodes"])
def test_an_interruption_leaves_the_handling_of_errors(name, opcodes):
    before, call = np.geterr(), CALLS[name]
    call()
    tried = places(call, opcodes=opcodes)
    assert any("errstate" in code.name for (code, _), _ in tried)
    for place in tried:
        assert interrupt(call, place, opcodes=opcodes)
        assert np.geterr() == before, place


def test_nothing_else_sets_how_errors_are_handled():
    texts = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    guarded = re.compile(rf"apart\((?:\s|lambda: )*{SETS}")
    assert sum(len(guarded.findall(text)) for text in texts.values()) > 15
    left = {
        path: re.findall(rf"(?<!``){SETS}", guarded.sub("", text)) for path, text in texts.items()
    }
    assert not {path for path, found in left.items() if found}
