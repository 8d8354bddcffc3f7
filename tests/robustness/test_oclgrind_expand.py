"""Load balancers on Oclgrind: nothing read or written outside, no race, no divergent barrier."""

import pytest
from runtimes import OCLGRIND_CHECKS, run_under_oclgrind

SCRIPT = """
import numpy as np
from clgraph.engine.strategies.balance import BALANCERS
from clgraph.primitives import Expand, ExpandConfig

random = np.random.default_rng(1)
lists = [
    np.array([3, 1, 5, 6, 3, 3, 3, 4]),
    np.array([0] * 20 + [5, 0, 9]),
    (random.pareto(1.2, 60) * 3).astype(int) % 90,
    np.array([3] * 10 + [0] * 90 + [2] * 10),
]
forms = {
    "dyn_vwarp": [{"balance.threshold": 4, "balance.discover": 1}],
    "two_phase": [
        {"balance.unit_batch": 3},
        {"balance.unit_batch": 3, "balance.partition": "merge"},
    ],
    "multi_phase": [
        {"balance.unit_batch": 3, "search": "interpolation"},
        {"balance.unit_batch": 3, "balance.iterations": 3},
    ],
}
for balance in BALANCERS:
    for form in forms.get(balance, [{}]):
        for sizes in lists:
            config = ExpandConfig(balance=balance, group_size=4).with_values(form)
            plan = Expand(sizes, config=config)
            plan.run()
            assert (plan.owners() == np.repeat(np.arange(sizes.size), sizes)).all(), balance
"""


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
def test_every_balancer_with_barriers_between_four_items(check, tmp_path):
    run_under_oclgrind(SCRIPT, log_folder=tmp_path, checks=(check,))
