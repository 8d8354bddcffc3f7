"""Scans and reductions of a work-group, for operators that commute and that do not."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from runtimes import OCLGRIND_CHECKS, run_under_oclgrind
from unit.primitives_reference import DTYPES, KERNELS, folded, identity, rows

from clgraph.device import Memory, load, wait
from clgraph.device.rendering.sources import render
from clgraph.engine.strategies.balance import Cws
from clgraph.errors import KernelBuildError
from clgraph.primitives import group_size

GROUPS = 3
# One of each kind where building is slow, all where it is quick.
FEW = [("add", "uint"), ("affine", "uint2"), ("latest", "int")]
MANY = [
    *FEW,
    *itertools.product(("min", "max"), ("uint", "int", "ulong", "long", "float", "double")),
    *itertools.product(("or",), ("uint", "int", "ulong", "long")),
    *itertools.product(("add",), ("int", "ulong", "long", "float", "double")),
]


def check_group(device, operator, kind, size):
    """bfs-merrill 3: scans of a group of any size, and of pairs (affine maps), by a slow one."""
    dtype = DTYPES[kind]
    n = GROUPS * size
    width = 2 if kind == "uint2" else 1
    random = np.random.default_rng(size)
    values = random.integers(0, 100, (n, width)).astype(dtype)
    if operator == "latest":
        values[random.random(n) < 0.6] = 0
    memory = Memory(device)
    source = memory.upload("values", values)
    outputs = [
        memory.allocate(name, n * width * copies, dtype)
        for name, copies in (("exclusive", 1), ("inclusive", 1), ("totals", 3))
    ]
    places = memory.allocate("places", n, np.uint32)
    program = load(
        device, "group_check.cl", folders=(KERNELS,), group_size=size, operator=operator, type=kind
    )
    kernel = program.kernel("group_check")
    item = size // 3
    wait(kernel.launch(n, size, source, np.uint32(item), *outputs, places))
    exclusive, inclusive, totals = (rows(output.read(), kind) for output in outputs)
    expected = [folded(part, operator, kind) for part in np.split(values, GROUPS)]
    starts = [identity(operator, kind)]
    assert exclusive == [x for part in expected for x in (starts + part)[:-1]]
    assert inclusive == [x for part in expected for x in part]
    assert totals == [part[-1] for part in expected for _ in range(size)] * 3
    np.testing.assert_array_equal(places.read(), np.arange(n) // size * size + item)


@pytest.mark.parametrize(("operator", "kind"), FEW)
def test_collectives(device, operator, kind):
    check_group(device, operator, kind, group_size(device.traits))


@pytest.mark.parametrize(("operator", "kind"), MANY)
def test_collectives_of_every_type(intel, operator, kind):
    check_group(intel, operator, kind, 4 * intel.traits.lanes)


@pytest.mark.parametrize(("operator", "kind"), FEW)
def test_one_sub_group_and_many(intel, operator, kind):
    check_group(intel, operator, kind, intel.traits.lanes)
    check_group(intel, operator, kind, min(512, intel.traits.max_group_size))


def test_more_lane_groups_than_lanes(pocl):
    assert pocl.traits.lanes == 1
    check_group(pocl, "affine", "uint2", 64)


@pytest.mark.parametrize(("lane_ops", "lanes", "size"), [("khr", 16, 24), ("local", 8, 16)])
def test_a_group_that_does_not_fit_the_lanes_is_refused(any_device, lane_ops, lanes, size):
    traits = dataclasses.replace(
        any_device.traits, lane_ops=lane_ops, lanes=lanes, emulated=lane_ops == "local"
    )
    params = {"traits": traits, "group_size": size, "operator": "add", "type": "uint"}
    with pytest.raises(KernelBuildError, match=f"work-group of {size} does not fit {lanes}"):
        render("group_check.cl", params, (KERNELS,))


@pytest.mark.parametrize("way", ["ordered", "unordered"])
@pytest.mark.runtimes("pocl", "pocl+lanes32", "intel")
def test_ranks_in_order_and_in_any(way, device):
    """bfs-helix 20 (its dimension D9): ordered, unordered and binary scans of a work-group.

    Unordered ranks are those of the SIMD groups in some order, each group's own in order; across
    work-groups queues are reserved in the same way, see test_primitives_traversal.py.
    """
    size, lanes = group_size(device.traits), device.traits.lanes
    sizes = np.random.default_rng(9).integers(0, 5, GROUPS * size, dtype=np.uint32)
    sizes[size // 2 : size] = 0
    memory = Memory(device)
    ranks = memory.allocate("ranks", 4 * sizes.size, np.uint32)
    balance = Cws(group_scan=way)
    wide = {"group_size": size, "lanes": lanes, "balance": balance, "wide_offsets": False}
    program = load(device, "ranks_check.cl", folders=(KERNELS,), config=SimpleNamespace(**wide))
    kernel = program.kernel("check_ranks")
    wait(kernel.launch(sizes.size, size, memory.upload("sizes", sizes), ranks))
    for mine, found in zip(np.split(sizes, GROUPS), np.split(ranks.read(), GROUPS), strict=True):
        ordered, unordered, binary, total = found.reshape(-1, 4).T
        np.testing.assert_array_equal(ordered, np.cumsum(mine) - mine)
        np.testing.assert_array_equal(total, mine.sum())
        units = np.repeat(unordered, mine) + np.arange(mine.sum()) - np.repeat(ordered, mine)
        np.testing.assert_array_equal(np.sort(units), np.arange(mine.sum()))
        for begin in range(0, size, lanes):
            here = slice(begin, begin + lanes)
            within = np.cumsum(mine[here]) - mine[here]
            if mine[here].any():
                np.testing.assert_array_equal(unordered[here] - unordered[here][0], within)
            odd = mine[here] & 1
            np.testing.assert_array_equal(binary[here], np.cumsum(odd) - odd)


CHECK_HERE = """
import sys
sys.path.insert(0, "tests")
from clgraph.device import device as find_device
from unit import test_primitives_group as tests

device = find_device()
for operator, kind in tests.FEW:
    tests.check_group(device, operator, kind, 1)
    tests.check_group(device, operator, kind, 8)
    tests.check_group(device.emulating(8), operator, kind, 8)
"""


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
def test_collectives_touch_nothing_they_should_not(check, tmp_path):
    run_under_oclgrind(CHECK_HERE, log_folder=tmp_path, checks=(check,))


@pytest.mark.gpu
@pytest.mark.parametrize(("operator", "kind"), MANY)
def test_collectives_on_a_gpu(gpu, operator, kind):
    for size in (32, 256, 1024):
        check_group(gpu, operator, kind, size)
