"""Kernels that count compile for NVIDIA's cards, which alone count by lanes."""

import re

import pytest
from compilers import build, nvidia, ptxas
from test_compiled import PEEL, SOME, program

from bench.studies.recorded import RECORDED
from clgraph.profile.instrument.rewriting import instrumented
from clgraph.profile.instrument.words import Mask

pytestmark = pytest.mark.usefixtures("pocl")
DEVICE = "h200"
COUNTERS = Mask.DIV | Mask.GMEM | Mask.LMEM
FILES = SOME | {PEEL: ("truss-peel", "rows")}
CASES = [("bfs/bfs.cl", Mask.TIME), ("bfs/bfs.cl", Mask.TIME | Mask.SYNC)]


@pytest.mark.rest
@pytest.mark.parametrize(("label", "mask"), [*((label, COUNTERS) for label in FILES), *CASES])
def test_instrumented_kernels_compile(label, mask, tmp_path):
    name, source = program(DEVICE, label, *FILES[label])
    built = build(instrumented(source, mask, RECORDED[DEVICE]).text, tmp_path, DEVICE)
    assert built.complaints == "", f"{label} of {name}"
    # What counts is called by name, so that a kernel with many places stays small.
    assert ("prof_note_global" in built.text) == (mask == COUNTERS)
    # Cards ended kernels that took the place of an access from such a call.
    assert not re.search(r"\.func\s*\([^)]*\)\s*prof_", built.text)
    assert ("%clock64" in built.text) == (mask != COUNTERS)


@pytest.mark.rest
@pytest.mark.skipif(ptxas() is None, reason="ptxas is not installed")
def test_times_take_few_registers(tmp_path):
    """Of a search that many would not fit: what the kernel's end needs is not kept from its begin.

    By clang 19 and ptxas 13 the plain one takes 88, with times 96, and 106 where it is kept.
    """
    _, source = program(DEVICE, "bfs/bfs.cl", "bfs", "enterprise")
    (plain,) = nvidia(source, tmp_path, bound=False).uses.values()
    text = instrumented(source, Mask.TIME, RECORDED[DEVICE]).text
    (timed,) = nvidia(text, tmp_path, bound=False).uses.values()
    assert timed.registers <= plain.registers + 8
    limit = f"--maxrregcount={plain.registers}"
    (kept,) = nvidia(text, tmp_path, limit, bound=False).uses.values()
    assert (kept.registers, kept.spill_bytes) == (plain.registers, plain.spill_bytes)
