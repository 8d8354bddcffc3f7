"""The shape of the package: folders and configurations that can be looked over, imports one way."""

import ast
import dataclasses
import inspect
import traceback
from pathlib import Path

import pytest

import clgraph as cg
from clgraph.algorithms.sssp.choose import resolve_paths
from clgraph.algorithms.sssp.weights import Weights
from clgraph.device.native import KernelHandle
from clgraph.engine.choose import resolve

ROOT = Path(__file__).resolve().parent.parent
MOST_FILES = 20
BENCH = ("peers", "problems", "report", "runner", "studies")
KINDS = (".py", ".cl", ".mako", ".json", ".md")


def overfull(folder: Path) -> list[str]:
    """Folders below one with more files in them than a reader looks over."""
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    counts = {
        path: sum(file.is_file() and file.suffix in KINDS for file in path.iterdir())
        for path in folders
    }
    return [f"{path.name}: {count}" for path, count in counts.items() if count > MOST_FILES]


# Records in bench/results are data; everything else is looked over by whoever comes to it.
ROOMS = ("clgraph", "kernels_cl", "templates", *(f"bench/{name}" for name in BENCH))


@pytest.mark.parametrize("folder", ROOMS)
def test_no_folder_has_more_than_twenty_files(folder):
    assert overfull(ROOT / folder) == []


def test_a_folder_with_too_many_files_is_seen(tmp_path):
    (tmp_path / "room").mkdir()
    for number in range(MOST_FILES + 1):
        assert overfull(tmp_path) == []
        (tmp_path / "room" / f"{number}.py").touch()
    assert overfull(tmp_path) == [f"room: {MOST_FILES + 1}"]


def imports(package: Path, name: str) -> dict[str, set[str]]:
    """What each module of a package imports of it, for types or in a function too."""
    paths = {module_of(path, package, name): path for path in package.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {each if each in paths else node.module for each in inner}
        found[module] = {each for each in named if each in paths and each != module}
    return found


def module_of(path: Path, package: Path, name: str) -> str:
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join((name, *(part for part in parts if part != "__init__")))


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules that are left when those that import nothing that is left are taken away."""
    left = {module: set(named) for module, named in graph.items()}
    while free := {module for module, named in left.items() if not named & set(left)}:
        left = {module: named for module, named in left.items() if module not in free}
    return sorted(left)


def test_modules_of_devices_import_each_other_one_way():
    """Whoever reads one reads what it stands on, and never comes back."""
    graph = imports(ROOT / "clgraph" / "device", "clgraph.device")
    assert len(graph) > 20
    graph.pop("clgraph.device")  # the public names, which nothing inside asks for
    assert circle(graph) == []


@pytest.mark.parametrize("how", ["import p.a", "from p import a", "from p.a import x"])
def test_a_circle_is_seen(tmp_path, how):
    (tmp_path / "a.py").write_text("if TYPE_CHECKING:\n    from p.b import y\n")
    (tmp_path / "b.py").write_text(f"def f():\n    {how}\n")
    (tmp_path / "c.py").write_text("import p.a\n")
    (tmp_path / "__init__.py").write_text("")
    assert "p.a" in circle(imports(tmp_path, "p"))
    (tmp_path / "b.py").write_text("")
    assert circle(imports(tmp_path, "p")) == []


CONFIGS = [name for name in cg.__all__ if name.endswith("Config")]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_public_configuration_is_small(name):
    """Issue 15: at most 14 parameters, and printed in at most 200 characters."""
    kind = getattr(cg, name)
    parameters = list(inspect.signature(kind).parameters)
    assert 0 < len(parameters) <= 14
    assert len(CONFIGS) > 10
    presets = [kind.preset(each) for each in kind.presets()] if hasattr(kind, "presets") else []
    assert all(len(repr(config)) <= 200 for config in [kind(), *presets])


def leaves(value):
    """Fields of a tree of strategies, down to numbers and words."""
    if not dataclasses.is_dataclass(value):
        return 1
    kept = (field.name for field in dataclasses.fields(value) if field.name != "asked")
    return sum(leaves(getattr(value, name)) for name in kept)


GRAPH = cg.generate.kron(6, seed=1, weights=(1, 9))


@pytest.mark.parametrize("name", cg.BFSConfig.presets())
def test_a_search_resolves_a_third_fewer_fields(name, pocl):
    """Issue 15: of 98 before; as stats print it, at most 200 characters."""
    config = cg.BFSConfig.preset(name)
    known = {"m": GRAPH.m, "predecessors": True, "max_degree": GRAPH.max_degree}
    resolved = resolve(config.completed(GRAPH, pocl.traits), pocl.traits, **known, asked=config)
    assert 20 < leaves(resolved) <= 65
    assert len(str(resolved)) <= 200


@pytest.mark.parametrize("name", cg.SSSPConfig.presets())
def test_paths_resolve_a_third_fewer_fields(name, pocl):
    """Issue 15: of 131 before; as stats print it, at most 200 characters."""
    config = cg.SSSPConfig.preset(name)
    resolved = resolve_paths(config, pocl.traits, GRAPH, Weights(GRAPH))
    assert 20 < leaves(resolved) <= 87
    assert len(str(resolved)) <= 200


def test_a_search_is_launched_in_four_stops(pocl, monkeypatch):
    """Issue 15: whoever reads from the call to the launch passes no layer that only hands on."""
    library = Path(cg.__file__).parent
    walks = []
    enqueue = KernelHandle.enqueue

    def noted(*args):
        calls = [(Path(call.filename), call.name) for call in traceback.extract_stack()]
        inside = [(path, name) for path, name in calls if path.is_relative_to(library)]
        walks.append([f"{path.stem}.{name}" for path, name in inside])
        return enqueue(*args)

    monkeypatch.setattr(KernelHandle, "enqueue", noted)
    cg.bfs(GRAPH, 0, device=pocl)
    # What errors say of `config` is no layer, nor is who looks at what is true or false.
    walk = [stop for stop in walks[0] if not stop.startswith(("asked.", "arguments.checked"))]
    assert walk == ["plan.bfs", "plan.run", "driver.start", "kernel.launch_bound"]
