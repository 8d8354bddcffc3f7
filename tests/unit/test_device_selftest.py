"""Whether a device can build kernels is tried once, and remembered only where it can."""

import pytest

from clgraph.device import selftest
from clgraph.device.programs import compiling
from clgraph.device.selftest import build_trouble, trouble_of
from clgraph.errors import KernelBuildError


@pytest.fixture
def tried(monkeypatch, tmp_path):
    """Sources that were built to try a device, in a cache folder of its own."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    sources = []
    build = compiling.try_building

    def noting(device, source):
        sources.append(source)
        build(device, source)

    monkeypatch.setattr(compiling, "try_building", noting)
    return sources


@pytest.mark.runtimes("pocl", "intel")
def test_a_device_that_builds_is_tried_once(device, tried):
    assert build_trouble(device) is None
    assert build_trouble(device) is None
    assert len(tried) == 1


def test_devices_are_remembered_apart(pocl, intel, tried):
    assert build_trouble(pocl) is None
    assert build_trouble(intel) is None
    assert len(tried) == 2


def test_a_processor_with_another_name_is_tried_again(pocl, tried, monkeypatch):
    assert build_trouble(pocl) is None
    monkeypatch.setattr(pocl, "built_for", "x86-64-v9")
    assert build_trouble(pocl) is None
    assert len(tried) == 2


def test_a_failure_is_told_and_not_remembered(any_device, monkeypatch, tmp_path):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    (tmp_path / "broken.cl").write_text("kernel void f() { nonsense; }")
    with monkeypatch.context() as broken:
        broken.setattr(selftest, "KERNEL", tmp_path / "broken.cl")
        assert "nonsense" in build_trouble(any_device)
    assert not list((tmp_path / "tested").rglob("*.json"))
    assert build_trouble(any_device) is None


def test_a_driver_that_fails_otherwise_is_trouble_too(any_device, tried, monkeypatch):
    def fail(*_):
        raise KernelBuildError("the driver has no assembler")

    monkeypatch.setattr(compiling, "try_building", fail)
    assert build_trouble(any_device) == "the driver has no assembler"
    assert not tried


@pytest.mark.parametrize("damage", ["garbage", "emptied", "unwritable"])
def test_what_is_remembered_may_be_damaged(any_device, tried, tmp_path, damage):
    folder = tmp_path / "cache" / "tested"
    if damage == "unwritable":
        folder.parent.mkdir()
        folder.write_text("")
    assert build_trouble(any_device) is None
    for entry in folder.glob("*.json"):
        entry.write_text("{" if damage == "garbage" else "")
    assert build_trouble(any_device) is None
    assert len(tried) == 2


def test_emulation_is_in_the_trouble_of_its_hardware(pocl, monkeypatch):
    monkeypatch.setattr(selftest, "_found_out", {pocl: "made up"}.get)
    assert trouble_of(pocl.emulating(8)) == "made up"


def test_simulators_are_not_tried(any_device, tried, monkeypatch):
    monkeypatch.setattr(any_device, "is_simulator", True)
    assert build_trouble(any_device) is None
    assert not tried
