"""What other libraries are known to mistreat never reaches them."""

import io
import re

import numpy as np
import pytest
import scipy.io
from runtimes import clean_environment, run_python

import clgraph as cg
from clgraph.graph.csr import simple_matrix

DIAMETER = """
import sys
import clgraph as cg
path = sys.argv[1]
print(cg.diameter(cg.read(path), device=sys.argv[2], disconnected="ignore"))
"""


def test_the_diameter_of_parallel_edges_with_real_weights(tmp_path, any_device):
    """Scipy's strong components never end on two float64 entries in one place."""
    path = tmp_path / "g.edges"
    path.write_text("0 1 1.5\n0 1 2.5\n")
    name = f"{any_device.index[0]}:{any_device.index[1]}"
    assert run_python(DIAMETER, str(path), name, env=clean_environment()).stdout == "1\n"


def test_csgraph_gets_one_entry_for_parallel_edges():
    graph = cg.from_edges([0, 0, 1, 1], [1, 1, 0, 2], np.array([1.5, 2.5, 0.0, 3.0]), n=3)
    matrix = simple_matrix(graph.indptr, graph.indices)
    assert matrix.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    assert matrix.nnz == 3
    assert not np.shares_memory(matrix.indices, graph.indices)


DECIMAL = re.compile(rb" *-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *")
LAST = ("1_0", "1x", "1.5e", "1.5e+", "1e5.", "--1", "1.5\0", "1,5", "0x1p3", "1.5\u0663", "2.5")


@pytest.mark.parametrize("last", LAST)
def test_mmread_gets_decimals_alone(last, tmp_path, monkeypatch):
    """SciPy 1.17 ends the process where a file ends in a number with something behind it."""
    read, given = scipy.io.mmread, []

    def recorded(source):
        given.append(source.read())
        lines = given[-1].split(b"\n")
        assert lines.pop() == b""
        assert all(map(DECIMAL.fullmatch, lines[2:])), lines
        return read(io.BytesIO(given[-1]))

    monkeypatch.setattr(scipy.io, "mmread", recorded)
    path = tmp_path / "g.edges"
    path.write_text(f"0 1 1.5\n1 2 {last}")
    if last == "2.5":
        assert cg.read(path).weights.tolist() == [1.5, 2.5]
        assert given
    else:
        with pytest.raises(cg.GraphFormatError, match=r"g\.edges:2:"):
            cg.read(path)


def test_an_order_of_many_parallel_edges():
    """Their number does not overflow what stands for an entry."""
    graph = cg.from_edges(np.repeat([0, 1], 256), np.repeat([1, 2], 256), n=3)
    assert sorted(graph.reordered("rcm").permutation.tolist()) == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("config", ["near-far", "bellman-ford", "auto"])
def test_sums_beyond_real_types_are_no_missing_paths(dtype, config, any_device):
    """As of integers: whoever has no shorter way is not called unreached."""
    if config == "bellman-ford":
        config = cg.SSSPConfig(method="bellman-ford")
    elif config == "near-far":
        config = cg.SSSPConfig(method="near-far")
    most = np.finfo(dtype).max
    graph = cg.from_edges([0, 1], [1, 2], np.array([most, most], dtype), n=3)
    with pytest.raises(OverflowError, match=f"edge 1 -> 2 is longer than {np.dtype(dtype)}"):
        cg.sssp(graph, 0, config=config, device=any_device)
    around = cg.from_edges([0, 1, 0], [1, 2, 2], np.array([most, most, 1.5], dtype), n=3)
    found = cg.sssp(around, 0, config=config, device=any_device).distances
    np.testing.assert_array_equal(found, np.array([0, most, 1.5], dtype))
    near = cg.sssp(graph, 0, max_distance=1e30, config=config, device=any_device).distances
    np.testing.assert_array_equal(near, np.array([0, np.inf, np.inf], dtype))
