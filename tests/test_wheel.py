"""The built wheel, installed alone and used from another folder, finds its kernels and searches."""

import json
import os
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
ROOT = Path(__file__).resolve().parent.parent

SEARCH = """
import json, sys
import clgraph as cg
graph = cg.from_edges([0, 1, 2, 0], [1, 2, 3, 4], n=6)
result = cg.bfs(graph, 0, device="pocl")
json.dump({"where": cg.__file__, "distances": result.distances.tolist()}, sys.stdout)
"""


def run(*command: object, cwd: Path, timeout: float = 240, **variables: str) -> str:
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "CLGRAPH_DEVICE"}}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env | variables,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable,
        *("-m", "build", "--wheel", "--no-isolation", "--outdir", folder),
        ROOT,
        cwd=folder,
    )
    (found,) = folder.glob("clgraph-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment that holds the wheel, and borrows its dependencies from this one."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    run(
        sys.executable,
        *("-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel),
        cwd=folder,
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    # A folder named in a .pth file is put on the path, but its own .pth files are not read: the
    # editable install of the checkout stays out of sight.
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    return python


def test_wheel_holds_kernels_templates_and_nothing_foreign(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for folder, suffix in (("kernels_cl", ".cl"), ("templates", ".mako")):
        of_checkout = {
            f"clgraph/{path.relative_to(ROOT).as_posix()}"
            for path in (ROOT / folder).rglob(f"*{suffix}")
        }
        assert of_checkout
        assert of_checkout <= set(names)
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "clgraph",
        "_clgraph_networkx_info.py",
    }
    assert not [name for name in names if name.endswith(".pyc")]


@pytest.mark.rest
def test_search_runs_from_the_installed_wheel(installed, tmp_path):
    answer = json.loads(
        run(installed, "-c", SEARCH, cwd=tmp_path, CLGRAPH_CACHE_DIR=str(tmp_path / "cache"))
    )
    assert answer["distances"] == [0, 1, 2, 3, 1, -1]
    assert installed.parent.parent in Path(answer["where"]).parents


def test_command_of_the_installed_wheel(installed, tmp_path):
    assert "devices" in run(installed.parent / "clgraph", "--help", cwd=tmp_path)


BACKEND = """
import networkx as nx
graph = nx.path_graph(4)
nx.config.backends.clgraph.device = "pocl"
print(nx.diameter(graph, backend="clgraph"), nx.utils.backends.backend_info["clgraph"]["project"])
"""


@pytest.mark.rest
def test_networkx_finds_the_backend_of_the_installed_wheel(installed, tmp_path):
    said = run(installed, "-c", BACKEND, cwd=tmp_path, CLGRAPH_CACHE_DIR=str(tmp_path / "cache"))
    assert said == "3 clgraph\n"


def interpreter(version: str) -> str:
    """Find a Python of a version, on the path or among those of pyenv, or skip the test."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    known = [*sorted(pyenv.glob(f"versions/{version}.*/bin/python")), f"python{version}"]
    for name in map(str, known):
        found = shutil.which(name)
        said = found and subprocess.run(
            [found, "-c", "import sys; print(sys.version)"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if said and said.stdout.startswith(f"{version}."):
            return str(found)
    pytest.skip(f"there is no Python {version} here")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", VERSIONS)
def test_pip_installs_it_and_searches_run_without_a_warning(version, wheel, tmp_path):
    """Downloads the dependencies, some 100 MB."""
    run(interpreter(version), "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, *("-m", "pip", "install", "-q", f"{wheel}[cpu]"), cwd=tmp_path, timeout=600)
    assert not run(python, "-W", "error", "-c", "import clgraph", cwd=tmp_path)
    assert json.loads(run(python, "-W", "error", "-c", SEARCH, cwd=tmp_path))["distances"]
    assert "portable" in run(tmp_path / "venv" / "bin" / "clgraph", "devices", cwd=tmp_path).lower()
