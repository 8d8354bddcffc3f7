"""Which devices are found, and which one a name means."""

import ctypes
import logging
import os
import shutil
import stat
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest
from interruption import interrupt, places
from runtimes import INTEL, OCLGRIND, POCL, clean_environment, driver_library, run_python

from clgraph.device import choosing, devices, discovery, discovery_report, drivers
from clgraph.device import device as find_device
from clgraph.device.drivers import Registration
from clgraph.errors import DeviceNotFoundError, InvalidArgumentError


class FakePlatform:
    def __init__(self, name, vendor="someone", version="OpenCL 3.0"):
        self.name, self.vendor, self.version = name, vendor, version


class FakeHandle:
    """As much of pyopencl.Device as choosing one needs."""

    available = compiler_available = endian_little = True
    driver_version = "1"

    def __init__(self, name, vendor, platform, kind, *, shares_host_memory=False):
        self.name, self.vendor, self.platform = name, vendor, platform
        self.type = {"cpu": 2, "gpu": 4, "all": 14}[kind]
        self.host_unified_memory = shares_host_memory


NVIDIA = FakeHandle("NVIDIA H200", "NVIDIA Corporation", FakePlatform("NVIDIA CUDA"), "gpu")
ARC = FakeHandle(
    "Intel(R) Iris(R)",
    "Intel(R) Corporation",
    FakePlatform("Intel(R) OpenCL Graphics", "Intel(R) Corporation"),
    "gpu",
    shares_host_memory=True,
)
INTEL_CPU = FakeHandle(
    "Intel(R) Xeon(R)",
    "Intel(R) Corporation",
    FakePlatform("Intel(R) OpenCL", "Intel(R) Corporation"),
    "cpu",
)
POCL_ON_INTEL = FakeHandle(
    "pthread-Intel(R) Xeon(R)",
    "GenuineIntel",
    FakePlatform("Portable Computing Language", "The pocl project"),
    "cpu",
)
SIMULATOR = FakeHandle(
    "Oclgrind Simulator", "University of Bristol", FakePlatform("Oclgrind", "Oclgrind"), "all"
)


@pytest.fixture
def machine(monkeypatch):
    """A function that replaces the devices of this machine by others."""

    def install(*handles, left_out=(), broken=MappingProxyType({})):
        found = [discovery.Device(handle, (i, 0)) for i, handle in enumerate(handles)]
        found.sort(key=discovery._rank)
        there = discovery.Inventory(tuple(found), (), tuple(left_out))
        monkeypatch.setattr(discovery, "inventory", lambda: there)
        monkeypatch.setattr(discovery.Device, "traits", property(_traits_of))
        said = SimpleNamespace(trouble_of=lambda found: broken.get(found.cl))
        monkeypatch.setattr(choosing, "selftest", said)
        for known in ("_chosen", "_passed_over"):  # which readers of files and warnings go by
            monkeypatch.setattr(choosing, known, set())

    monkeypatch.delenv("CLGRAPH_DEVICE", raising=False)
    return install


def _traits_of(found):
    class Traits:
        is_cpu = bool(found.cl.type & 2) and not found.is_simulator

    return Traits


EVERYTHING = (SIMULATOR, INTEL_CPU, POCL_ON_INTEL, ARC, NVIDIA)


def test_devices_come_best_first(machine):
    machine(*EVERYTHING)
    names = [found.cl for found in devices()]
    assert names == [NVIDIA, ARC, POCL_ON_INTEL, INTEL_CPU, SIMULATOR]


@pytest.mark.parametrize(
    ("handles", "chosen"),
    [
        (EVERYTHING, NVIDIA),
        ((SIMULATOR, INTEL_CPU, POCL_ON_INTEL), POCL_ON_INTEL),
        ((SIMULATOR, INTEL_CPU), INTEL_CPU),
    ],
)
def test_default_is_gpu_then_pocl_then_any(machine, handles, chosen):
    machine(*handles)
    assert find_device().cl is chosen


@pytest.mark.parametrize(
    ("spec", "chosen"),
    [
        ("nvidia", NVIDIA),
        ("NVIDIA", NVIDIA),
        (" h200 ", NVIDIA),
        ("gpu", NVIDIA),
        ("cpu", POCL_ON_INTEL),
        ("pocl", POCL_ON_INTEL),
        ("portable", POCL_ON_INTEL),
        ("graphics", ARC),
        ("oclgrind", SIMULATOR),
        ("4:0", NVIDIA),
        ("0:0", SIMULATOR),
    ],
)
def test_device_by_name(machine, spec, chosen):
    machine(*EVERYTHING)
    assert find_device(spec).cl is chosen


def test_intel_means_its_own_runtime_and_not_pocl_on_its_processor(machine):
    machine(POCL_ON_INTEL, INTEL_CPU)
    assert find_device("intel").cl is INTEL_CPU


BROKEN = MappingProxyType({POCL_ON_INTEL: "unknown target CPU 'generic'"})


@pytest.mark.parametrize(
    ("spec", "chosen"),
    [(None, INTEL_CPU), ("cpu", INTEL_CPU), ("xeon", INTEL_CPU), ("intel", INTEL_CPU)],
)
def test_a_device_that_cannot_build_is_passed_over(machine, spec, chosen, caplog, monkeypatch):
    monkeypatch.setattr(choosing, "_passed_over", set())
    machine(SIMULATOR, INTEL_CPU, POCL_ON_INTEL, broken=BROKEN)
    assert find_device(spec).cl is chosen
    assert find_device(spec).cl is chosen
    said = [record.message for record in caplog.records]
    assert len(said) == (spec != "intel")
    assert all("Portable" in text and "unknown target CPU 'generic'" in text for text in said)


@pytest.mark.parametrize("spec", [None, "cpu", "pocl", "1:0", "pocl+lanes8"])
def test_where_none_can_build_two_sentences_say_what_to_install(machine, spec):
    machine(SIMULATOR, POCL_ON_INTEL, broken=BROKEN)
    with pytest.raises(DeviceNotFoundError) as caught:
        find_device(spec)
    wrong, install = str(caught.value).split("generic'. ")
    assert wrong.startswith("no kernel can be built for pthread-Intel(R) Xeon(R) (Portable")
    for way in ("clgraph[intel]", "Debian's pocl-opencl-icd", "conda-forge"):
        assert way in install
    assert install.count(". ") == 0


def test_a_gpu_that_cannot_build_is_not_replaced_where_one_was_asked_for(machine):
    machine(NVIDIA, POCL_ON_INTEL, broken={NVIDIA: "no assembler"})
    assert find_device().cl is POCL_ON_INTEL
    with pytest.raises(DeviceNotFoundError, match="no assembler"):
        find_device("gpu")


@pytest.mark.parametrize("maker", ["intel", "Intel"])
def test_pocl_does_not_stand_in_for_the_maker_of_its_processor(machine, maker):
    machine(POCL_ON_INTEL)
    with pytest.raises(DeviceNotFoundError, match="there are: 0:0 pthread-Intel"):
        find_device(maker)
    assert find_device("xeon").cl is POCL_ON_INTEL


def test_simulator_is_given_only_by_name(machine):
    machine(SIMULATOR)
    for spec in (None, "gpu", "cpu", "bristol", "simulator"):
        with pytest.raises(DeviceNotFoundError, match="0:0 Oclgrind Simulator"):
            find_device(spec)
    assert find_device("oclgrind").is_simulator
    assert not find_device("oclgrind").is_gpu


def test_gpu_is_never_replaced_by_a_cpu(machine):
    machine(POCL_ON_INTEL, INTEL_CPU)
    with pytest.raises(DeviceNotFoundError, match=r"'gpu'; there are: 0:0 pthread.*1:0 Intel"):
        find_device("gpu")


def test_variable_chooses_and_is_named_in_errors(machine, monkeypatch):
    machine(*EVERYTHING)
    monkeypatch.setenv("CLGRAPH_DEVICE", "pocl")
    assert find_device().cl is POCL_ON_INTEL
    assert find_device("nvidia").cl is NVIDIA
    monkeypatch.setenv("CLGRAPH_DEVICE", "radeon")
    with pytest.raises(DeviceNotFoundError, match=r"'radeon' \(from CLGRAPH_DEVICE\)"):
        find_device()


def test_no_device_says_what_to_install(machine):
    machine()
    for spec in (None, "gpu", "nvidia"):
        with pytest.raises(DeviceNotFoundError, match=r"pip install clgraph\[cpu\]"):
            find_device(spec)


@pytest.mark.parametrize("spec", ["9:9", "0:1", "-1:0", "a:b", "no such device", "'; rm -rf /"])
def test_device_that_is_not_there(machine, spec):
    machine(*EVERYTHING)
    with pytest.raises(DeviceNotFoundError, match="there are: "):
        find_device(spec)


@pytest.mark.parametrize("spec", ["pocl+lanes", "pocl+8", "pocl+lanes7", "pocl+lanes128", "pocl+"])
def test_malformed_emulation(spec, pocl):
    assert pocl.traits.lane_ops == "scalar"
    with pytest.raises(InvalidArgumentError, match="lanes"):
        find_device(spec)


@pytest.mark.parametrize("spec", [1, 2.5, ["gpu"], b"gpu"])
def test_device_of_a_wrong_type(spec):
    with pytest.raises(InvalidArgumentError, match="must be a Device, a string or None"):
        find_device(spec)


def test_device_is_given_back_as_it_is(pocl):
    assert find_device(pocl) is pocl


def test_emulation_shares_everything_but_the_traits(pocl):
    emulating = find_device("pocl+lanes8")
    assert emulating.traits.lane_ops == "local"
    assert emulating.traits.lanes == 8
    assert emulating.context is pocl.context
    assert emulating.queue is pocl.queue
    assert emulating.ledger is pocl.ledger
    assert emulating != pocl
    assert emulating == pocl.emulating(8)
    assert emulating.emulating(32) == pocl.emulating(32)
    assert len({emulating, pocl, pocl.emulating(8)}) == 2


def test_traits_of_pocl(pocl):
    traits = pocl.traits
    assert (traits.lanes, traits.lane_ops, traits.memory_ops) == (1, "scalar", "plain")
    assert traits.is_cpu
    assert not traits.grid_barrier
    assert traits.compute_capability is None
    assert traits.compute_units >= 1
    assert traits.max_alloc_bytes <= traits.global_bytes


def test_traits_of_intel(intel):
    traits = intel.traits
    assert (traits.lanes, traits.lane_ops, traits.memory_ops) == (16, "khr", "c11")
    assert "-cl-std=CL3.0" in traits.build_options
    assert traits.is_cpu
    assert not traits.grid_barrier


def test_import_touches_no_driver():
    run_python(
        """
        import sys
        import clgraph, clgraph.device
        assert "pyopencl" not in sys.modules
        assert "mako" not in sys.modules
        maps = open("/proc/self/maps").read()
        assert "OpenCL" not in maps and "pocl" not in maps
        """
    )


def found_names(**changes):
    """Names of the platforms that a process of its own finds."""
    script = "import clgraph as cg\nfor x in cg.devices(): print(x.platform)"
    return run_python(script, env=clean_environment(**changes)).stdout.split("\n")


def test_pip_drivers_are_found_without_any_setting():
    driver_library(*INTEL)
    driver_library(*POCL)
    names = found_names()
    assert names[0] == "Portable Computing Language"
    assert "Intel(R) OpenCL" in names


def test_own_setting_of_the_loader_is_respected():
    names = found_names(OCL_ICD_VENDORS=str(driver_library(*POCL)))
    assert names == ["Portable Computing Language", ""]


def test_works_without_a_home_folder(tmp_path):
    driver_library(*INTEL)
    home = tmp_path / "not-a-folder"
    home.write_text("")
    env = clean_environment(HOME=str(home))
    for name in ("CLGRAPH_CACHE_DIR", "POCL_CACHE_DIR", "XDG_CACHE_HOME"):
        env.pop(name, None)
    done = run_python(
        """
        import numpy as np
        from clgraph.device import device as find_device, Memory, wait
        from clgraph.device.programs.program import build
        source = "kernel void set(global uint *a) { a[get_global_id(0)] = 7; }"
        for spec in ("intel", "pocl"):
            device = find_device(spec)
            array = Memory(device).allocate("a", 4, np.uint32)
            kernel = build(device, source, label="set.cl").kernel("set")
            wait(kernel.launch(4, 4, array))
            assert (array.read() == 7).all()
        """,
        env=env,
    )
    assert not done.stdout


def test_an_empty_variable_of_pyopencl_is_none():
    """Its import failed over one, which to a shell is as good as not set."""
    run_python(
        """
        import clgraph as cg
        assert cg.devices()
        """,
        env=clean_environment(PYOPENCL_NO_CACHE=""),
    )


def test_environment_is_put_back_after_the_first_call():
    run_python(
        """
        import os
        from clgraph.device import devices
        assert devices()
        assert "OCL_ICD_VENDORS" not in os.environ
        """
    )


def test_processes_that_start_together_find_the_same(tmp_path):
    driver_library(*INTEL)
    run_python(
        """
        import subprocess, sys
        code = "from clgraph.device import devices; print(len(devices()))"
        children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
                    for _ in range(4)]
        counts = {child.communicate()[0] for child in children}
        assert len(counts) == 1 and counts != {b"0\\n"}, counts
        """,
        env=clean_environment(CLGRAPH_CACHE_DIR=str(tmp_path / "cache")),
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


ENTRIES = [Registration("a.icd", "liba.so"), Registration("nvidia.icd", "libnvidia-opencl.so.1")]


def test_registration_folder_holds_every_driver(cache):
    folder = drivers.registration_folder(ENTRIES)
    assert folder.is_relative_to(cache)
    assert drivers.icd_files(folder) == ENTRIES
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert drivers.registration_folder(ENTRIES) == folder
    assert drivers.registration_folder(ENTRIES[:1]) != folder
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".new")]


def test_registration_folder_that_was_tampered_with_is_not_used(cache, caplog):
    folder = drivers.registration_folder(ENTRIES)
    (folder / "evil.icd").write_text("libevil.so\n")
    with caplog.at_level(logging.WARNING, "clgraph"):
        other = drivers.registration_folder(ENTRIES)
    assert not other.is_relative_to(cache)
    assert drivers.icd_files(other) == ENTRIES
    assert len(caplog.records) == 1


def test_registration_folder_that_others_can_write_to_is_not_used(cache):
    folder = drivers.registration_folder(ENTRIES)
    folder.chmod(0o777)
    assert not drivers.registration_folder(ENTRIES).is_relative_to(cache)


# A file that was just being opened is closed by its destructor, which says so.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("opcodes", [False, True])
@pytest.mark.parametrize("trusted", [True, False])
def test_no_folder_stays_where_making_one_is_interrupted(trusted, opcodes, tmp_path, monkeypatch):
    """What is not in the cache goes with the process."""
    temporary, home, at_exit = tmp_path / "temporary", tmp_path / "home", set()
    monkeypatch.setattr(drivers.atexit, "register", lambda _, path, **__: at_exit.add(path))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(home / "cache"))

    def fresh():
        for folder in (temporary, home):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        if not trusted:
            (home / "cache").write_text("is no folder")

    make = partial(drivers.registration_folder, ENTRIES)
    fresh()
    for place in places(make, opcodes=opcodes):
        if "in drivers.py" not in str(place):
            continue  # what it calls fails as a whole
        fresh()
        interrupt(make, place, opcodes=opcodes)
        assert not list(home.rglob(".new*")), place
        assert set(temporary.iterdir()) <= at_exit, place
        assert drivers.icd_files(make()) == ENTRIES, place


def test_unregistered_drivers(monkeypatch, tmp_path):
    monkeypatch.setattr(drivers, "SYSTEM_VENDORS", tmp_path)
    monkeypatch.delenv("OPENCL_VENDOR_PATH", raising=False)
    monkeypatch.setattr(drivers, "dlopen_error", lambda _: None)
    monkeypatch.setattr(drivers, "intel_library", lambda: Path("/v/lib/libintelocl.so"))
    assert drivers.unregistered() == [
        Registration("nvidia.icd", "libnvidia-opencl.so.1"),
        Registration("intel-pip.icd", "/v/lib/libintelocl.so"),
    ]
    (tmp_path / "10-nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    (tmp_path / "intel.icd").write_text("/opt/intel/libintelocl.so\n")
    assert drivers.unregistered() == []


def test_no_registration_without_the_library(monkeypatch, tmp_path):
    monkeypatch.setattr(drivers, "SYSTEM_VENDORS", tmp_path)
    monkeypatch.setattr(drivers, "dlopen_error", lambda library: f"{library}: not found")
    monkeypatch.setattr(drivers, "intel_library", lambda: None)
    assert drivers.unregistered() == []


def test_system_drivers_stay_visible(monkeypatch, tmp_path, cache):
    system = tmp_path / "vendors"
    system.mkdir()
    (system / "amd.icd").write_text("libamdocl64.so\n")
    (system / "broken.icd").write_bytes(b"\xff\xfe\x00")
    monkeypatch.setattr(drivers, "SYSTEM_VENDORS", system)
    monkeypatch.setattr(drivers, "unregistered", lambda: ENTRIES[1:])
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    monkeypatch.delenv("OPENCL_VENDOR_PATH", raising=False)
    with drivers.announced():
        seen = drivers.icd_files(Path(seen_by_libraries("OCL_ICD_VENDORS")))
    assert seen == [Registration("amd.icd", "libamdocl64.so"), ENTRIES[1]]
    assert "OCL_ICD_VENDORS" not in os.environ
    assert Path(cache, "drivers").is_dir()


def seen_by_libraries(variable):
    """Give what the process's variable is to libraries; None where it is not set."""
    ask = ctypes.CDLL(None).getenv
    ask.restype, ask.argtypes = ctypes.c_char_p, [ctypes.c_char_p]
    found = ask(variable.encode())
    return None if found is None else found.decode()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # as above
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("variable", ["OCL_ICD_VENDORS", "POCL_AFFINITY"])
def test_no_variable_stays_where_finding_drivers_is_interrupted(variable, monkeypatch):
    """Children would inherit it; PoCL ends a process that is bound so and may not use all."""
    monkeypatch.setattr(drivers, "unregistered", lambda: ENTRIES)
    monkeypatch.setattr(drivers.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(drivers.os, "sched_getaffinity", lambda _: {0})
    for name in ("OCL_ICD_VENDORS", "POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT"):
        monkeypatch.delenv(name, raising=False)
    seen = []

    def find():
        with drivers.announced(), drivers.one_thread_a_processor():
            seen.append(seen_by_libraries(variable))

    find()
    assert seen[0] is not None
    for place in places(find, opcodes=True):
        interrupt(find, place, opcodes=True)
        assert seen_by_libraries(variable) is None, place
        assert variable not in os.environ, place


def test_report_names_loader_drivers_and_cache():
    report = discovery_report()
    assert "libOpenCL" in report.loader
    assert report.loader_version
    assert report.inventory.devices
    assert any("pocl" in trial.library for trial in report.drivers)
    assert report.cache.problem is None
    assert report.variables["CLGRAPH_CACHE_DIR"] == os.environ["CLGRAPH_CACHE_DIR"]


def test_report_of_a_driver_that_cannot_be_loaded(tmp_path):
    (tmp_path / "ghost.icd").write_text("libghost-of-a-driver.so\n")
    done = run_python(
        """
        from clgraph.device import discovery_report
        for trial in discovery_report().drivers:
            print(trial.source, trial.library, trial.error)
        """,
        env=clean_environment(OCL_ICD_VENDORS=str(tmp_path)),
    )
    assert "ghost.icd libghost-of-a-driver.so libghost-of-a-driver.so: cannot open" in done.stdout


def test_no_driver_at_all_is_reported(tmp_path):
    library = tmp_path / "libnothing.so"
    done = run_python(
        """
        from clgraph.device import device as find_device, discovery_report
        from clgraph.errors import DeviceNotFoundError
        report = discovery_report()
        print(report.drivers[0].error, report.inventory.left_out[0].reason)
        try:
            find_device()
        except DeviceNotFoundError as error:
            print(error)
        """,
        env=clean_environment(OCL_ICD_VENDORS=str(library)),
    )
    assert "libnothing.so: cannot open" in done.stdout
    assert "the loader found no driver" in done.stdout
    assert f"no OpenCL device on this machine with OCL_ICD_VENDORS={library}" in done.stdout


def test_simulator_is_left_for_those_who_name_it():
    library = driver_library(*OCLGRIND)
    done = run_python(
        """
        from clgraph.device import device as find_device
        from clgraph.errors import DeviceNotFoundError
        found = find_device("oclgrind")
        assert found.is_simulator and not found.is_gpu and not found.traits.is_cpu
        assert "-cl-opt-disable" in found.traits.build_options
        try:
            find_device("gpu")
        except DeviceNotFoundError as error:
            print(error)
        """,
        env=clean_environment(OCL_ICD_VENDORS=str(library)),
    )
    assert "no OpenCL device fits 'gpu'" in done.stdout


BOUND = """
import os
from pathlib import Path
from clgraph.device import device as find_device
units = find_device("pocl").traits.compute_units
tasks = Path("/proc/self/task").iterdir()
bound = [len(os.sched_getaffinity(int(task.name))) == 1 for task in tasks]
print(units, sum(bound), "POCL_AFFINITY" in os.environ)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux stacks the threads")
def test_pocl_threads_are_bound_only_where_every_processor_may_be_used(pocl):
    """PoCL aborts the process when it may not bind a thread."""
    assert pocl
    processors = os.cpu_count() or 1
    if processors > 1 and os.sched_getaffinity(0) == set(range(processors)):
        said = run_python(BOUND, env=clean_environment()).stdout.split()
        assert said == [str(processors), str(processors), "False"]
    more = clean_environment(POCL_MAX_PTHREAD_COUNT=str(processors + 3))
    assert run_python(BOUND, env=more).stdout.split()[0] == str(processors + 3)
