"""Drivers that are installed but not registered, and how the OpenCL loader gets to see them.

The loader learns of drivers from ``*.icd`` files. Containers often lack NVIDIA's, and those that
pip installs for Intel's runtime point nowhere. The loader reads its variables once, at the first
OpenCL call of the process, so a folder that holds the missing files beside the system's own is
named to it just before that call.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import hashlib
import logging
import os
import secrets
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.folders import cache_root, is_private, private_folder
from clgraph.device.lazy import metadata
from clgraph.device.programs.pocl_cache import pocl_cache_folder, trouble_with

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Registration",
    "announced",
    "dlopen_error",
    "icd_files",
    "one_thread_a_processor",
    "unregistered",
]

log = logging.getLogger("clgraph")

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
NVIDIA_LIBRARIES = ("libnvidia-opencl.so.1", "/usr/local/nvidia/lib64/libnvidia-opencl.so.1")
THREADS_START_S = 0.1
INTEL_PACKAGE, INTEL_LIBRARY = "intel-opencl-rt", "libintelocl.so"


@dataclass(frozen=True, slots=True)
class Registration:
    """One ``.icd`` file: its name, and the driver library it names."""

    name: str
    library: str


def dlopen_error(library: str) -> str | None:
    """Why a library cannot be loaded into this process; None if it can."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


def vendor_folders() -> list[Path]:
    """Folders in which the loader looks when ``OCL_ICD_VENDORS`` is not set."""
    chosen = os.environ.get("OPENCL_VENDOR_PATH")
    folders = [Path(chosen) if chosen else SYSTEM_VENDORS]
    prefix = Path(sys.prefix)
    if (prefix / "conda-meta").is_dir():
        folders.append(prefix / "etc" / "OpenCL" / "vendors")
    return folders


def icd_files(folder: Path) -> list[Registration]:
    """Read the ``.icd`` files of a folder; unreadable ones count as absent."""
    found = []
    with contextlib.suppress(OSError):
        for path in sorted(folder.glob("*.icd")):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                lines = path.read_text(encoding="utf-8").split("\n")
                found.append(Registration(path.name, lines[0].strip()))
    return found


def registered() -> list[Registration]:
    """List the drivers that the system registers."""
    return [entry for folder in vendor_folders() for entry in icd_files(folder)]


def unregistered() -> list[Registration]:
    """Drivers that are installed but that no ``.icd`` file of the system names.

    Returns
    -------
    list of Registration
        NVIDIA's driver library where it can be loaded, Intel's CPU runtime where pip installed it.
    """
    known = " ".join(entry.library.casefold() for entry in registered())
    missing = []
    if "nvidia" not in known:
        for library in NVIDIA_LIBRARIES:
            if dlopen_error(library) is None:
                missing.append(Registration("nvidia.icd", library))
                break
    intel = intel_library()
    if intel is not None and INTEL_LIBRARY not in known:
        missing.append(Registration("intel-pip.icd", str(intel)))
    return missing


def intel_library() -> Path | None:
    """Find the library of Intel's CPU runtime that pip installed, if it did."""
    try:
        files = metadata.files(INTEL_PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == INTEL_LIBRARY:
            path = Path(str(file.locate())).resolve()
            return path if path.is_file() else None
    return None


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Let the loader see unregistered drivers, if its first call happens inside this context.

    The variable is put back afterwards, so child processes find the environment as the user left
    it. A user's own ``OCL_ICD_VENDORS`` is respected.
    """
    give_pocl_a_cache()
    missing = [] if "OCL_ICD_VENDORS" in os.environ or sys.platform != "linux" else unregistered()
    if not missing:
        yield
        return
    try:
        folder = registration_folder([*registered(), *missing])
    except OSError as error:
        log.warning("OpenCL drivers %s are left out: no folder for them (%s)", missing, error)
        yield
        return
    log.debug("unregistered OpenCL drivers %s announced by %s", missing, folder)
    with _seen_by_libraries("OCL_ICD_VENDORS", str(folder)):
        yield


@contextlib.contextmanager
def _seen_by_libraries(variable: str, value: str) -> Iterator[None]:
    """Set a variable for libraries that are not Python, which is not set at present.

    ``os.environ`` takes several steps for it and for taking it back, between which Ctrl-C may come.
    """
    try:
        os.putenv(variable, value)
        yield
    finally:
        os.unsetenv(variable)


@contextlib.contextmanager
def one_thread_a_processor() -> Iterator[None]:
    """Have PoCL, if it starts inside this context, bind each of its threads to a processor.

    A search wakes them together after the caller has kept one processor warm, and Linux then often
    runs both on the other until its next tick: 7 ms instead of 2. PoCL aborts the process where it
    may not use a processor, so this is only done where it may use all. The variable goes once the
    threads have read it, so child processes do not inherit it.
    """
    processors = os.cpu_count() or 1
    set_by_user = {"POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT"} & os.environ.keys()
    if sys.platform != "linux" or set_by_user or os.sched_getaffinity(0) != set(range(processors)):
        yield
        return
    with _seen_by_libraries("POCL_AFFINITY", "1"):
        yield
        if "libpocl" in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"):
            deadline = time.monotonic() + THREADS_START_S
            while _bound_threads() < processors and time.monotonic() < deadline:
                time.sleep(1e-4)


def _bound_threads() -> int:
    bound = 0
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            bound += len(os.sched_getaffinity(int(task.name))) == 1
    return bound


def registration_folder(entries: list[Registration]) -> Path:
    """Give a folder with exactly these ``.icd`` files, in the user's cache or else a temporary one.

    The folder is named by its contents and renamed into place when complete, so that processes that
    start together, or use different virtual environments, do not disturb each other.
    """
    text = "\n".join(f"{entry.name} {entry.library}" for entry in entries)
    name = "icd-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    try:
        parent = private_folder(cache_root() / "drivers")
        folder = parent / name
        if not folder.exists():
            _fill(folder, entries)
        if _holds(folder, entries):
            return folder
        log.warning("%s was tampered with and is not used", folder)
    except OSError as error:
        log.debug("no driver folder in the cache: %s", error)
    folder = _temporary_folder("clgraph-icd-") / name
    _fill(folder, entries)
    return folder


def _fill(final: Path, entries: list[Registration]) -> None:
    """Make a folder with all of its files, which are under another name until they are there."""
    folder = final.with_name(f".new-{secrets.token_hex(8)}")
    try:
        folder.mkdir(mode=0o700)
        for entry in entries:
            (folder / entry.name).write_text(entry.library + "\n", encoding="utf-8")
        folder.rename(final)
    except OSError:
        if not final.exists():
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # where Ctrl-C came, too


def _temporary_folder(start: str) -> Path:
    """Make a folder that goes with the process, wherever Ctrl-C comes."""
    folder = Path(tempfile.gettempdir(), start + secrets.token_hex(8))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return folder


def _holds(folder: Path, entries: list[Registration]) -> bool:
    status = folder.lstat()
    wanted = {entry.name: entry.library for entry in entries}
    present = {entry.name: entry.library for entry in icd_files(folder)}
    return folder.is_dir() and not folder.is_symlink() and is_private(status) and present == wanted


def give_pocl_a_cache() -> None:
    """Point PoCL at a temporary kernel cache where its own cannot be used.

    PoCL reports a platform without devices where it cannot write.
    """
    folder = pocl_cache_folder()
    if folder is None:
        return
    # PoCL takes an empty name for a folder too, and cannot make one there.
    named = os.environ.get("POCL_CACHE_DIR") != ""
    trouble = trouble_with(folder) if named else "POCL_CACHE_DIR is empty"
    if not trouble:
        return
    try:
        temporary = _temporary_folder("clgraph-pocl-")
    except OSError as error:
        log.warning("PoCL's kernel cache %s: %s; no other is to be had: %s", folder, trouble, error)
        return
    os.environ["POCL_CACHE_DIR"] = str(temporary)
    log.warning("PoCL's kernel cache %s: %s; it gets a temporary one", folder, trouble)
