"""One contract for the lane and memory vocabularies, whatever flavour a device takes."""

import dataclasses
import re

import numpy as np
import pytest
from runtimes import OCLGRIND_CHECKS, run_under_oclgrind

from clgraph.device.rendering.sources import render, source_folders
from clgraph.primitives import lanes, launches

LANE_WORDS = [
    *("lane_id", "lane_mask_lt", "lane_ballot", "lane_any", "lane_all", "lane_broadcast"),
    *("lane_shuffle", "lane_shuffle_ulong", "lane_shuffle_up", "lane_match_any", "lane_converge"),
    *("lane_scan_exclusive_add", "lane_scan_inclusive_add", "lane_reduce_add", "lane_reduce_min"),
    *("lane_reduce_max", "lane_reduce_or", "lane_reduce_add_ulong", "lane_reduce_min_ulong"),
    *("lanemask_count", "lanemask_first", "lanemask_last", "lane_match_low"),
]
MEMORY_WORDS = [
    *("load_relaxed", "load_acquire", "store_relaxed", "store_release", "fence_device"),
    *("load_relaxed_ulong", "load_acquire_ulong", "store_relaxed_ulong", "store_release_ulong"),
    *("load_streaming", "prefetch_global", "spin_hint"),
]


def failures(device):
    return [found for found in lanes.check_lanes(device) if not found[1]]


def with_traits(device, **changes):
    """Give the same device, whose kernels are rendered for other facts."""
    changed = type(device)(device.cl, device.index)
    changed.context, changed.queue = device.context, device.queue
    changed.traits = dataclasses.replace(device.traits, **changes)
    return changed


def test_every_word_does_what_it_promises(device):
    """bfs-4k F2 and bfs-helix 20: scans of a SIMD group on all of its lanes, among all words."""
    assert failures(device) == []


def test_the_check_covers_every_word(any_device):
    source = render_check(any_device.traits)
    kernel = source[source.index("__kernel") :]
    missing = [word for word in LANE_WORDS + MEMORY_WORDS if not re.search(rf"\b{word}\(", kernel)]
    assert missing == []


@pytest.mark.parametrize("lanes", [8, 32, 64])
def test_sub_groups_of_other_sizes(intel, lanes):
    assert failures(with_traits(intel, lanes=lanes)) == []


def test_masks_of_64_emulated_lanes(intel):
    assert failures(intel.emulating(64)) == []


def test_a_device_without_64_bit_atomics(intel):
    assert failures(with_traits(intel, int64_atomics=False)) == []
    plain = with_traits(intel, int64_atomics=False, memory_ops="plain")
    assert failures(plain) == []


def test_plain_memory_words_beside_sub_groups(intel):
    assert failures(with_traits(intel, memory_ops="plain")) == []


def test_a_wrong_word_is_reported(any_device, monkeypatch, tmp_path):
    traits = any_device.traits
    flavour = f"lanes/{traits.lane_ops}.mako"
    text = (source_folders()[1] / flavour).read_text()
    wrong = text.replace("lane_any(int p) {", "lane_any(int p) { return p == 0; ")
    assert wrong != text
    (tmp_path / "lanes").mkdir()
    (tmp_path / flavour).write_text(wrong)
    load = lanes.load
    monkeypatch.setattr(
        lanes, "load", lambda *args, **params: load(*args, folders=(tmp_path,), **params)
    )
    ((word, passed, difference),) = failures(any_device)
    assert (word, passed) == ("lane_any", False)
    assert re.fullmatch(r"work-item \d+: 0x[01] instead of 0x[01]", difference)


def render_check(traits, **changes):
    traits = dataclasses.replace(traits, **changes)
    size = launches.group_size(traits)
    words = tuple(
        lanes._expected_words(
            np.zeros((1, traits.lanes), np.uint32),
            np.zeros((1, traits.lanes), np.uint32),
            np.zeros(traits.lanes, np.uint64),
        )
    )
    return render(
        "primitives/lanes_check.cl", {"traits": traits, "group_size": size, "words": words}
    )


def declared(source):
    functions = re.findall(r"^(?:static inline|LANE_FUNCTION) .*?\b(\w+)\(", source, re.MULTILINE)
    return set(functions) | set(re.findall(r"^#define (\w+)\(", source, re.MULTILINE))


@pytest.mark.parametrize(
    ("lane_ops", "memory_ops", "lanes", "capability"),
    [
        ("ptx", "ptx", 32, (3, 5)),
        ("ptx", "ptx", 32, (7, 5)),
        ("ptx", "ptx", 32, (9, 0)),
        ("ptx", "ptx", 32, None),
        ("khr", "c11", 16, None),
        ("amdgcn", "amdgcn", 64, None),
        ("amdgcn", "amdgcn", 32, None),
        ("local", "plain", 8, None),
        ("scalar", "plain", 1, None),
    ],
)
def test_every_flavour_declares_every_word(any_device, lane_ops, memory_ops, lanes, capability):
    source = render_check(
        any_device.traits,
        lane_ops=lane_ops,
        memory_ops=memory_ops,
        lanes=lanes,
        compute_capability=capability,
    )
    assert declared(source) >= set(LANE_WORDS + MEMORY_WORDS)
    for macro in ("LANES_KERNEL_ATTRIBUTE", "LANE_PARAMS", "LANE_ARGS", "LANE_SETUP"):
        assert f"#define {macro}" in source
    if lane_ops == "ptx":
        capability = capability or (3, 0)
        assert ("redux.sync" in source) == (capability >= (8, 0))
        assert ("match.any.sync" in source) == (capability >= (7, 0))
        assert ("fence.acq_rel.gpu" in source) == (capability >= (7, 0))


CHECK_HERE = """
from clgraph.device import device as find_device
from clgraph.primitives import check_lanes

device = find_device()
for subject in (device, device.emulating(8)):
    assert [found for found in check_lanes(subject) if not found[1]] == []
"""


@pytest.mark.parametrize("check", OCLGRIND_CHECKS)
def test_words_touch_nothing_they_should_not(check, tmp_path):
    run_under_oclgrind(CHECK_HERE, log_folder=tmp_path, checks=(check,))


@pytest.mark.gpu
def test_every_word_on_a_gpu(gpu):
    assert gpu.traits.lane_ops == "ptx"
    assert failures(gpu) == []


@pytest.mark.gpu
def test_every_word_as_an_older_gpu_has_it(gpu):
    assert failures(with_traits(gpu, compute_capability=(7, 5))) == []
    assert failures(with_traits(gpu, compute_capability=(6, 1))) == []
