"""What ``clgraph doctor`` says about OpenCL, which every support thread ends up asking for."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from clgraph.device import drivers, native
from clgraph.device.discovery import Inventory, inventory
from clgraph.device.folders import cache_root, private_folder
from clgraph.device.lazy import cl

__all__ = ["CacheState", "DiscoveryReport", "DriverTrial", "discovery_report"]

INTEL_SUPPORT_LIBRARIES = ("libimf", "libsvml", "libirng", "libintlc")
VARIABLES = (
    "OCL_ICD_VENDORS",
    "OPENCL_VENDOR_PATH",
    "OCL_ICD_DEBUG",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "POCL_CACHE_DIR",
    "POCL_MAX_PTHREAD_COUNT",
    "CLGRAPH_DEVICE",
    "CLGRAPH_CACHE_DIR",
    "CLGRAPH_MEMORY_LIMIT",
    "CLGRAPH_CHECK",
    "CLGRAPH_POISON",
    "CLGRAPH_NAME_PROCESSOR",
)


@dataclass(frozen=True, slots=True)
class DriverTrial:
    """An attempt to load one driver.

    Attributes
    ----------
    source : str
        Where it is registered: a file, or "announced by clgraph".
    library : str
        The driver library.
    error : str or None
        What the dynamic linker said; None if it can be loaded.
    """

    source: str
    library: str
    error: str | None


@dataclass(frozen=True, slots=True)
class CacheState:
    """The folder of cached programs.

    Attributes
    ----------
    folder : str
        Where it is, empty for a user without a home folder.
    programs, size_bytes : int
        What it holds.
    problem : str or None
        Why it cannot be used; None if it can.
    """

    folder: str
    programs: int
    size_bytes: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class DiscoveryReport:
    """Everything about how devices were found.

    Attributes
    ----------
    pyopencl_version, loader, loader_version : str
        The binding, and the file and version of the OpenCL loader; empty where unknown.
    variables : dict of str to str
        The environment variables that matter and are set.
    drivers : tuple of DriverTrial
        Each driver the loader knows of.
    inventory : Inventory
        Platforms, devices, and what was left out and why.
    cache : CacheState
        The program cache.
    """

    pyopencl_version: str
    loader: str
    loader_version: str
    variables: dict[str, str]
    drivers: tuple[DriverTrial, ...]
    inventory: Inventory
    cache: CacheState


def discovery_report() -> DiscoveryReport:
    """Gather how OpenCL devices were looked for and what came of it.

    Returns
    -------
    DiscoveryReport
        For printing.

    Raises
    ------
    DeviceNotFoundError
        If pyopencl cannot be imported.

    Notes
    -----
    Loads every driver library into this process.
    """
    found = inventory()
    return DiscoveryReport(
        pyopencl_version=str(cl.VERSION_TEXT),
        loader=native.loader_library(),
        loader_version=native.loader_version(),
        variables={name: os.environ[name] for name in VARIABLES if name in os.environ},
        drivers=tuple(_trials()),
        inventory=found,
        cache=cache_state(),
    )


def cache_state() -> CacheState:
    """Look at the program cache without changing it, other than to make its folder."""
    try:
        folder = cache_root() / "programs"
    except OSError as error:
        return CacheState("", 0, 0, str(error))
    try:
        private_folder(folder)
        sizes = [entry.stat().st_size for entry in os.scandir(folder) if entry.is_file()]
        programs = sum(1 for _ in folder.glob("*.json"))
    except OSError as error:
        return CacheState(str(folder), 0, 0, str(error))
    return CacheState(str(folder), programs, sum(sizes), None)


def _trials() -> list[DriverTrial]:
    chosen = os.environ.get("OCL_ICD_VENDORS")
    if chosen and not Path(chosen).is_dir():
        return [_trial("OCL_ICD_VENDORS", chosen, Path())]
    folders = [Path(chosen)] if chosen else drivers.vendor_folders()
    trials = [
        _trial(str(folder / entry.name), entry.library, folder)
        for folder in folders
        for entry in drivers.icd_files(folder)
    ]
    if not chosen and sys.platform == "linux":
        trials += [
            _trial("announced by clgraph", entry.library, Path())
            for entry in drivers.unregistered()
        ]
    bundled = Path(str(cl.__file__)).parent / ".libs"
    return trials + [
        _trial(str(bundled / entry.name), entry.library, bundled)
        for entry in drivers.icd_files(bundled)
    ]


def _trial(source: str, library: str, folder: Path) -> DriverTrial:
    beside = folder / library
    target = str(beside) if os.sep not in library and beside.is_file() else library
    error = drivers.dlopen_error(target)
    if error is not None and any(name in error for name in INTEL_SUPPORT_LIBRARIES):
        error += "; install intel-cmplr-lib-rt into the same environment"
    return DriverTrial(source, library, error)
