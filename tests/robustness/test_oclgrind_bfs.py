"""Small searches under Oclgrind, whose log must be empty.

Out-of-bounds accesses, barrier divergence and uninitialised values are looked for with several
groups in one launch. Races are looked for with one group, all of whose work-items share local
memory, queues and bitmaps: Oclgrind does not know that a group which arrived at a grid barrier is
ordered before those that leave it, and reports every word that two groups used on either side. The
look at a visited bit before it is claimed is a race by design, lost at the price of an atomic in
vain; where several work-items push, reports of exactly that pair of accesses are left out and
nothing else is.
"""

import json
import re

import pytest
from runtimes import (
    OCLGRIND,
    OCLGRIND_CHECKS,
    clean_environment,
    driver_library,
    run_python,
    run_under_oclgrind,
)

SEARCHES = """
import json, sys
sys.path.insert(0, "tests")
import numpy as np
from configs import bfs_config
import clgraph as cg
from searches import check_search

case = json.loads(sys.argv[1])
spec, expected = case.pop("device", "oclgrind"), case.pop("mode", "persistent")
rng = np.random.default_rng(2)
hub, loops = np.zeros(40, np.int64), [7, 7]
src = np.concatenate([rng.integers(0, 50, 150), hub, loops])
dst = np.concatenate([rng.integers(0, 50, 150), rng.integers(0, 57, 40), loops])
for both_ways in (True, False):
    graph = cg.from_edges(src, dst, n=60, symmetrize=both_ways)
    plan = cg.BFS(graph, predecessors=not both_ways, config=bfs_config(**case), device=spec)
    for source in (0, 30, 59):
        result = plan.run(source)
        check_search(graph, source, result)
        assert result.stats.mode == expected, result.stats.mode
"""
# Frontiers that are large enough for this are more than a simulator searches.
PUT_TOGETHER = """
import json, sys
from dataclasses import replace
sys.path += ["tests", "tests/unit"]
import numpy as np
import clgraph as cg
from test_primitives_traversal import NEXT, gathered, resolved

device = cg.device("oclgrind")
config = resolved(device, **json.loads(sys.argv[1]))
config = replace(config, limits=replace(config.limits, single_group_capacity=1))
added = np.arange(9000) % 40 == 7  # both work-items of a group have some
seen, queue, state = gathered(device, config, added, added.size, small=False)
assert (np.sort(queue[: state[NEXT]]) == np.flatnonzero(added)).all()
"""
ALWAYS_PULL = {"alpha": 1000, "pull_floor": 10**6}
LANE_GROUPS = {"group_size": 2}  # of one lane each; more do not fit the simulator's local memory
ONE_ITEM = {
    "default": {},
    "push": {"direction": "push", "single_group": False},
    "pull": {**ALWAYS_PULL, "single_group": False},
    "bitmap": {"visited": "bitmap", "single_group": False},
    "lane-scan": {"balance": "lane_scan", "single_group": False},
    "lanes-per-vertex": {"balance": "lanes_per_vertex", "single_group": False},
    "hubs": {"hub_degree": 8, "single_group": False},
    "static": {"distribution": "static", "single_group": False},
    "stepped": {"synchronisation": "stepped", "mode": "stepped"},
    "candidates": {"queue": "hybrid", "hybrid_limit": 20, "visited": "mask", "history": 16},
    "status": {"queue": "status", "generation": "bins", "gamma": 0, "hub_cache": 16},
    "grid": {"balance": "two_phase", "single_group": False},
}
SEVERAL_ITEMS = {
    "push": {"direction": "push", "single_group": False},
    "pull": {**ALWAYS_PULL, "single_group": False},
    "hubs": {"hub_degree": 8, "single_group": False},
    "lanes-per-vertex": {"balance": "lanes_per_vertex", "single_group": False},
    "stepped": {"synchronisation": "stepped", "mode": "stepped"},
}
REPORT = re.compile(r"^(?=\S.* data race at )", re.MULTILINE)
SOURCE_LINE = re.compile(r"At line \d+ \(column \d+\) of .*\n\s*(.*)")
LOOK = re.compile(r"const int may_claim\d = active\d && !\(the_visited\[.*")
CLAIM = re.compile(r"if \(may_claim\d\) claimed\d = !\(WORD_OR\(&the_visited\[.*")


def is_by_design(report):
    """Whether one work-item looked at a visited word and another claimed a bit of it."""
    lines = SOURCE_LINE.findall(report)
    return (
        report.startswith("Read-write data race at global")
        and len(lines) == 2
        and any(LOOK.fullmatch(line.strip()) for line in lines)
        and any(CLAIM.fullmatch(line.strip()) for line in lines)
    )


def run_checked_for_races(case, log, script=SEARCHES):
    """Give what Oclgrind reports."""
    env = clean_environment(
        OCL_ICD_VENDORS=str(driver_library(*OCLGRIND)),
        CLGRAPH_DEVICE="oclgrind",
        OCLGRIND_LOG=str(log),
        OCLGRIND_BUILD_OPTIONS="-cl-opt-disable",
        OCLGRIND_DATA_RACES="1",
        OCLGRIND_MAX_ERRORS="100000",
    )
    run_python(script, json.dumps(case), env=env)
    found = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return [report for report in REPORT.split(found) if report.strip()]


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
@pytest.mark.parametrize("name", ONE_ITEM)
def test_one_work_item_is_faultless(name, check, tmp_path):
    case = {"group_size": 1, "groups": 1, **ONE_ITEM[name]}
    run_under_oclgrind(SEARCHES, json.dumps(case), log_folder=tmp_path, checks=(check,))


@pytest.mark.parametrize("name", SEVERAL_ITEMS)
def test_work_items_of_a_group_race_only_for_visited_bits(name, tmp_path):
    case = {**LANE_GROUPS, "groups": 1, **SEVERAL_ITEMS[name]}
    reports = run_checked_for_races(case, tmp_path / "oclgrind.log")
    unexpected = [report for report in reports if not is_by_design(report)]
    assert not unexpected, "\n".join(unexpected)[:6000]


def test_what_simd_groups_have_left_is_put_together_without_a_race(tmp_path):
    """Whatever of a work-group's count and place is written is read behind a barrier."""
    case = {**LANE_GROUPS, "distribution": "static"}
    assert not run_checked_for_races(case, tmp_path / "oclgrind.log", PUT_TOGETHER)


@pytest.mark.rest
@pytest.mark.parametrize(
    ("name", "group_size"),
    [
        *((name, size) for name in ("push", "pull", "stepped") for size in (1, 2)),
        ("candidates", 2),
        ("status", 2),
        ("grid", 2),
    ],
)
def test_several_groups_use_only_what_was_written(name, group_size, tmp_path):
    case = {"group_size": group_size, "groups": 3, **(SEVERAL_ITEMS | ONE_ITEM)[name]}
    run_under_oclgrind(
        SEARCHES, json.dumps(case), log_folder=tmp_path, checks=("UNINITIALIZED",), threads=2
    )


def test_a_report_of_anything_else_is_not_by_design():
    look = "const int may_claim0 = active0 && !(the_visited[v0 >> WORD_SHIFT] & WORD_BIT(v0));"
    store = "distances[v0] = (int)now.level;"
    claim = "if (may_claim0) claimed0 = !(WORD_OR(&the_visited[v0 >> WORD_SHIFT], WORD_BIT(v0)));"
    report = (
        "Read-write data race at global memory address 0x6\n"
        "\tAt line 1 (column 2) of input.cl:\n\t  {}\n\n"
        "\tAt line 3 (column 4) of input.cl:\n\t  {}\n"
    )
    assert is_by_design(report.format(look, claim))
    assert not is_by_design(report.format(look, store))
    assert not is_by_design(report.format(claim, claim))
    assert not is_by_design("Write-write" + report.format(look, claim)[10:])
