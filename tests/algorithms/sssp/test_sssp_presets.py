"""Published searches by weight do what their papers say: a table of presets and their mechanisms.

As tests/algorithms/bfs/test_bfs_presets.py: each row says what a preset switches on, by what that
is switched off, and a figure that differs then; the kernels that are rendered differ too. What
passes by a cache shows in no count: of that the figure is the decision.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from paths import check_paths, weighted

import clgraph as cg

STAR = weighted(cg.generate.star(3000), np.int32, 1, 2)
GRID = weighted(cg.generate.grid2d(30, 30), np.int32, 1, 50)


def counted(name):
    return lambda _, result: result.stats.counters[name]


def kinds(_plan, result):
    """Whether there were stages that looked through what had been put aside."""
    return "far" in set(result.stats.per_level["direction"].tolist())


def stages(_plan, result):
    return result.stats.levels


def relaxations(_plan, result):
    return result.stats.relaxations


def policy(plan, _result):
    return plan.config.cache


@dataclass(frozen=True)
class Row:
    """A mechanism of a preset."""

    preset: str
    mechanism: str
    off: dict[str, Any]
    figure: Any
    graph: Any = GRID
    source: int = 0
    more: dict[str, Any] = field(default_factory=dict)
    counts: bool = False

    @property
    def param(self):
        return pytest.param(self, id=f"{self.preset}: {self.mechanism}")


FEW = {"schedule.groups": 2, "hub_degree": 0}
ROWS = [
    Row("h-bf", "edges of classes are not relaxed", {"method.edge_classes": ()},
        counted("RELAXED"), graph=STAR, source=1, counts=True),
    Row("h-bf", "widths of virtual SIMD groups follow the frontier", {"balance": "vwarp"},
        counted("TILES"), counts=True),
    Row("h-bf", "several vertices to a virtual SIMD group", {"balance.vertices": 1},
        counted("TILES"), graph=STAR, more={**FEW, "method.edge_classes": ()}, counts=True),
    Row("h-bf", "long rows are the grid's", {"hub_degree": 0}, counted("TILES"), graph=STAR,
        more={"hub_degree": 500, "method.edge_classes": ()}, source=1, counts=True),
    Row("h-bf", "edges pass by the nearest cache", {"cache": "default"}, policy),
    Row("near-far", "vertices beyond a bound are put aside", {"method": "bellman-ford"}, kinds,
        more={"delta": 10}),
    Row("delta-stepping", "heavy edges wait until a bucket is settled", {"method": "near-far"},
        stages, more={"delta": 10}),
    Row("asynchronous", "buckets without stages between them", {"method": "bellman-ford"}, stages),
    Row("self-tuning", "a set-point of edges a step", {"method": "bellman-ford"}, stages,
        more={"set_point": 60}),
]  # fmt: skip


def test_every_published_preset_is_in_the_table():
    assert {row.preset for row in ROWS} == set(cg.SSSPConfig.presets()) - {"auto"}


@pytest.mark.parametrize("row", [row.param for row in ROWS])
def test_every_mechanism_is_there(row, intel):
    """By the source that is rendered, and by a figure that differs when it is off."""
    figures, hashes = [], set()
    method = {f"method.{name}": value for name, value in row.more.items() if name in OWN}
    more = {name: value for name, value in row.more.items() if name not in OWN}
    for off in ({}, row.off):
        own = {} if "method" in off else method
        # One work-group unless the row says else: of several the figures differ from run to run.
        values = {"schedule.groups": 1, **more, **own, **off, "counts": row.counts}
        plan = cg.SSSP(
            row.graph, config=cg.SSSPConfig.preset(row.preset).with_values(values), device=intel
        )
        result = plan.run(row.source)
        check_paths(row.graph, row.source, result)
        figures.append(row.figure(plan, result))
        hashes.add(plan.source_hash)
    assert len(hashes) == 2
    assert figures[0] != figures[1]


OWN = ("delta", "set_point")
