"""What was rendered once is not rendered again: plans whose kernels are cached import no Mako."""

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from algorithms_list import ALGORITHMS, SOURCES, fresh_graph
from runtimes import clean_environment, run_python

import clgraph as cg
from clgraph.device import cache
from clgraph.device.rendering import renderings, sources
from clgraph.engine.strategies.config import TraversalConfig

ROOTS = sources.source_folders()


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty cache on disk and none in memory; a function that forgets what is in memory."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))

    def forget():
        monkeypatch.setattr(renderings, "_texts", {})
        renderings._contents.cache_clear()

    forget()
    yield forget
    renderings._contents.cache_clear()


@pytest.fixture
def rendered(monkeypatch):
    """Names of the files that Mako rendered."""
    names = []
    render = sources._rendered

    def noting(name, *given):
        names.append(name)
        return render(name, *given)

    monkeypatch.setattr(sources, "_rendered", noting)
    return names


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_warm_plan_renders_nothing(name, any_device, empty, rendered):
    """In another process, which this one plays by forgetting; the second run in one is warm too."""
    algorithm = ALGORITHMS[name]
    graph = fresh_graph()
    first = algorithm.outcome(algorithm.make(graph, any_device), SOURCES[0])
    assert rendered
    assert len(rendered) == len(list((renderings_folder()).glob("*.json"))) - 1
    rendered.clear()
    for again in (lambda: None, empty):
        again()
        second = algorithm.outcome(algorithm.make(graph, any_device), SOURCES[0])
        assert rendered == []
        np.testing.assert_allclose(second, first, rtol=1e-6)


def renderings_folder():
    return cache.cache_root() / renderings.FOLDER


def test_a_warm_process_imports_no_mako(tmp_path):
    script = """
    import sys
    import clgraph as cg
    graph = cg.Graph([0, 1, 2], [1, 0], directed=False)
    assert cg.bfs(graph, 0, device="cpu").distances.tolist() == [0, 1]
    print("mako" in sys.modules)
    """
    env = clean_environment(CLGRAPH_CACHE_DIR=str(tmp_path))
    assert [run_python(script, env=env).stdout.strip() for _ in range(2)] == ["True", "False"]


def test_the_key_is_another_where_anything_is():
    params = {"a": 1, "b": (1, 2.5, "x"), "c": TraversalConfig(), "d": SimpleNamespace(e=None)}
    key = renderings.rendering_key("f.cl", params, ROOTS)
    assert key == renderings.rendering_key("f.cl", dict(params), ROOTS)
    others = [
        renderings.rendering_key("g.cl", params, ROOTS),
        renderings.rendering_key("f.cl", params, ROOTS[:1]),
    ]
    changes = (
        {"a": 2},
        {"a": True},
        {"a": 1.0},
        {"a": "1"},
        {"a": np.int32(1)},
        {"a": np.int64(1)},
        {"a": np.dtype("int32")},
        {"b": (1, 2.5)},
        {"b": [1, 2.5, "x"]},
        {"c": TraversalConfig(schedule="stepped")},
        {"c": cg.BFSConfig()},
        {"d": SimpleNamespace(e=0)},
        {"d": {"e": None}},
        {"d": cg.pull.ByEdges},
        {"more": 1},
    )
    others += [renderings.rendering_key("f.cl", {**params, **change}, ROOTS) for change in changes]
    assert None not in others
    assert len({key, *others}) == len(others) + 1


def test_plain_parts_cost_no_call_each(pocl, monkeypatch):
    """A key is made for each program of each plan, of hundreds of numbers and names."""
    calls = []
    described = renderings._described
    monkeypatch.setattr(
        renderings,
        "_described",
        lambda value, depth: (calls.append(value), described(value, depth))[1],
    )
    cg.BFS(fresh_graph(), device=pocl)
    assert 0 < len(calls) < 150
    assert not any(type(value) in renderings.PLAIN for value in calls)


def test_what_is_plain_is_told_apart_by_its_type():
    """Equal values need not have the same text, in containers and alone."""
    same = [
        1,
        True,
        1.0,
        0.0,
        -0.0,
        0,
        False,
        "1",
        b"1",
        "True",
        None,
        "None",
        range(1),
        "range(0, 1)",
    ]
    values = [
        kind(value) for value in same for kind in (lambda x: x, lambda x: [x], lambda x: (x,))
    ]
    values += [SimpleNamespace(a=value) for value in same] + [{"a": value} for value in same]
    values += [{value} for value in same] + [("name", "1"), ["name", 1], {"name": 1}, "('name', 1)"]
    keys = {renderings.rendering_key("f.cl", {"a": value}, ROOTS) for value in values}
    assert len(keys) == len(values)
    assert None not in keys


class Foreign:
    x = 1


@dataclasses.dataclass
class ForeignData:
    x: int = 1


@pytest.mark.parametrize(
    "value",
    [Foreign(), ForeignData(), Foreign, len, lambda: 1, json, object(), iter([]), (1, [Foreign()])],
)
def test_what_nobody_knows_the_contents_of_is_rendered_every_time(value):
    assert renderings.rendering_key("f.cl", {"a": value}, ROOTS) is None


def test_what_contains_itself_is_rendered_every_time():
    loop = []
    loop.append(loop)
    assert renderings.rendering_key("f.cl", {"a": loop}, ROOTS) is None


@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("suffix", renderings.READ)
def test_any_change_of_a_file_changes_the_key(tmp_path, suffix):
    root = tmp_path / "templates"
    root.mkdir()
    file = root / f"part{suffix}"

    def key(text):
        file.write_text(text)
        renderings._contents.cache_clear()
        return renderings.rendering_key("f.cl", {}, (root,))

    first, second, third = key("one"), key("two"), key("one")
    assert first == third != second


def test_damage_is_rendered_again(empty, rendered):
    params = {"traits": SimpleNamespace(), "check": False}

    def render():
        empty()
        return renderings.kept_rendering(
            "f.cl", params, ROOTS, lambda: rendered.append(1) or "text"
        )

    assert (render(), render(), len(rendered)) == ("text", "text", 1)
    for file in renderings_folder().glob("*.bin"):
        file.write_bytes(b"text")
    assert (render(), len(rendered)) == ("text", 2)
    key = renderings.rendering_key("f.cl", params, ROOTS)
    for wrong in (b"", b"no zlib", bytes(100)):
        cache.named_cache(renderings.FOLDER).store(key, cache.CachedBinary(wrong, ""), {})
        before = len(rendered)
        assert (render(), len(rendered)) == ("text", before + 1)


def test_without_a_cache_folder_texts_are_kept_in_memory(monkeypatch, rendered, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(renderings, "_texts", {})
    for _ in range(2):
        renderings.kept_rendering("f.cl", {"a": 1}, ROOTS, lambda: rendered.append(1) or "text")
    assert rendered == [1]
    assert Path(tmp_path / "file").read_text() == ""
