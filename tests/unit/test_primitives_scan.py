"""Device-wide scan, reduction and compaction against slow references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runtimes import OCLGRIND_CHECKS, run_under_oclgrind
from unit.primitives_reference import KINDS, folded, identity, rows

from clgraph.device import Memory
from clgraph.device import device as find_device
from clgraph.errors import InvalidArgumentError
from clgraph.primitives import compact, exclusive_scan, launches, reduce, scanning, stages

# Nothing, one element, one SIMD group, a tile, several work-groups; each with its neighbours.
SIZES = [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 5001]
DTYPES = [np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64]
LARGE = 200_003


def affine_maps(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**32, (n, 2), dtype=np.uint32)


def check_scan(device, values, operator):
    kind = "uint2" if values.ndim == 2 else KINDS[values.dtype]
    expected = [identity(operator, kind), *folded(values, operator, kind)]
    scanned = exclusive_scan(values, operator=operator, device=device)
    assert scanned.shape == values.shape
    assert scanned.dtype == values.dtype
    assert rows(scanned, kind) == expected[:-1]
    total = reduce(values, operator=operator, device=device)
    assert rows(np.asarray(total), kind) == expected[-1:]


def check_compact(device, values, mask):
    kept = compact(values, mask, device=device)
    assert kept.dtype == values.dtype
    np.testing.assert_array_equal(kept, values[np.asarray(mask) != 0])


def check_scans(device, sizes):
    random = np.random.default_rng(1)
    for n in sizes:
        check_scan(device, random.integers(0, 2**32, n, dtype=np.uint32), "add")
        check_scan(device, affine_maps(n), "affine")


def check_sizes(device, sizes):
    check_scans(device, sizes)
    random = np.random.default_rng(1)
    for n in sizes:
        check_compact(device, random.integers(0, 2**32, n, dtype=np.uint32), random.random(n) < 0.4)


def test_all_sizes(device):
    check_sizes(device, SIZES)


@pytest.mark.parametrize("in_place", [False, True])
def test_arrays_on_the_device(in_place, device, monkeypatch):
    """By one group as far as elements are few, and else in a sweep or three launches."""
    for name in ("FEW", "CPU_FEW"):
        monkeypatch.setattr(scanning, name, 1025)
    memory, random = Memory(device), np.random.default_rng(5)
    scan = scanning.Scan(device, np.uint32)
    for n in (*SIZES, 20_000):
        log = stages.Last()
        values = random.integers(0, 2**32, n + 3, dtype=np.uint32)
        held = memory.upload("values", values)
        scanned = held if in_place else memory.upload("scanned", values)
        total = scan.enqueue(log, held, n, scanned)
        log.wait()
        sums = np.cumsum(values[:n], dtype=np.uint32)
        expected = np.concatenate([np.zeros(min(n, 1), np.uint32), sums[:-1], values[n:]])
        np.testing.assert_array_equal(scanned.read(), expected)
        assert total.read()[0] == (sums[-1] if n else 0)
    many = "scan_sweep" if device.traits.lanes > 1 else "scan_apply"
    assert {key[1] for key in scan._kernels} >= {"scan_few", many}


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_types(intel, dtype):
    random = np.random.default_rng(2)
    values = random.integers(0, 100, 3000).astype(dtype)
    whole = np.dtype(dtype).kind != "f"
    if whole:
        values[::7] = np.iinfo(dtype).max
    for operator in ("add", "min", "max", "or") if whole else ("add", "min", "max"):
        check_scan(intel, values, operator)


def test_min_and_max_of_nothing_are_their_identities(any_device):
    empty = np.empty(0, np.float32)
    assert reduce(empty, operator="min", device=any_device) == np.inf
    assert reduce(empty.astype(np.int64), operator="max", device=any_device) == -(2**63)
    nothing = reduce(np.empty((0, 2), np.uint32), operator="affine", device=any_device)
    assert nothing.tolist() == [1, 0]


def test_sums_of_floats_are_the_same_every_time(any_device):
    values = np.random.default_rng(3).normal(size=LARGE).astype(np.float32)
    first = exclusive_scan(values, device=any_device)
    np.testing.assert_array_equal(exclusive_scan(values, device=any_device), first)
    exact = np.cumsum(values, dtype=np.float64) - values
    np.testing.assert_allclose(first, exact, atol=0.05)


def test_many_elements(device):
    values = np.random.default_rng(4).integers(0, 2**32, LARGE, dtype=np.uint32)
    expected = np.cumsum(values, dtype=np.uint32)
    np.testing.assert_array_equal(exclusive_scan(values, device=device), expected - values)
    assert reduce(values, device=device) == expected[-1]
    check_compact(device, values, values % 3 == 0)


def test_positions_of_64_bits(intel, monkeypatch):
    monkeypatch.setattr(launches, "UINT_POSITIONS", 10)
    assert launches.Run(intel, 10).index is np.uint64
    check_sizes(intel, [9, 10, 1000])


@pytest.mark.parametrize("fraction", [0, 0.001, 0.5, 1])
def test_compaction_keeps_the_order(any_device, fraction):
    mask = np.random.default_rng(5).random(20_000) < fraction
    mask[:5] = fraction == 1
    check_compact(any_device, np.arange(20_000, dtype=np.uint32), mask)


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "f4", "i8", "f8", "c16", "M8[s]", "S4", [("a", "u4"), ("b", "f4")]]
)
def test_compaction_moves_any_plain_type(intel, dtype):
    values = np.random.default_rng(6).integers(0, 255, 1000 * 16, dtype=np.uint8)
    values = values[: 1000 * np.dtype(dtype).itemsize].view("u1")
    values = (values % 2 if dtype == "?" else values).view(dtype)
    kept = compact(values, np.arange(1000) % 3, device=intel)
    assert kept.dtype == values.dtype
    assert kept.tobytes() == values[np.arange(1000) % 3 != 0].tobytes()


def test_masks_are_any_numbers(any_device):
    for mask in ([0, 2, 0, -1], [0.0, 0.5, 0.0, np.inf], [False, True, False, True]):
        assert compact([1, 2, 3, 4], mask, device=any_device).tolist() == [2, 4]


@pytest.mark.parametrize("n", [15, 16, 17, 4099])
def test_any_bit_of_a_byte_keeps(any_device, n):
    """Sixteen bytes of a mask are counted at a time; of each, one bit of eight is set."""
    random = np.random.default_rng(8)
    mask = (1 << random.integers(0, 8, n)).astype(np.uint8) * (random.random(n) < 0.5)
    memory, values = Memory(any_device), np.arange(n, dtype=np.uint32)
    given, kept = memory.upload("given", values), memory.allocate("kept", n, np.uint32)
    stage, log = scanning.Compaction(any_device), stages.Last()
    total = stage.enqueue(log, memory.upload("mask", mask.astype(np.uint8)), n, (given, kept))
    log.wait()
    wanted = values[mask != 0]
    assert total.read().tolist() == [len(wanted)]
    np.testing.assert_array_equal(kept.read(len(wanted)), wanted)


def test_strided_and_read_only_arrays(any_device):
    values = np.arange(100, dtype=np.uint32)
    values.flags.writeable = False
    check_scan(any_device, values[::-3], "add")
    check_scan(any_device, affine_maps(40)[::2], "affine")
    check_compact(any_device, values[::2], values[1::2] % 4 == 1)
    assert exclusive_scan(values.astype(">u4"), device=any_device).tolist()[:3] == [0, 0, 1]


@settings(max_examples=40, deadline=None)
@given(maps=st.lists(st.tuples(*[st.integers(0, 2**32 - 1)] * 2), max_size=300))
def test_compositions_of_any_affine_maps(maps):
    values = np.array(maps, np.uint32).reshape(-1, 2)
    check_scan(find_device("cpu"), values, "affine")


@pytest.mark.parametrize(
    ("values", "operator", "message"),
    [
        ([1, 2], "xor", "there is no operator 'xor'; use one of add, min, max, or, affine"),
        ([1, 2], "latest", "there is no operator 'latest'"),
        (np.ones(3, np.float32), "or", "needs integers; got float32"),
        (np.ones(3, np.float16), "add", "got float16 of shape .3,.. Convert with astype"),
        (np.ones(3, bool), "add", "got bool"),
        (np.ones((3, 2), np.uint32), "add", r"one-dimensional .* of shape \(3, 2\)"),
        (np.ones(3, np.uint32), "affine", r"needs uint32 of shape \(n, 2\)"),
        (np.ones((3, 2), np.int64), "affine", "got int64"),
        ([None, 1], "add", "got object"),
        (7, "add", r"of shape \(\)"),
    ],
)
def test_what_cannot_be_scanned_is_refused(any_device, values, operator, message):
    for function in (exclusive_scan, reduce):
        with pytest.raises(InvalidArgumentError, match=message):
            function(values, operator=operator, device=any_device)


@pytest.mark.parametrize(
    ("values", "mask", "message"),
    [
        ([1, 2, 3], [1, 0], r"shapes are \(3,\) and \(2,\)"),
        ([[1, 2]], [[1, 0]], r"shapes are \(1, 2\)"),
        (5, 1, r"shapes are \(\)"),
        ([None, "a"], [1, 0], "object is none of these"),
        (np.zeros(2, "S3"), [1, 0], "S3 is none of these"),
        ([1, 2], ["a", "b"], "booleans or numbers"),
        ([1, 2], [None, 1], "booleans or numbers"),
    ],
)
def test_what_cannot_be_compacted_is_refused(any_device, values, mask, message):
    with pytest.raises(InvalidArgumentError, match=message):
        compact(values, mask, device=any_device)


# Oclgrind goes on taking words for uninitialised that kernels wrote, if the host wrote only a part
# of their buffer before, as the allocator does.
CHECK_HERE = """
import sys
sys.path.insert(0, "tests")
from clgraph.device import Memory, device as find_device, wait
import numpy as np
from clgraph.primitives import scanning
from clgraph.device.lazy import cl
from unit import test_primitives_scan as tests

device = find_device()

def cleared(self, size):
    zeros = np.zeros(size, np.uint8)
    buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size)
    wait(cl.enqueue_copy(device.queue, buffer, zeros, is_blocking=False))
    return buffer

Memory._commit = cleared
tests.check_sizes(device, [0, 1, 3, 65])
tests.check_scans(device.emulating(8), [1, 33, 150])
"""
# It also takes the result of an atomic for uninitialised.
SWEPT_HERE = (
    CHECK_HERE
    + """
scanning.FEW = scanning.CPU_FEW = -1
tests.check_sizes(device, [3, 65])
tests.check_sizes(device.emulating(8), [1, 33, 150])
"""
)


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
def test_scans_touch_nothing_they_should_not(check, tmp_path):
    code = SWEPT_HERE if check == "DATA_RACES" else CHECK_HERE
    run_under_oclgrind(code, log_folder=tmp_path, checks=(check,))


@pytest.mark.gpu
def test_all_sizes_on_a_gpu(gpu):
    check_sizes(gpu, SIZES)
    check_sizes(gpu, [1_000_003])


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_types_on_a_gpu(gpu, dtype):
    test_all_types(gpu, dtype)
