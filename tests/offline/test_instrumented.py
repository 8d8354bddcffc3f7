"""Kernels that count compile for NVIDIA's cards, which alone count by lanes."""

import re

import pytest
from compilers import build
from test_compiled import PEEL, SOME, program

from bench.studies.recorded import RECORDED
from clgraph.profile.instrument import Mask, instrumented

pytestmark = pytest.mark.usefixtures("pocl")
DEVICE = "h200"
COUNTERS = Mask.DIV | Mask.GMEM | Mask.LMEM
FILES = SOME | {PEEL: ("truss-peel", "rows")}
CASES = [("bfs/bfs.cl", Mask.TIME), ("bfs/bfs.cl", Mask.TIME | Mask.SYNC)]


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
