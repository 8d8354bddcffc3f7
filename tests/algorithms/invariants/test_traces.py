"""Traces in all their forms, on the host and on their way to a device."""

import gc
import logging
import tracemalloc

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.invariants import (
    InvariantMiner,
    MiningConfig,
    Trace,
    generate_trace,
    mine_sequentially,
    published_trace,
)
from clgraph.algorithms.invariants.trace import pack
from clgraph.graph.arrays import is_mapped

VCD = """$timescale 1ns $end
$scope module top $end
$var wire 1 ! clk $end
$var wire 1 " ready $end
$var wire 4 # count $end
$var real 64 $ level $end
$scope module core $end
$var wire 1 % halt $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
1"
b0 #
r0.5 $
x%
#5
1!
b11 #
#10
0!
b101 #
r1.5 $
0%
"""


def test_bits_are_packed_32_a_word():
    """Checklist 2: 5,000,000 values take 625,000 bytes."""
    assert pack(np.zeros(5_000_000, bool)).nbytes == 625_000
    for length in (1, 7, 8, 9, 31, 32, 33, 100):
        values = np.random.default_rng(length).random(length) < 0.5
        words = pack(values)
        bits = [bool(words[i // 32] >> np.uint32(i % 32) & 1) for i in range(len(words) * 32)]
        assert bits[:length] == values.tolist()
        assert set(bits[length:]) <= {bool(values[-1])}


def test_rows_are_float32_in_whole_vectors():
    """Checklist 3."""
    rows = generate_trace(3, 3, 1001).numeric.values
    assert rows.dtype == np.float32
    assert rows.shape[1] % 64 == 0
    assert rows.ctypes.data % 64 == 0
    assert (rows[:, 1001:] == rows[:, 1000:1001]).all()


def forms(tmp_path):
    """One trace as everything that is accepted."""
    columns = {"a": np.array([1.0, 2, 3]), "b": np.array([2.0, 2, 4]),
               "p": np.array([True, False, True])}  # fmt: skip
    pandas = pytest.importorskip("pandas")
    text = "a,b,p\n1,2,true\n2,2,False\n3,4,TRUE\n"
    (tmp_path / "trace.csv").write_text(text)
    np.savez(tmp_path / "trace.npz", **columns)
    return {
        "dict": columns,
        "frame": pandas.DataFrame(columns),
        "csv": tmp_path / "trace.csv",
        "npz": str(tmp_path / "trace.npz"),
        "trace": Trace.from_columns(columns),
    }


@pytest.mark.parametrize("form", ["dict", "frame", "csv", "npz", "trace"])
def test_a_trace_in_every_form(form, tmp_path, any_device):
    """Checklist 1."""
    result = cg.mine_invariants(forms(tmp_path)[form], device=any_device)
    assert result.text() == "a <= b"
    (found,) = result.invariants
    assert found.template == "v1 <= v2"
    assert found.variables == ("a", "b")


def test_arrays_of_numbers_and_of_booleans(tmp_path, any_device):
    numbers = np.array([[1, 2], [2, 3]], np.int16)
    result = cg.mine_invariants(numbers, names=["x", "y"], device=any_device)
    assert result.text().splitlines() == ["x != y", "x < y", "x <= y"]
    np.save(tmp_path / "trace.npy", numbers)
    assert cg.mine_invariants(tmp_path / "trace.npy", device=any_device).counts["v1 < v2"] == 1
    booleans = np.array([[True, True], [True, False]])
    assert cg.mine_invariants(booleans, device=any_device).text() == "v0 == True"


def test_value_change_dump(tmp_path):
    """Every time at which something changes is an instant; unknown bits have no value."""
    pytest.importorskip("vcd")
    path = tmp_path / "wave.vcd"
    path.write_text(VCD)
    trace = Trace.of(path)
    assert trace.length == 3
    assert set(trace.boolean.names) == {"top.clk", "top.ready"}
    place = trace.numeric.names.index
    assert trace.values("numeric", place("top.count"), 0, 3).tolist() == [0, 3, 5]
    assert trace.values("numeric", place("top.level"), 0, 3).tolist() == [0.5, 0.5, 1.5]
    halt = trace.values("numeric", place("top.core.halt"), 0, 3)
    assert np.isnan(halt[:2]).all()
    assert halt[2] == 0


def test_parquet(tmp_path, any_device):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table({"a": [1, 2], "b": [3, 4]}), tmp_path / "t.parquet")
    assert cg.mine_invariants(tmp_path / "t.parquet", device=any_device).counts["v1 < v2"] == 1


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.csv", "a,b\n1\n", "t.csv:2: 1 values for 2"),
        ("t.csv", "a\nx\n", "t.csv:2: 'x' is neither"),
        ("t.csv", "a,a\n1,2\n", "t.csv:1: two columns"),
        ("t.csv", "", "t.csv:1: the names"),
        ("t.csv", "a\n", "t.csv:2: there is no instant"),
        ("t.npy", "not an array", "it is damaged or no such file"),
        ("t.npz", "not an array", "it is damaged or no such file"),
        ("t.doc", "", "does not end in one of"),
    ],
)
def test_files_that_are_none(name, content, problem, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=problem):
        Trace.of(tmp_path / name)


@pytest.mark.parametrize(
    "trace",
    [
        [], np.zeros((0, 4)), np.zeros((2, 0)), np.zeros(3), {"a": ["x"]},
        {"a": [1], "b": [1, 2]}, np.zeros((2, 2), complex),
    ],
)  # fmt: skip
def test_traces_that_are_none(trace):
    with pytest.raises(cg.InvalidArgumentError):
        cg.mine_invariants(trace)


@pytest.mark.parametrize(
    "options",
    [
        {"templates": "III"}, {"templates": []}, {"templates": ["a +"]}, {"templates": ["a + b"]},
        {"templates": ["a < b < c < d"]}, {"templates": ["__import__('os')"]},
        {"templates": ["a.b < 1"]}, {"templates": ["1 < 2"]}, {"templates": ["a < 1e99"]},
        {"templates": ["a < b" + " + 1" * 400]}, {"templates": [7]}, {"arity": 4},
        {"tolerance": -1}, {"names": ["a"]}, {"names": ["a", "a"]}, {"config": "fast"},
    ],
)  # fmt: skip
def test_arguments_that_are_none(options):
    with pytest.raises(cg.InvalidArgumentError):
        cg.mine_invariants(np.zeros((2, 2)), **options)


def test_several_traces_need_the_same_variables():
    with pytest.raises(cg.InvalidArgumentError, match="same variables"):
        cg.mine_invariants([{"a": [1]}, {"b": [1]}])


def test_numbers_that_32_bits_round_are_told(caplog, any_device):
    with caplog.at_level(logging.WARNING, "clgraph"):
        cg.mine_invariants({"a": np.array([2**24 + 1]), "b": np.array([2**24])}, device=any_device)
    assert "'a' has values that 32 bits round" in caplog.text


@pytest.mark.parametrize("source", ["memory", "file", "float64"])
def test_a_trace_four_times_the_device_memory(source, device, monkeypatch, tmp_path):
    """Parts go through three buffers; copies, and what is held, are counted."""
    trace = published_trace(2, 60_000)
    texts = ["a <= b", "a == max(b, c)", "p == True", "p == (q and r)"]
    plan = InvariantMiner(texts, device=device, config=MiningConfig(chunk_bytes=1 << 16))
    expected = plan.run(trace).text()
    given = trace
    if source != "memory":
        values = trace.numeric.values[:, :60_000]
        np.save(tmp_path / "t.npy", values if source == "file" else values.astype(np.float64))
        given = Trace.of(tmp_path / "t.npy")
        expected = plan.run(given).text()
    size = 15 * 60_000 * 4
    gc.collect()  # which would give back what others left while this one looks
    held = device.ledger.used_bytes
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(held + size // 4))
    result = plan.run(given)
    assert result.text() == expected
    assert not result.stats.kept
    assert result.stats.copied_bytes > size // 2
    assert device.ledger.used_bytes == held


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_a_file_larger_than_the_host_memory(dtype, any_device, monkeypatch, tmp_path):
    """Of a memory-mapped file the host holds what is on its way, and of Booleans an eighth."""
    values = np.empty((8, 1 << 19), dtype)
    values[:] = 1 if dtype is bool else np.arange(8)[:, None]
    values[3:, -1] = 0
    np.save(tmp_path / "t.npy", values)
    nbytes = values.nbytes
    del values
    gc.collect()
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(any_device.ledger.used_bytes + (1 << 20)))
    plan = InvariantMiner("I", device=any_device, config=MiningConfig(chunk_bytes=1 << 16))
    tracemalloc.start()
    try:
        trace = Trace.of(tmp_path / "t.npy")
        result = plan.run(trace)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.counts["v1 == True" if dtype is bool else "v1 < v2"] == 3
    if dtype is not bool:
        assert is_mapped(trace.numeric.values)
    assert peak < nbytes // 4 + (1 << 20)


def test_too_little_memory_for_a_few_instants(any_device, monkeypatch):
    gc.collect()
    monkeypatch.setenv("CLGRAPH_MEMORY_LIMIT", str(any_device.ledger.used_bytes + 1000))
    with pytest.raises(cg.DeviceMemoryError, match="mine fewer variables"):
        cg.mine_invariants(generate_trace(8, 0, 100_000), device=any_device)


def test_memory_is_given_back_when_progress_raises(device):
    """An exception between two parts leaves nothing behind, and the plan works on."""
    trace = Trace.of(published_trace(2, 200_000).numeric.values[:, :200_000])
    plan = InvariantMiner("I", device=device, config=MiningConfig(chunk_bytes=1 << 18))
    gc.collect()
    held = device.ledger.used_bytes

    def stop(done, total, _what):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.run(trace, progress=stop)
    assert device.ledger.used_bytes == held
    told = []
    result = plan.run(trace, progress=lambda *message: told.append(message))
    assert len(result) == 135
    assert told[-1][:2] == (200_000, 200_000)


def test_pinned_and_prepared_traces_give_the_same(device):
    trace = Trace.of(generate_trace(6, 0, 70_001, mode="interval").numeric.values[:, :70_001])
    plan = InvariantMiner("II", device=device)
    expected = plan.run(trace).text()
    assert plan.run(trace.prepared()).text() == expected
    assert plan.run(trace.pinned(device)).text() == expected
    assert expected


@pytest.mark.parametrize("mode", ["constant", "random", "interval"])
def test_generated_traces(mode, any_device):
    """Checklist 24."""
    trace = generate_trace(5, 5, 5000, mode=mode, seed=1)
    again = generate_trace(5, 5, 5000, mode=mode, seed=1)
    assert (trace.numeric.values == again.numeric.values).all()
    plan = InvariantMiner("I", device=any_device)
    found = {str(i) for i in plan.run(trace).invariants}
    assert len(found) == {"constant": 35, "random": 0, "interval": 35}[mode]
    assert len(mine_sequentially([trace], plan.families)) == len(found)


def test_forms_of_the_result(any_device):
    """Checklist 22."""
    columns = {"a": [1, 2], "b|": [2, 3], "p": [True, True], "q": [True, False]}
    texts = ["v < w + 0.1", "v == True", "x == (y and z)"]
    result = cg.mine_invariants(columns, templates=texts, device=any_device)
    frame = result.to_frame()
    assert list(frame.columns) == ["template", "v1", "v2", "v3"]
    assert frame.values.tolist()[0][:3] == ["v1 < (v2 + 0.1)", "a", "b|"]
    assert result.counts == {"v1 < (v2 + 0.1)": 1, "v1 == True": 1, "v1 == (v2 and v3)": 0}
    assert len(result) == 2
    script = result.to_smt()
    assert "(declare-const |b_| Real)" in script
    assert "(assert (< |a| (+ |b_| (/ 13421773.0 134217728.0))))" in script
    assert "(assert (= |p| true))" in script
    assert result.stats.kernel_ms > 0
    assert result.stats.total_ms > 0
