"""Mining under Oclgrind, whose log must be empty.

What the host copies to the middle of a buffer Oclgrind takes for uninitialised, as the last test
shows; so where that is looked for, the rows of a trace are copied together.
"""

import pytest
from runtimes import calls_under_oclgrind, run_under_oclgrind

# One family of pairs and 70 instants of 3 variables: vectors of a row fill a part of a work-group,
# and entries a part of a SIMD group. Larger ones take the simulator minutes.
MINING = """
import sys
import numpy as np
import clgraph as cg

values = np.arange(210, dtype=np.float32).reshape(3, 70)
values[2, -1] = 0
result = cg.mine_invariants(values, templates=["a <= b"], config=sys.argv[1], inference=False)
assert result.text() == "v0 <= v1", result.text()
"""
# All in one look, of a family whose two templates call a function each that is nowhere else.
ONE_LOOK = """
import sys
import numpy as np
from clgraph.algorithms.invariants import InvariantMiner, MiningConfig
from clgraph.algorithms.invariants.config import SplitTrace

config, length, place = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
values = np.tile(np.array([[1.0], [2.0]], np.float32), (1, length))
values[0, place] = 9
plan = InvariantMiner(
    ["exp(a) > b", "sqrt(a) < b"], inference=False,
    config=MiningConfig(
        SplitTrace(4) if config == "in four" else MiningConfig.of(config).sweep, probe=1 << 20
    ),
)
assert plan._sweepers[0].group_size == 8 and plan._sweepers[0].width == 4
result = plan.run(values)
assert result.stats.launches == 1
assert result.text() == "exp(v0) > v1", result.text()
"""
# Every copy into a buffer becomes one of all that has been copied into it, from its beginning.
TOGETHER = """
import numpy as np
import pyopencl as cl

one_copy, copied = cl.enqueue_copy, {}

def from_the_beginning(queue, target, source, *, dst_offset=0, **options):
    if not isinstance(target, cl.Buffer) or not isinstance(source, np.ndarray):
        return one_copy(queue, target, source, **options)
    words = source.reshape(-1).view(np.uint8)
    whole = copied.setdefault(target.int_ptr, np.zeros(target.size, np.uint8))
    whole[dst_offset : dst_offset + len(words)] = words
    return one_copy(queue, target, whole, **{**options, "is_blocking": True})

cl.enqueue_copy = from_the_beginning
"""
COPIED = """
import sys
import numpy as np
import pyopencl as cl
import clgraph as cg
from clgraph.device import Memory
from clgraph.device.programs import program

device = cg.device()
text = "__kernel void pick(__global uint *p) { if (p[0] < p[1]) p[0] = p[1]; }"
words = Memory(device).allocate("words", 2, np.uint32)
pair = np.array([3, 5], np.uint32)
if sys.argv[1] == "apart":
    cl.enqueue_copy(device.queue, words.buffer, pair[:1], is_blocking=True)
    cl.enqueue_copy(device.queue, words.buffer, pair[1:], dst_offset=4, is_blocking=True)
else:
    cl.enqueue_copy(device.queue, words.buffer, pair, is_blocking=True)
program.build(device, text, label="pick").kernel("pick").launch(1, 1, words)
assert words.read(1)[0] == 5
"""


@pytest.mark.parametrize("config", ["per-entry", "tiled"])
def test_no_access_out_of_bounds_and_no_race(config, tmp_path):
    run_under_oclgrind(MINING, config, log_folder=tmp_path, checks=("DATA_RACES",), timeout=200)


@pytest.mark.parametrize("config", ["per-entry", "tiled"])
def test_nothing_is_read_that_nobody_wrote(config, tmp_path):
    script = TOGETHER + MINING
    run_under_oclgrind(script, config, log_folder=tmp_path, checks=("UNINITIALIZED",), timeout=200)


def test_after_a_vote_nobody_tries_what_failed():
    """Checklist 12 and 13, in the kernel: a first step is 8 vectors, a work-item of 8 lanes each.

    Of the pair (0, 1) the second template fails at the place and the first never does; of (1, 0)
    the first fails at the place and the second everywhere.
    """

    def calls(*arguments):
        found = calls_under_oclgrind(ONE_LOOK, *map(str, arguments), device="oclgrind+lanes8")
        return found["exp"], found["sqrt"]

    assert calls("per-entry", 1024, 0) == (256 + 8, 8 + 8)
    # What fails is tried as often in a trace of four times the length.
    assert calls("per-entry", 4096, 0) == (1024 + 8, 8 + 8)
    assert calls("tiled", 1024, 0) == (256 + 8, 8 + 8)
    # Groups of other parts hear of it at their first vote.
    assert calls("in four", 1024, 0) == (256 + 4 * 8, 4 * 8 + 4 * 8)


def test_the_simulator_takes_a_copy_to_the_middle_for_none(tmp_path):
    """Why rows are copied together above: both words are written, and one is reported."""
    run_under_oclgrind(COPIED, "together", log_folder=tmp_path, checks=("UNINITIALIZED",))
    with pytest.raises(AssertionError, match="depends on uninitialized value"):
        run_under_oclgrind(COPIED, "apart", log_folder=tmp_path, checks=("UNINITIALIZED",))
