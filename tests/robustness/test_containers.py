"""Environments in which something is missing: a clean error says what, and nothing ever aborts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtimes import LIMIT_S, POCL, ROOT, clean_environment, driver_library

import clgraph as cg
from clgraph.device.programs import pocl_cache
from clgraph.device.programs.pocl_cache import is_whole_library

SEARCH = """
import sys
import clgraph as cg
try:
    graph = cg.generate.path(5)
    found = cg.bfs(graph, 0, device=sys.argv[1]).distances.tolist()
    print("found" if found == [0, 1, 2, 3, 4] else f"WRONG {found}")
except cg.ClgraphError as error:
    print(f"{type(error).__name__}: {error}")
"""


def search(device, before="", **environment):
    """Search in a child, after something else; None for a value takes the variable out."""
    env = clean_environment()
    for name, value in environment.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    done = subprocess.run(
        [sys.executable, "-c", before + SEARCH, device],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(autouse=True)
def pocl_is_here():
    driver_library(*POCL)


def test_pocl_without_a_linker(tmp_path):
    """It aborts the process where there is none: that is looked for before anything is built."""
    told = search("pocl", PATH=tmp_path)
    assert told.startswith(("KernelBuildError", "DeviceNotFoundError"))
    assert "binutils" in told or "add its folder to PATH" in told
    assert "clgraph[intel]" in told


def test_an_empty_path(tmp_path):
    assert "PATH" in search("pocl", PATH="")
    assert "PATH" in search("pocl", PATH=None, POCL_CACHE_DIR=tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    assert search("pocl", POCL_CACHE_DIR=tmp_path / "cache") == "found\n"


@pytest.mark.parametrize("folder", ["", "/proc/nowhere", "/dev/null/x"])
def test_pocl_gets_another_cache_where_its_own_cannot_be(folder):
    assert search("pocl", POCL_CACHE_DIR=folder) == "found\n"


def test_nobody_has_a_home():
    kept = {"HOME": None, "XDG_CACHE_HOME": None, "CLGRAPH_CACHE_DIR": None}
    assert search("pocl", **kept) == "found\n"


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
@pytest.mark.parametrize("largest", [0, 4096])
def test_files_that_cannot_grow(tmp_path, largest):
    """As where the disk is full. PoCL's compiler would abort the process; for 0 bytes there is no
    folder for temporary files either.
    """
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, 2 * ({largest},))"
    kept = {"POCL_CACHE_DIR": tmp_path / "pocl", "CLGRAPH_CACHE_DIR": tmp_path / "clgraph"}
    told = search("pocl", limited, **kept)
    assert told.startswith(("KernelBuildError", "DeviceNotFoundError"))
    assert "files cannot grow by 32 MiB" in told
    assert "set POCL_CACHE_DIR" in told


def test_room_on_a_disk(tmp_path, monkeypatch):
    """Of a folder that is not there yet its parents tell; one block too few is too few."""
    folder = tmp_path / "not" / "there"
    status = os.statvfs(tmp_path)
    blocks = -(-pocl_cache.LEAST_ROOM_BYTES // status.f_frsize)
    monkeypatch.setenv("POCL_CACHE_DIR", str(folder))
    for free, enough in ((blocks, True), (blocks - 1, False), (0, False)):

        def status_of(path, free=free):
            if not Path(path).exists():
                raise FileNotFoundError(path)
            return os.statvfs_result([*status[:4], free, *status[5:]])

        monkeypatch.setattr(pocl_cache.os, "statvfs", status_of)
        assert pocl_cache.has_room(folder) == enough
        if enough:
            pocl_cache.check_room()
        else:
            with pytest.raises(cg.KernelBuildError, match="make room"):
                pocl_cache.check_room()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_a_kernel_cache_of_others_is_not_used(tmp_path, monkeypatch):
    """PoCL calls the libraries that it finds there."""
    assert pocl_cache.trouble_with(tmp_path) == ""
    tmp_path.chmod(0o777)
    assert "anybody can write to it" in pocl_cache.trouble_with(tmp_path)
    assert search("pocl", POCL_CACHE_DIR=tmp_path) == "found\n"
    assert not list(tmp_path.iterdir())
    tmp_path.chmod(0o770)
    assert pocl_cache.trouble_with(tmp_path) == ""
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "it belongs to another user" in pocl_cache.trouble_with(tmp_path)


@pytest.mark.rest
@pytest.mark.parametrize("damage", [b"", b"no bitcode", None])
def test_pocl_cache_that_is_damaged(tmp_path, damage):
    """What PoCL keeps of a program is built again if it is not what it was."""
    assert search("pocl", POCL_CACHE_DIR=tmp_path) == "found\n"
    kept = list(tmp_path.rglob("program.bc"))
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:1000] if damage is None else damage)
    for path in tmp_path.rglob("*.so"):
        path.unlink()
    assert search("pocl", POCL_CACHE_DIR=tmp_path).startswith(("found", "KernelBuildError"))


@pytest.mark.rest
@pytest.mark.parametrize("length", [0, 0.99])
def test_libraries_of_pocl_that_are_cut_off(tmp_path, length):
    """PoCL would map them into memory and call them, and the process would end with SIGBUS."""
    cache = tmp_path / "pocl"
    kept = {"POCL_CACHE_DIR": cache, "CLGRAPH_CACHE_DIR": tmp_path / "clgraph"}
    assert search("pocl", **kept) == "found\n"
    libraries = list(cache.rglob("*.so"))
    assert libraries
    for path in libraries:
        whole = path.read_bytes()
        path.write_bytes(whole[: int(length * len(whole)) if length < 1 else length])
        assert not is_whole_library(path)
    assert search("pocl", **kept) == "found\n"
    assert all(map(is_whole_library, cache.rglob("*.so")))
    # The folder is known now, and looked at without looking at all others.
    assert len(list((tmp_path / "clgraph" / "pocl").iterdir())) >= 1
