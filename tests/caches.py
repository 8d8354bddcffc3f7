"""Where the test suite keeps the kernels it built, for its next run and for other checkouts."""

import contextlib
import os
import shutil
import time
from pathlib import Path

import pytest

from clgraph.device.folders import cache_root, private_folder

# PoCL never forgets what it built. clgraph's own cache keeps to a limit by itself.
UNUSED_DAYS = 14
FOLDERS = {"CLGRAPH_CACHE_DIR": "clgraph", "POCL_CACHE_DIR": "pocl"}


def use(config: pytest.Config) -> None:
    """Point both caches, where the environment does not, at a folder of the user.

    What is in them is found by source, options, driver and processor, so that checkouts can share
    it. clgraph checks what it reads; PoCL believes it, and is therefore only given a folder that
    nobody else can write to. Where there is no such folder, the checkout has one.
    """
    missing = [variable for variable in FOLDERS if variable not in os.environ]
    if not missing:
        return
    try:
        private_folder(cache_root())
        root = private_folder(cache_root() / "tests")
        for variable in missing:
            os.environ[variable] = str(private_folder(root / FOLDERS[variable]))
    except OSError:
        cache = getattr(config, "cache", None)  # None where pytest was told to do without
        for variable in missing if cache else ():
            os.environ[variable] = str(cache.mkdir(FOLDERS[variable]))
    pocl = os.environ.get("POCL_CACHE_DIR")
    if pocl and "POCL_CACHE_DIR" in missing and not hasattr(config, "workerinput"):
        forget_unused(Path(pocl))


def forget_unused(pocl: Path, days: float = UNUSED_DAYS) -> None:
    """Remove the programs from PoCL's cache whose last use, noted in a file, is long ago.

    No run takes days, so none of them is in use.
    """
    before = time.time() - 86400 * days
    for note in pocl.glob("*/*/last_accessed"):
        with contextlib.suppress(OSError):
            if note.stat().st_mtime < before:
                shutil.rmtree(note.parent, ignore_errors=True)


def described() -> list[str]:
    """Report how kernels are built and where they are kept, for the head of a run."""
    plain = os.environ["CLGRAPH_NO_OPTIMISING"] in {"", "0"}
    how = "as users do" if plain else "without optimising"
    where = " and ".join(os.environ.get(variable, "no cache") for variable in FOLDERS)
    return [f"kernels: built {how}, kept in {where}"]
