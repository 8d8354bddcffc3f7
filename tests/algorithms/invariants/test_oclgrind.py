"""Mining under Oclgrind, whose log must be empty.

Uninitialised values are not looked for: it reports every outcome of ``any`` on 16 numbers.
"""

import pytest
from runtimes import run_under_oclgrind

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


@pytest.mark.parametrize("config", ["per-entry", "tiled"])
def test_no_access_out_of_bounds_and_no_race(config, tmp_path):
    run_under_oclgrind(MINING, config, log_folder=tmp_path, checks=("DATA_RACES",), timeout=200)
