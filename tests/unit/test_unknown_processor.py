"""PoCL 3.0 on processors that its compiler does not know: it calls them "generic" and refuses that.

Here the processor may well be known, so a child process gives it that name, in the place where PoCL
itself has it, before clgraph looks at the devices.
"""

import os

import pytest
from runtimes import INTEL, POCL, ROOT, clean_environment, driver_library, run_python

import clgraph as cg
from clgraph.device.hardware import processor

RENAME = f"""
import logging, sys
import pyopencl as cl
from clgraph.device.hardware import processor

sys.path.insert(0, {str(ROOT / "tests" / "renaming")!r})
import renaming
assert renaming.rename(cl.get_platforms(), "CALLED")
logging.basicConfig(level="INFO", format="%(message)s")
"""
needs_highest = pytest.mark.skipif(
    processor.instruction_set_level(processor._flags()).encode() != processor.HIGHEST,
    reason="this processor has no vectors of 512 bits",
)
SEARCH = """
import clgraph as cg
graph = cg.generate.grid2d(9, 7)
result = cg.bfs(graph, 0)
print(graph.n, result.reached, result.depth, cg.device().platform, cg.device().built_for)
"""


@pytest.fixture
def unknown(pocl, tmp_path):
    """A function that runs a script where PoCL alone is found and calls the processor generic."""
    if not processor._is_that_release(pocl.cl):
        pytest.skip("only PoCL 3.0 has this fault")

    def run(script, *, called="generic", **changes):
        env = {
            "POCL_CACHE_DIR": str(tmp_path / "pocl"),
            "CLGRAPH_CACHE_DIR": str(tmp_path / "clgraph"),
            "OCL_ICD_VENDORS": str(driver_library(*POCL)),
            **changes,
        }
        return run_python(RENAME.replace("CALLED", called) + script, env=clean_environment(**env))

    run.folder = tmp_path
    return run


def test_a_search_works_where_the_processor_is_unknown(unknown):
    done = unknown(SEARCH)
    level = processor.instruction_set_level(processor._flags())
    assert done.stdout.split("\n")[0] == f"63 63 14 Portable Computing Language {level}"
    assert done.stderr.count("PoCL 3.0 does not know this processor") == 1


def test_without_the_name_nothing_can_be_built(unknown):
    script = """
from clgraph.device import devices
from clgraph.device.programs.program import build
try:
    build(devices()[0], "kernel void f(global uint *a) { a[0] = 1; }", label="f.cl")
except Exception as error:
    print(error)
"""
    assert "unknown target CPU 'generic'" in unknown(script, CLGRAPH_NAME_PROCESSOR="0").stdout


def test_another_device_is_used_where_no_name_is_given(unknown):
    drivers = unknown.folder / "drivers"  # beside which the loader finds PoCL by itself
    drivers.mkdir()
    (drivers / "intel.icd").write_text(f"{driver_library(*INTEL)}\n")
    done = unknown(SEARCH, CLGRAPH_NAME_PROCESSOR="0", OCL_ICD_VENDORS=str(drivers))
    assert done.stdout.startswith("63 63 14 Intel(R) OpenCL None")
    assert done.stderr.count("is passed over, it cannot build kernels: unknown target CPU") == 1


COMMAND = """
from clgraph.cli.main import main
for words in (["devices"], ["devices", "--json"], ["bfs", "%s"], ["doctor", "--no-self-test"]):
    print("status", main(words), flush=True)
"""


@pytest.mark.rest
def test_commands_say_which_device_cannot_build_and_what_to_install(unknown):
    graph = unknown.folder / "graph.mtx"
    cg.write(cg.generate.path(4), graph)
    done = unknown(COMMAND % graph, CLGRAPH_NAME_PROCESSOR="0")
    assert done.stdout.count("status 3") == 4
    reason = "unknown target CPU 'generic'"
    assert done.stdout.count(f"not used, for it cannot build kernels: {reason}\n") == 2
    assert f'"trouble": "{reason}"' in done.stdout
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("clgraph: ")]
    assert said.startswith("clgraph: no kernel can be built for ")
    assert said.count(". ") == 1
    for way in ("clgraph[intel]", "Debian", "conda-forge"):
        assert way in said
        assert way in done.stdout
    named = unknown(COMMAND % graph)
    assert named.stdout.count("status 0") == 4
    assert named.stdout.count("unknown to this PoCL, which builds for x86-64") == 2


@pytest.mark.rest
def test_levels_do_not_share_what_pocl_has_built(unknown, tmp_path):
    """Another machine with the same home folder may not have the instructions of this one."""
    script = """
processor._flags = lambda: frozenset("{flags}".split())
from clgraph.device import device
from clgraph.device.programs.program import build
found = device()  # which has built a kernel to try it
build(found, "kernel void f(global uint *a) {{ a[0] = 1; }}", label="f.cl")
print(found.built_for)
"""
    for flags, level, built in (("", "x86-64", 2), (X86_64_V2, "x86-64-v2", 4), ("", "x86-64", 4)):
        assert unknown(script.format(flags=flags)).stdout.strip() == level
        assert len(list((tmp_path / "pocl").rglob("program.bc"))) == built


X86_64_V2 = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"
X86_64_V3 = f"{X86_64_V2} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
X86_64_V4 = f"{X86_64_V3} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("", "x86-64"),
        ("fpu sse sse2", "x86-64"),
        (X86_64_V2, "x86-64-v2"),
        (X86_64_V2.replace("popcnt", ""), "x86-64"),
        (X86_64_V3, "x86-64-v3"),
        (X86_64_V3.replace("movbe", ""), "x86-64-v2"),
        (X86_64_V4, "x86-64-v4"),
        (X86_64_V4.replace("avx512vl", ""), "x86-64-v3"),
        (X86_64_V4.replace("ssse3", ""), "x86-64"),
    ],
)
def test_level_follows_the_flags_of_the_processor(flags, level):
    assert processor.instruction_set_level(frozenset(flags.split())) == level


RELEASES = {
    "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF": True,
    "OpenCL 3.0 PoCL 3.0  Linux, Release, LLVM 14.0.0": True,
    "OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, LLVM 15.0.6": False,
    "OpenCL 3.0 PoCL 3.0  Linux, Release, LLVM 13.0.0": False,
    "OpenCL 3.0 PoCL 3.01  Linux, LLVM 14.0.6": False,
    "OpenCL 3.0 PoCL 5.0  Linux, Release, LLVM 14.0.6": False,
    "OpenCL 3.0 CUDA 12.4.1": False,
    "": False,
}


class Handle:
    """As much of pyopencl.Device as is looked at."""

    def __init__(self, version, address=0):
        self.platform = type("Platform", (), {"version": version})
        self.int_ptr = address


@pytest.mark.parametrize("version", RELEASES)
def test_only_that_release_is_looked_into(version, monkeypatch):
    looked = []
    monkeypatch.setattr(processor, "_rename", lambda *given: looked.append(given))
    processor.name_unknown_processor(Handle(version))
    assert bool(looked) is RELEASES[version]


class Memory:
    """An object of words in a file, some of which point to texts in it."""

    def __init__(self, path, words):
        self.path = path
        data = bytearray(2048)
        for index, text in words.items():
            place = 1024 + 64 * len(words) + 64 * index
            data[place : place + len(text) + 1] = text + b"\0"
            data[8 * index : 8 * index + 8] = place.to_bytes(8, "little")
        path.write_bytes(data)

    def rename(self, level=b"x86-64"):
        memory = os.open(self.path, os.O_RDWR)
        try:
            return processor._rename(memory, 0, level)
        finally:
            os.close(memory)


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ({3: b"x86_64-unknown-linux-gnu", 4: b"generic"}, [4]),
        ({3: b"x86_64-unknown-linux-gnu", 4: b"znver3"}, []),
        ({3: b"x86_64-unknown-linux-gnu", 4: b"generic", 7: b"generic"}, []),
        ({3: b"pthread", 4: b"generic"}, []),
        ({4: b"generic"}, []),
        ({3: b"x86_64-unknown-linux-gnu", 4: b"generically"}, []),
        ({}, []),
    ],
)
def test_only_one_pointer_behind_that_to_the_target_is_replaced(tmp_path, words, changed):
    memory = Memory(tmp_path / "memory", words)
    before = memory.path.read_bytes()
    assert memory.rename() is bool(changed)
    after = memory.path.read_bytes()
    differing = {index // 8 for index in range(2048) if before[index] != after[index]}
    assert differing == set(changed)


@pytest.mark.parametrize(
    ("called", "level", "changed"),
    [
        (b"znver3", b"x86-64-v4", True),
        (b"alderlake", b"x86-64-v4", True),
        (b"icelake-server", b"x86-64-v4", False),
        (b"znver3", b"x86-64-v3", False),
        (b"haswell", b"x86-64-v3", False),
        (b"", b"x86-64-v4", False),
    ],
)
def test_a_lesser_name_is_replaced_too(tmp_path, called, level, changed):
    """LLVM 14 takes Zen 4 for Zen 3, and PoCL's own functions have vectors that Zen 3 has not."""
    memory = Memory(tmp_path / "memory", {3: b"x86_64-unknown-linux-gnu", 4: called})
    assert memory.rename(level) is changed


@needs_highest
def test_kernels_are_right_where_the_processor_is_taken_for_a_lesser_one(unknown):
    """Invariants took minutes to compile, and were then wrong or ended the process."""
    script = """
import numpy as np
import clgraph as cg
found = cg.mine_invariants(np.arange(60).reshape(3, 20), device="pocl")
print(cg.device("pocl").built_for, len(found.text().splitlines()))
"""
    done = unknown(script, called="znver3")
    assert done.stdout.strip() == "x86-64-v4 9"


@pytest.mark.parametrize("address", [0, 8, 2**47, 2**63 - 8, 2**64 - 8])
def test_no_address_ends_the_process(address):
    version = next(iter(RELEASES))
    assert processor.name_unknown_processor(Handle(version, address)) is None


def test_memory_that_may_not_be_opened_changes_nothing(monkeypatch, caplog):
    def refuse(*_):
        raise PermissionError(13, "not allowed")

    monkeypatch.setattr(processor.os, "open", refuse)
    with caplog.at_level("DEBUG", "clgraph"):
        assert processor.name_unknown_processor(Handle(next(iter(RELEASES)))) is None
    assert "cannot be read" in caplog.text
