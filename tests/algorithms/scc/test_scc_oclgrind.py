"""Small decompositions under Oclgrind, whose log must be empty.

Out-of-bounds accesses, barrier divergence and uninitialised values are looked for. Races are not:
signatures, colours and hooks are read while others raise them, by design.
"""

import pytest
from runtimes import run_under_oclgrind

COMPONENTS = """
import sys
sys.path.insert(0, "tests")
import clgraph as cg
from digraphs import check_components, small

device = cg.device("oclgrind")
presets = sys.argv[1].split(",")
for name in ("comb", "self-loops", "one-vertex", "no-edges", "nested-cycles", "one-way-path"):
    graph = small(name)
    for preset in presets:
        check_components(graph, cg.scc(graph, config=preset, device=device))
    check_components(graph, cg.connected_components(graph, device=device), "weak")
"""


@pytest.mark.rest
@pytest.mark.parametrize("presets", ["auto,sequential", "signatures", "multistep", "devshatwar"])
def test_nothing_is_out_of_bounds_or_uninitialised(presets, tmp_path):
    run_under_oclgrind(COMPONENTS, presets, log_folder=tmp_path, checks=("UNINITIALIZED",))
