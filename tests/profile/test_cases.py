"""The case studies: versions that give the same, and what a profile says of them."""

import json

import pytest

from bench.studies.profiling import cases, profiles
from clgraph.device.observing import observed_by
from clgraph.device.programs.compiling import NO_OPTIMISING
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes import twins
from clgraph.profile.passes.watching import Counting

SCALE = 12


@pytest.mark.parametrize("name", cases.STUDIES)
@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.slow_on("intel")
def test_every_version_gives_the_same_plain_and_profiled(name, device):
    rows = cases.studied(name, device, SCALE, repeats=2)
    assert len(rows) == (4 if name in {"vector_reduction", "matrix_transpose"} else 3)
    assert rows[0]["speedup"] == 1.0
    assert all(row["time_s"] > 0 for row in rows)
    assert all(row["changes"] for row in rows[1:])
    assert cases.shown(rows).count("\n") == len(rows)


def criteria(rows, version, name):
    return rows[version]["report"]["criteria"][name]["value"]


@pytest.mark.rest
@pytest.mark.runtimes("pocl+lanes32")
@pytest.mark.parametrize("name", ["reduction", "transpose", "bfs"])
def test_each_version_mends_what_it_is_for(name, device):
    rows = cases.studied(name, device, SCALE, repeats=1)
    if name == "reduction":
        assert criteria(rows, 2, "Gran_L1") > criteria(rows, 0, "Gran_L1")
    elif name == "transpose":
        assert criteria(rows, 1, "SMem_eff") > criteria(rows, 0, "SMem_eff")
        assert criteria(rows, 2, "SMem_eff") == 1.0
        assert criteria(rows, 2, "Gran_L1") == 1.0
    else:
        assert criteria(rows, 1, "HSync") == 1.0 > criteria(rows, 0, "HSync")
        assert criteria(rows, 2, "Gran_L2") > criteria(rows, 1, "Gran_L2")


@pytest.mark.slow
@pytest.mark.runtimes("pocl+lanes32")
def test_each_step_of_power_aware_tuning_mends_what_it_is_for(device):
    reduction = cases.studied("vector_reduction", device, SCALE, repeats=1)
    assert criteria(reduction, 3, "Gran_L2") > 0.95  # all but an atomic a work-group
    sizes = reduction[3]["report"]["kernels"][0]["criteria"]["Gran_L1"]["inputs"]["accesses"]
    assert max(sizes, key=sizes.get) == "16"
    transpose = cases.studied("matrix_transpose", device, SCALE, repeats=1)
    efficiency = [criteria(transpose, version, "Gran_L2") for version in range(4)]
    # A column of reads or of writes moves 32 bytes for 4, the other way all that it moves.
    assert efficiency[0] == pytest.approx(2 / 9, rel=0.01)
    assert efficiency[2] == efficiency[3] == 1.0
    assert criteria(transpose, 2, "SMem_eff") < 0.1 < criteria(transpose, 3, "SMem_eff") == 1.0


def test_the_versions_are_wrong_where_the_check_says_so(pocl):
    version = cases.STUDIES["reduction"](pocl, SCALE)[0]
    with pytest.raises(cases.VerificationError):
        version.check()  # before the first run


@pytest.mark.rest
def test_cases_alone_make_a_record_and_a_table(pocl, tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "STUDIES", {"reduction": cases.reduction})
    file = tmp_path / "cases.json"
    device = "{}:{}".format(*pocl.index)
    words = ["--device", device, "--parts", "cases", "--scale", "10", "--output", str(file)]
    assert profiles.main(words) == 0
    record = json.loads(file.read_text("utf-8"))
    assert record["machine"]["device"]["name"] == pocl.name
    assert (record["patterns"], record["calibration"], record["runs"]) == ([], None, [])
    rows = record["cases"]["reduction"]
    assert all(row["foretold_s"] > 0 and "report" not in row for row in rows)
    assert rows[2]["criteria"]["Gran_L1"] > 0
    lines = profiles.cases_table(record)
    assert len(lines) == 2 + len(rows)
    assert lines[2].startswith("| reduction | a tree in local memory | ")
    assert f" | {rows[2]['speedup']:.2f} | " in lines[4]
    foretold = rows[0]["foretold_s"] / rows[2]["foretold_s"]
    assert f" | {rows[2]['speedup']:.2f} | {foretold:.2f} | " in lines[4]


@pytest.mark.optimised
def test_traces_are_not_optimised_by_pocl(pocl, monkeypatch):
    """It dies of these tiles where it is left to, some time after."""
    asked, build = [], twins.build

    def noted(*args, more=(), **about):
        asked.append(more)
        return build(*args, more=more, **about)

    monkeypatch.setattr(twins, "build", noted)
    padded = cases.STUDIES["transpose"](pocl, SCALE)[-1]
    counting = Counting(Mask.DIV | Mask.GMEM | Mask.LMEM, pocl)
    with observed_by(counting):
        padded.run()
    counting.release()
    padded.check()
    assert asked == [(NO_OPTIMISING,)]
