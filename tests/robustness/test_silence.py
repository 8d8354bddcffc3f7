"""Building kernels for the first time prints nothing, whatever a compiler has to say."""

import pytest
from runtimes import clean_environment, device_or_skip, run_python

from bench.studies.plans import ALGORITHMS

# Kernels are built and run; the sample has a family of each kind: queues, weights, vectors of
# numbers with functions that PoCL has for wide vectors, packed rows, local memory, doubles.
FIRST_RUNS = """
import sys
import numpy as np
import clgraph as cg

device = cg.device(sys.argv[1])
graph = cg.generate.kron(7, seed=1)
weighted = cg.generate.grid2d(6, 5, weights=(1, 9))
values = np.linspace(1, 9, 700, dtype=np.float32).reshape(7, 100)
labels = np.arange(graph.n) % 4
runs = {
    "bfs": lambda: cg.bfs(graph, 0, device=device),
    "sssp": lambda: cg.sssp(weighted, 0, device=device),
    "scc": lambda: cg.scc(graph, device=device),
    "triangles": lambda: cg.triangle_count(graph, device=device),
    "mining": lambda: cg.mine_invariants(values, templates="II", tolerance=4, device=device),
    "matching": lambda: cg.subgraph_matching(
        graph, cg.generate.path(4), labels=(labels, [0, 1, 2, 3]), k=5, device=device
    ),
    "truss": lambda: cg.truss_numbers(graph, device=device),
}
for name in sys.argv[2:]:
    runs[name]()
print("built")
"""
# Every program that the library has, compiled and not run.
ALL_PROGRAMS = """
import sys
import clgraph as cg
from bench.studies.plans import plans
from bench.studies.renderings import rendered
from clgraph.device.programs import program

device = cg.device(sys.argv[1])
for plan in plans(sys.argv[2:]):
    for what in rendered(plan.build, device):
        if what.label != "refused":
            program.build(device, what.source, label=what.label)
print("built")
"""
SAMPLE = ("sssp", "triangles", "mining", "matching", "scc")
WITH_A_WARNING = """
import clgraph as cg
from clgraph.device.programs import program

text = "__kernel void talks(__global uint *p) { p[0] = 1; p[0]; p[0] == 2; }"
program.build(cg.device("pocl"), text, label="talks")
print("built")
"""


def built_in_silence(script, *arguments, folder, **environment):
    """Run a script with cold caches: what file descriptor 2 got is nothing."""
    caches = {name: str(folder / name) for name in ("CLGRAPH_CACHE_DIR", "POCL_CACHE_DIR")}
    for path in caches.values():
        (folder / path).mkdir(mode=0o700)
    env = clean_environment(**caches, **environment)
    done = run_python(script, *arguments, env=env, timeout=600)
    assert done.stdout == "built\n"
    assert done.stderr == ""


@pytest.mark.rest
@pytest.mark.parametrize("runtime", ["pocl", "intel"])
def test_first_builds_print_nothing(runtime, tmp_path):
    device_or_skip(runtime)
    built_in_silence(FIRST_RUNS, runtime, *SAMPLE, folder=tmp_path)


def test_a_warning_is_not_counted_aloud(tmp_path):
    """Without the option this prints "2 warnings generated."."""
    device_or_skip("pocl")
    built_in_silence(WITH_A_WARNING, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("optimising", ["0", "1"])
@pytest.mark.parametrize("algorithm", [algorithm.name for algorithm in ALGORITHMS])
def test_no_first_build_prints_anything(algorithm, optimising, tmp_path):
    device_or_skip("pocl")
    environment = {"CLGRAPH_NO_OPTIMISING": "" if optimising == "1" else "1"}
    built_in_silence(ALL_PROGRAMS, "pocl", algorithm, folder=tmp_path, **environment)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "runs", [["bfs", "sssp", "scc"], ["triangles", "truss"], ["mining", "matching"]]
)
def test_a_gpu_builds_in_silence(runs, tmp_path):
    built_in_silence(FIRST_RUNS, "nvidia", *runs, folder=tmp_path, CUDA_CACHE_DISABLE="1")
