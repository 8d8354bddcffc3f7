"""Each subcommand on small inputs, in this process."""

import csv
import importlib.metadata
import inspect
import json

import numpy as np
import pytest

import clgraph as cg
from clgraph import energy
from clgraph.cli.files.generate import KINDS, NEEDED
from clgraph.cli.main import main
from clgraph.cli.searching import cell
from clgraph.device import discovery
from clgraph.energy.readings import Reading


@pytest.fixture
def run(capsys):
    def call(*argv):
        status = main([str(word) for word in argv])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n6 6 4\n1 2\n2 3\n3 4\n1 5\n")
    return path


def record_of(outcome):
    status, out, err = outcome
    assert (status, err) == (0, "")
    return json.loads(out)


def refused(outcome, status, *words):
    found, out, err = outcome
    assert found == status
    assert out == ""
    assert err.startswith("clgraph: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_devices(run, any_device):
    record = record_of(run("devices", "--json"))
    assert any_device.name in [found["name"] for found in record["devices"]]
    assert record["default"] == f"{cg.device().index[0]}:{cg.device().index[1]}"
    assert all(found["traits"]["lanes"] >= 1 for found in record["devices"])
    status, out, _ = run("devices")
    assert status == 0
    assert any_device.name in out
    assert f"* {record['default']}  " in out


def test_devices_says_why_something_was_left_out_and_what_to_install(run, monkeypatch):
    nothing = discovery.Inventory((), (), (discovery.LeftOut("Some GPU", "it has no compiler"),))
    monkeypatch.setattr(discovery, "inventory", lambda: nothing)
    status, out, err = run("devices")
    assert (status, err) == (3, "")
    assert "pip install clgraph[cpu]" in out
    assert "left out: Some GPU: it has no compiler" in out
    status, out, _ = run("devices", "--json")
    assert status == 3
    assert json.loads(out) == {
        "default": None,
        "devices": [],
        "left_out": [{"name": "Some GPU", "reason": "it has no compiler"}],
    }


def test_doctor(run, pocl):
    record = record_of(run("doctor", "--json"))
    (found,) = [d for d in record["devices"] if d["platform"] == pocl.platform]
    assert found["self_test"]["passed"]
    assert found["meter"]["source"] in {"none", "rapl"}
    assert found["meter"]["note"]
    assert any(trial["error"] is None for trial in record["drivers"])
    assert record["cache"]["folder"]
    assert record["versions"]["pyopencl"]
    status, out, _ = run("doctor", "--no-self-test")
    assert status == 0
    for word in ("loader", "driver", "cache", "meter: ", "self-test: not run"):
        assert word in out


def test_doctor_works_in_a_checkout_that_is_not_installed(run, monkeypatch):
    def nothing(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", nothing)
    status, out, _ = run("doctor", "--no-self-test")
    assert status == 0
    assert "clgraph (not installed)" in out


def test_doctor_reports_a_device_that_computes_wrongly(run, monkeypatch):
    answers = [("lane_id", True, ""), ("lane_ballot", False, "lane 3 got 1, not 0")]
    monkeypatch.setattr("clgraph.primitives.check_lanes", lambda _: answers)
    status, out, _ = run("doctor")
    assert status == 3
    assert "FAILED: lane_ballot: lane 3 got 1, not 0" in out


def test_doctor_goes_on_after_a_driver_that_fails(run, monkeypatch):
    def fail(_):
        raise RuntimeError("the driver is broken\nin many ways")

    monkeypatch.setattr("clgraph.primitives.check_lanes", fail)
    status, out, _ = run("doctor")
    assert status == 3
    assert out.count("FAILED: RuntimeError: the driver is broken\n") == len(cg.devices())


def test_info(run, small):
    """bfs-helix 24: what a graph is, as numbers; `clgraph bfs` adds depth, time, MTEPS, joules."""
    record = record_of(run("info", small, "--json"))
    assert (record["vertices"], record["edges"], record["directed"]) == (6, 4, True)
    assert record["isolated"] == 1
    assert record["size_bytes"] == small.stat().st_size
    status, out, _ = run("info", small)
    assert status == 0
    assert "6, of which 1 isolated" in out


def test_info_of_weights(run, tmp_path):
    path = tmp_path / "weighted.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 2.5\n")
    weights = record_of(run("info", path, "--json"))["weights"]
    assert (weights["min"], weights["max"], weights["mean"]) == (0.5, 2.5, 1.5)
    assert "0.5 to 2.5" in run("info", path)[1]


@pytest.mark.parametrize("command", ["info", "bfs"])
def test_missing_and_malformed_files(run, tmp_path, command):
    refused(run(command, tmp_path / "absent.mtx"), 2, "absent.mtx")
    refused(run(command, tmp_path), 2)
    broken = tmp_path / "broken.mtx"
    broken.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 9\n")
    refused(run(command, broken), 2, "broken.mtx:4:")


def test_limits_of_hostile_files_can_be_moved(run, small):
    refused(run("info", small, "--max-vertices", 5), 2, "max_vertices")
    refused(run("info", small, "--max-bytes", 9), 2, "max_bytes")
    assert run("info", small, "--max-vertices", 6)[0] == 0


def test_convert(run, small, tmp_path):
    there, back = tmp_path / "there.npz", tmp_path / "back.mtx"
    record = record_of(run("convert", small, there, "--json"))
    assert (record["vertices"], record["edges"], record["weighted"]) == (6, 4, False)
    assert run("convert", there, back)[0] == 0
    first, last = cg.read(small), cg.read(back)
    np.testing.assert_array_equal(first.indptr, last.indptr)
    np.testing.assert_array_equal(first.indices, last.indices)


def test_convert_symmetrizes_and_drops_weights(run, tmp_path):
    path, output = tmp_path / "weighted.mtx", tmp_path / "plain.txt"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 2.5\n")
    record = record_of(
        run("convert", path, output, "--no-weights", "--symmetrize", "--to", "npz", "--json")
    )
    assert (record["edges"], record["directed"], record["weighted"]) == (4, False, False)
    graph = cg.read(output, format="npz")
    assert graph.weights is None
    assert graph.m == 4


@pytest.mark.parametrize("kind", KINDS)
def test_generate_knows_the_parameters_of_the_library(kind):
    signature = inspect.signature(getattr(cg.generate, kind))
    names = {name for name in signature.parameters if name not in {"seed", "weights", "directed"}}
    assert set(KINDS[kind]) == names
    required = {
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is inspect.Parameter.empty
    }
    assert required == names & set(NEEDED)


def test_generate_lists_every_kind():
    assert set(KINDS) == set(cg.generate.__all__)


def test_help_of_generate_names_options_as_they_are_written(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")  # in fewer they are broken, at hyphens too
    _, out, _ = run("generate", "--help")
    assert "--edge-factor" in out
    assert "_" not in out


def test_generate(run, tmp_path):
    path = tmp_path / "out.mtx"
    record = record_of(
        run("generate", "kron", "--scale", 6, "--edge-factor", 4, "--seed", 3, path, "--json")
    )
    expected = cg.generate.kron(6, 4, seed=3)
    assert (record["vertices"], record["edges"]) == (expected.n, expected.m)
    graph = cg.read(path)
    np.testing.assert_array_equal(graph.indices, expected.indices)
    status, out, _ = run("generate", "path", "--n", 5, tmp_path / "path.npz")
    assert status == 0
    assert "path (n=5, seed=0)" in out


@pytest.mark.parametrize(("bounds", "kind"), [(("1", "9"), "i"), (("0.5", "2"), "f")])
def test_generate_with_weights(run, tmp_path, bounds, kind):
    path = tmp_path / "out.npz"
    record_of(run("generate", "grid2d", "--width", 4, "--weights", *bounds, path, "--json"))
    weights = cg.read(path).weights
    assert weights.dtype.kind == kind
    assert float(bounds[0]) <= weights.min() <= weights.max() <= float(bounds[1])


def test_generate_refuses_what_makes_no_graph(run, tmp_path):
    refused(run("generate", "path", "--n", -1, tmp_path / "x.mtx"), 2, "-1")
    assert list(tmp_path.iterdir()) == []


def bfs(run, device, *argv):
    return run("bfs", *argv, "--device", f"{device.index[0]}:{device.index[1]}")


def test_bfs(run, small, any_device):
    record = record_of(bfs(run, any_device, small, "--json", "--levels"))
    assert (record["reached"], record["depth"], record["edges_traversed"]) == (5, 3, 4)
    assert record["graph"] == {
        "vertices": 6,
        "edges": 4,
        "directed": True,
        "weighted": False,
        "file": str(small),
    }
    assert record["device"]["name"] == any_device.name
    assert [level["frontier"] for level in record["levels"]] == [1, 2, 1, 1]
    assert record["kernel_ms"] > 0
    assert record["total_ms"] > 0
    assert record["mteps"] == pytest.approx(4e-3 / record["kernel_ms"])  # bfs-helix 24: E/t
    assert "energy" not in record


def test_bfs_prints_what_a_person_asks(run, small, any_device):
    status, out, err = bfs(run, any_device, small, "--repeat", 3, "--levels", "--source", 1)
    assert (status, err) == (0, "")
    for words in ("6 vertices", any_device.name, "3 vertices (50.0 %), depth 2", "median of 3"):
        assert words in out
    assert "level" in out.splitlines()[-4]


def test_bfs_goes_no_deeper_than_told(run, small, any_device):
    record = record_of(bfs(run, any_device, small, "--max-depth", 1, "--json"))
    assert (record["reached"], record["depth"], record["max_depth"]) == (3, 1, 1)


def test_bfs_shortens_a_long_table_of_levels(run, tmp_path, any_device):
    path = tmp_path / "path.npz"
    cg.write(cg.generate.path(200), path)
    _, out, _ = bfs(run, any_device, path, "--levels")
    assert "... 160 levels; --json shows all" in out
    assert len(record_of(bfs(run, any_device, path, "--levels", "--json"))["levels"]) == 200


def test_bfs_writes_npz(run, small, tmp_path, any_device):
    output = tmp_path / "out.npz"
    record = record_of(bfs(run, any_device, small, "--predecessors", "--output", output, "--json"))
    assert record["output"] == str(output)
    with np.load(output) as arrays:
        np.testing.assert_array_equal(arrays["distances"], [0, 1, 2, 3, 1, -1])
        np.testing.assert_array_equal(arrays["predecessors"], [0, 0, 1, 2, 0, -1])
        assert arrays["source"] == 0


def test_bfs_writes_csv(run, small, tmp_path, any_device):
    output = tmp_path / "out.csv"
    assert bfs(run, any_device, small, "--output", output)[0] == 0
    with output.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["vertex", "distance"]
    assert rows[1:] == [[str(v), str(d)] for v, d in enumerate([0, 1, 2, 3, 1, -1])]


def test_bfs_starts_from_a_label(run, tmp_path, any_device):
    path, output = tmp_path / "sparse.snap", tmp_path / "out.npz"
    path.write_text("700\t90000\n90000\t5\n")
    record = record_of(
        bfs(run, any_device, path, "--source-label", 90000, "--output", output, "--json")
    )
    assert (record["source"], record["source_label"], record["reached"]) == (2, 90000, 2)
    with np.load(output) as arrays:
        np.testing.assert_array_equal(arrays["labels"], [5, 700, 90000])
        np.testing.assert_array_equal(arrays["distances"], [1, -1, 0])
    assert "2 (called 90000 in the file)" in bfs(run, any_device, path, "--source", 2)[1]
    refused(run("bfs", path, "--source-label", 6), 2, "--source-label 6")


def test_bfs_has_no_labels_where_ids_leave_no_gaps(run, small):
    refused(run("bfs", small, "--source-label", 3), 2, "use --source")


def test_csv_fields_are_quoted_where_they_must_be():
    assert list(csv.reader([",".join(map(cell, ['a,"b"', 3, "plain"]))])) == [
        ['a,"b"', "3", "plain"]
    ]


def test_bfs_with_dimensions_set(run, small):
    """bfs-helix 25: dimensions on top of a preset, by name; the device is found by itself."""
    wanted = ["--set", "frontier=edge", "--set", "schedule.group_size=16", "--set", "counts=yes"]
    config = record_of(run("bfs", small, "--json", "--device", "intel", *wanted))["config"]
    names = ("frontier", "schedule.group_size", "counts", "balance", "schedule")
    found = ["edge", 16, True, "warp_search", "persistent"]
    assert [config[name] for name in names] == found


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("frontier", "'frontier' is not a parameter and its value"),
        ("colour=red", "'colour=red' is not a parameter"),
        ("schedule.single_group=maybe", "schedule.single_group=maybe must be yes or no"),
        ("schedule.groups=-1", "schedule.groups=-1 must be a whole number, 0 or more"),
        ("balance.unit_batch=8", "balance.unit_batch is of two_phase, multi_phase"),
        ("frontier=heap", "frontier='heap' is not one of vertex, edge"),
    ],
)
def test_bfs_with_dimensions_that_are_none(run, small, words, complaint):
    status, out, err = run("bfs", small, "--set", words)
    assert (status, out) == (2, "")
    assert complaint in err


def test_bfs_says_why_there_are_no_joules(run, small, any_device, monkeypatch):
    monkeypatch.setattr(energy, "find_meter", lambda _: energy.NoMeter("nobody put one in."))
    status, out, err = bfs(run, any_device, small, "--energy")
    assert (status, err) == (0, "")
    assert "energy   not measured: nobody put one in." in out
    record = record_of(bfs(run, any_device, small, "--energy", "--json"))
    assert record["energy"]["joules_per_run"] is None


def test_bfs_measures_joules(run, small, any_device, monkeypatch):
    class Meter:
        source, note, update_s, poll_s = "rapl", "made up", 0.02, 0.005
        looks = 0

        def read(self):
            Meter.looks += 1
            return Reading(Meter.looks * 1.0, 200.0)

        def close(self):
            pass

    monkeypatch.setattr(energy, "find_meter", lambda _: Meter())
    monkeypatch.setattr("clgraph.energy.measuring.find_meter", lambda _: Meter())
    monkeypatch.setattr("clgraph.energy.measuring._idle", {})
    monkeypatch.setattr("clgraph.cli.reporting.ENERGY_SECONDS", 0.1)
    measured = record_of(bfs(run, any_device, small, "--energy", "--json"))["energy"]
    assert measured["joules_per_run"] > 0
    assert measured["runs"] >= 1
    assert " J per search" in bfs(run, any_device, small, "--energy")[1]


def test_bfs_refuses_bad_input(run, small, tmp_path):
    refused(run("bfs", small, "--source", 6), 2, "source=6")
    refused(run("bfs", small, "--source", -1), 2, "source=-1")
    refused(run("bfs", small, "--config", "fastest"), 2, "fastest")
    refused(run("bfs", small, "--max-depth", -2), 2, "-2")
    refused(run("bfs", small, "--repeat", "few"), 2, "'few' is not a whole number of at least 1")
    # What the command itself says comes before a file is read, which may take minutes.
    absent = tmp_path / "absent"
    refused(run("bfs", absent, "--output", "out.png"), 2, "out.png", ".npz", ".csv")
    refused(run("bfs", absent, "--output", absent / "out.csv"), 2, "folder does not exist")
    refused(run("bfs", absent, "--config", "fastest"), 2, "fastest")
    refused(run("sssp", absent, "--config", "fastest"), 2, "fastest")
    refused(run("sssp", absent, "--set-point", 9, "--trace", absent / "x.svg"), 2, "folder")


@pytest.mark.parametrize("name", ["no/such/folder/x.mtx", "x.doc"])
def test_graphs_without_a_place_are_refused_before_they_are_made(run, tmp_path, monkeypatch, name):
    monkeypatch.setattr(cg.generate, "path", None)
    monkeypatch.setattr(cg, "read", None)
    target = tmp_path / name
    for words in (("generate", "path", "--n", 9, target), ("convert", "x.mtx", target)):
        refused(run(*words), 2, "folder does not exist" if "folder" in name else "say the format")
    refused(run("generate", "path", "--n", 9, "--weights", "1", "x"), 2, "'x' is not a number")


def test_bfs_on_a_device_that_is_not_there(run, small):
    refused(run("bfs", small, "--device", "abacus"), 3, "abacus")
