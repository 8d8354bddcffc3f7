"""No access out of bounds, no data race and no uninitialised value while mining."""

from runtimes import run_under_oclgrind

SCRIPT = """
import numpy as np
from clgraph.algorithms.invariants import InvariantMiner, MiningConfig, Trace, mine_sequentially

random = np.random.default_rng(1)
columns = {f"n{i}": random.integers(5 * i, 3 + 5 * i, 130).astype("f4") for i in range(3)}
columns |= {f"b{i}": random.random(130) < 0.5 for i in range(2)}
columns["both"] = columns["b0"] & columns["b1"]
trace = Trace.from_columns(columns)
texts = ["a <= b", "a < b + c", "p == (q and r)"]
for name in ("split-trace", "tiled"):
    config = MiningConfig(MiningConfig.of(name).sweep, probe=64)
    plan = InvariantMiner(texts, config=config)
    result = plan.run(trace)
    found = {(t, tuple(row)) for t in plan.templates for row in result.tuples(t).tolist()}
    assert found == mine_sequentially([trace], plan.families)
"""


def test_mining(tmp_path):
    run_under_oclgrind(SCRIPT, log_folder=tmp_path)
