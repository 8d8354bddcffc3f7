"""The database of what tuning found: nearness, damage, concurrent writers, and config="tuned"."""

import dataclasses
import json
import logging
import multiprocessing
import os

import pytest
from runtimes import device_or_skip

import clgraph as cg
from clgraph import tune
from clgraph.engine.strategies.presets import check_origin
from clgraph.errors import InvalidArgumentError
from clgraph.tune import database
from clgraph.tune.features import distance, features_of

KRON = cg.generate.kron(8, 8, seed=1, weights=(1, 100))
ROAD = cg.generate.road(16, 16, seed=1, weights=(1, 100))


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(database, "SHIPPED", tmp_path / "shipped.json")
    (tmp_path / "shipped.json").write_text('{"entries": []}')
    database.shipped.cache_clear()
    yield
    database.shipped.cache_clear()


def entry_for(graph, where, values, algorithm="bfs", **changes):
    told = {
        "algorithm": algorithm,
        "objective": "time",
        "device": database.described(where),
        "features": features_of(graph),
        "values": values,
        "measured": {"time_ms": 1.0, "auto_ms": 2.0},
        "tried": [[values, 1.0]],
        "provenance": {"graph": "kron8", "when": "2026-11-22"},
    }
    return tune.Entry(**{**told, **changes})


def test_an_entry_comes_back_as_it_was(pocl):
    entry = entry_for(KRON, pocl, {"frontier": "edge"})
    database.keep(entry)
    assert database.entries() == [entry]


def test_what_parameters_were_called_is_still_read(pocl):
    former = {"schedule.solo": False, "limits.solo_edges": 512}
    entry = tune.Entry.of_record(entry_for(KRON, pocl, former).record())
    assert entry.values == {"schedule.single_group": False, "limits.single_group_edges": 512}
    assert entry.tried == [[entry.values, 1.0]]
    assert cg.BFSConfig().with_values(entry.values).schedule.single_group is False


def test_the_nearest_entry_is_used_and_named(pocl):
    """config="tuned" uses the nearest entry and says so in stats.config."""
    database.keep(entry_for(KRON, pocl, {"frontier": "edge", "pull": "never"}))
    database.keep(entry_for(ROAD, pocl, {"frontier": "two_phase", "pull": "never"}))
    for graph, form in ((KRON, "edge"), (ROAD, "two_phase")):
        result = cg.bfs(graph, 0, config="tuned", device=pocl)
        assert result.stats.config.frontier.name == form
        assert "user entry of 2026-11-22 for time: kron8" in repr(result.stats.config)
        assert "distance 0.00" in result.stats.config.as_dict()["origin"]
        assert (result.distances == cg.bfs(graph, 0, device=pocl).distances).all()


def test_every_algorithm_says_what_was_tuned(pocl):
    points = {
        "sssp": {"method": "bellman-ford"},
        "scc": {"finish": "coloring"},
        "triangles": {"intersect": "merge", "order": "id"},
    }
    for algorithm, values in points.items():
        database.keep(entry_for(KRON, pocl, values, algorithm))
    paths = cg.sssp(KRON, 0, config="tuned", device=pocl).stats.config
    assert paths.method.name == "bellman-ford"
    assert "user entry" in repr(paths)
    parts = cg.scc(KRON, config="tuned", device=pocl).stats.config
    assert parts["finish"] == "coloring"
    assert "user entry" in parts["origin"]
    counted = cg.Triangles(KRON, config="tuned", device=pocl).run().stats.config
    assert counted.startswith("Merge")
    assert "user entry" in counted


def test_nothing_near_is_auto_and_says_so(pocl):
    result = cg.bfs(KRON, 0, config="tuned", device=pocl)
    assert "nothing near was tuned, so auto" in repr(result.stats.config)
    database.keep(entry_for(ROAD, pocl, {"frontier": "edge"}))
    far = cg.generate.complete(60)
    assert "so auto" in repr(cg.bfs(far, 0, config="tuned", device=pocl).stats.config)


def test_objectives_have_entries_of_their_own(pocl):
    database.keep(entry_for(KRON, pocl, {"frontier": "edge"}, objective="energy"))
    plain = cg.BFS(KRON, config="tuned", device=pocl).config
    thrifty = cg.BFS(KRON, config="tuned:energy", device=pocl).config
    assert (plain.frontier.name, thrifty.frontier.name) == ("vertex", "edge")
    with pytest.raises(InvalidArgumentError, match="use one of time"):
        cg.BFS(KRON, config="tuned:joy", device=pocl)


def test_this_driver_comes_before_this_device_and_that_before_its_kind(pocl):
    here = database.described(pocl)
    kinds = ({**here, "name": "another"}, {**here, "driver": "0"}, here)
    for place, told in enumerate(kinds):
        database.keep(entry_for(KRON, pocl, {"schedule.groups": place + 1}, device=told))
        found, apart = database.nearest(KRON, "bfs", pocl)
        assert found.values == {"schedule.groups": place + 1}
        assert apart == 0
    database.keep(entry_for(KRON, pocl, {}, device={**here, "platform": "x"}))
    assert database.nearest(KRON, "bfs", pocl)[0].values == {"schedule.groups": 3}


def test_an_entry_that_is_not_legal_here_is_auto(pocl, caplog):
    database.keep(entry_for(KRON, pocl, {"frontier": "no such thing"}))
    with caplog.at_level(logging.WARNING, "clgraph"):
        config = cg.BFS(KRON, config="tuned", device=pocl).config
    assert "not legal here, so auto" in repr(config)
    assert "is not used" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"edge"', '"two_phase"'),
        lambda text: text.replace("clgraph-tuned/1", "clgraph-tuned/2"),
        lambda _: "[" * 100_000,
        lambda _: "null",
        lambda _: '{"schema": "clgraph-tuned/1"}',
        lambda _: "",
        lambda _: " " * (1 << 19),
    ],
)
def test_a_damaged_entry_is_passed_over(pocl, damage, caplog):
    """Damage, another version, a forged value, or a file larger than any entry."""
    path = database.keep(entry_for(KRON, pocl, {"frontier": "edge"}))
    path.write_text(damage(path.read_text()))
    other = database.keep(entry_for(ROAD, pocl, {"frontier": "two_phase"}))
    assert other != path
    with caplog.at_level(logging.WARNING, "clgraph"):
        assert [one.values for one in database.entries()] == [{"frontier": "two_phase"}]
    assert f"tuned entry {path.name} is not used" in caplog.text


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_an_entry_that_others_can_write_to_is_passed_over(pocl):
    path = database.keep(entry_for(KRON, pocl, {}))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o666)
    assert database.entries() == []


def write_often(told, place):
    entry = tune.Entry.of_record(told)
    for turn in range(60):
        database.keep(dataclasses.replace(entry, measured={"time_ms": float(100 * place + turn)}))


@pytest.mark.rest
def test_concurrent_writers_leave_one_whole_entry(pocl):
    """Of writers of the same entry the last stays; readers never see a part of one."""
    told = entry_for(KRON, pocl, {"frontier": "edge"}).record()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_often, args=(told, place)) for place in range(2)]
    for writer in writers:
        writer.start()
    seen = 0
    while any(writer.is_alive() for writer in writers):
        found = database.entries()
        assert len(found) <= 1
        seen += len(found)
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert seen
    assert len(database.entries()) == 1
    assert len(list((database._folder()).iterdir())) == 1  # nothing temporary is left


def test_shipped_entries_are_found_after_the_users_own(pocl, tmp_path):
    shipped = entry_for(KRON, pocl, {"frontier": "edge"})
    (tmp_path / "shipped.json").write_text(json.dumps({"entries": [shipped.record()]}))
    database.shipped.cache_clear()
    found = database.nearest(KRON, "bfs", pocl)[0]
    assert (found.origin, found.values) == ("shipped", {"frontier": "edge"})
    database.keep(entry_for(KRON, pocl, {"frontier": "hybrid"}))
    assert database.nearest(KRON, "bfs", pocl)[0].origin == "user"


def test_tuning_stores_what_tuned_then_uses(pocl):
    found = tune.run(KRON, "bfs", budget=5, trials=2, device=pocl, name="kron8")
    assert found.stored.exists()
    assert "user entry" in repr(found.config)
    told = database.entries()[0].provenance
    assert told["graph"] == "kron8"
    assert told["tried"] == found.tried
    assert {"when", "version", "seed", "points", "meter", "seconds"} <= told.keys()
    assert "user entry" in repr(cg.bfs(KRON, 0, config="tuned", device=pocl).stats.config)


def test_graphs_alike_are_near_and_others_far():
    same = cg.generate.kron(9, 8, seed=7, weights=(1, 100))
    assert distance(features_of(KRON), features_of(same)) < 0.6
    assert distance(features_of(KRON), features_of(ROAD)) > 1.0
    unweighted = cg.generate.kron(8, 8, seed=1)
    assert distance(features_of(KRON), features_of(unweighted)) == float("inf")


def test_features_of_nothing_are_numbers():
    for graph in (cg.from_edges([], [], n=0), cg.from_edges([], [], n=5), cg.generate.path(1)):
        assert distance(features_of(graph), features_of(KRON)) > 1.0


def test_an_origin_is_one_line():
    check_origin("a line")
    for wrong in ("two\nlines", "x" * 500, 7):
        with pytest.raises(InvalidArgumentError, match="one line"):
            cg.BFSConfig(origin=wrong)


def test_the_shipped_file_of_the_package_is_sound(monkeypatch):
    """Entries for the H200 and for PoCL come with the package."""
    monkeypatch.undo()
    database.shipped.cache_clear()
    platforms = {entry.device["platform"] for entry in database.shipped()}
    assert "Portable Computing Language" in platforms
    for entry in database.shipped():
        assert entry.provenance["origin"] == "measured"
        assert entry.measured["time_ms"] <= entry.measured["auto_ms"]


def test_devices_without_a_place_of_their_own_are_told_apart():
    pocl, intel = device_or_skip("pocl"), device_or_skip("intel")
    database.keep(entry_for(KRON, pocl, {"frontier": "edge"}))
    assert database.nearest(KRON, "bfs", intel) is None
