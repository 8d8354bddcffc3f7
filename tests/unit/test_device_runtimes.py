"""The helpers that run tests elsewhere fail when they should."""

import pytest
from runtimes import run_python, run_under_oclgrind, run_under_pocl_threads

LAUNCH = """
import sys
import numpy as np
from clgraph.device import device as find_device, Memory, wait
from clgraph.device.programs.program import build
device = find_device()
assert device.is_simulator
kernel = build(device, sys.argv[1], label="f.cl").kernel("f")
values = Memory(device).upload("values", np.zeros(8, np.uint32))
wait(kernel.launch(8, 4, values))
print(values.read())
"""
FINE = "__kernel void f(__global uint *a) { a[get_global_id(0)] = 1; }"
FAULTY = {
    "race": "__kernel void f(__global uint *a) { a[0] += get_global_id(0); }",
    "out of bounds": "__kernel void f(__global uint *a) { a[get_global_id(0) + 1] = 1; }",
    "uninitialised": "__kernel void f(__global uint *a) { uint x[2]; if (x[a[0]] > 3) a[0] = 1; }",
    "divergence": """__kernel void f(__global uint *a) {
        if (get_local_id(0) < 2) { barrier(CLK_LOCAL_MEM_FENCE); } a[get_global_id(0)] = 1; }""",
}


def test_faultless_kernel_passes_under_oclgrind(tmp_path):
    runs = run_under_oclgrind(LAUNCH, FINE, log_folder=tmp_path)
    assert [run.stdout for run in runs] == ["[1 1 1 1 1 1 1 1]\n"] * 2


@pytest.mark.parametrize("fault", FAULTY)
def test_faulty_kernel_fails_under_oclgrind(tmp_path, fault):
    with pytest.raises(AssertionError, match=r"Oclgrind \(\w+\) found"):
        run_under_oclgrind(LAUNCH, FAULTY[fault], log_folder=tmp_path)


def test_child_that_fails_fails_the_test():
    with pytest.raises(AssertionError, match=r"ended with 3:\nout\n\nerr"):
        run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")


def test_pocl_gets_as_many_threads_as_asked():
    script = "import clgraph as cg; print(cg.device().traits.compute_units)"
    assert run_under_pocl_threads(script, threads=5).stdout == "5\n"
