"""What each format means by its lines, and how files are recognised (bfs-helix 23)."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import clgraph.graph as cgg
from clgraph.errors import GraphFormatError, InvalidArgumentError
from clgraph.graph import Graph

MTX = "%%MatrixMarket matrix coordinate "


@pytest.fixture
def read(tmp_path: Path):
    def read_text(text: str | bytes, name: str, **options: object) -> Graph:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return cgg.read(path, **options)

    return read_text


def arcs(graph: Graph) -> list[tuple[int, int]]:
    return list(
        zip(
            np.repeat(np.arange(graph.n), graph.degrees).tolist(),
            graph.indices.tolist(),
            strict=True,
        )
    )


def test_matrix_market_symmetries(read) -> None:
    lower = "3 3 2\n2 1 5\n3 3 7\n"
    symmetric = read(MTX + "integer symmetric\n" + lower, "a.mtx")
    assert arcs(symmetric) == [(0, 1), (1, 0), (2, 2)]
    assert symmetric.weights.tolist() == [5, 5, 7]
    assert not symmetric.directed
    general = read(MTX + "integer general\n" + lower, "a.mtx")
    assert arcs(general) == [(1, 0), (2, 2)]
    assert general.directed
    mirrored = read(MTX + "integer symmetric\n" + lower, "a.mtx", directed=True)
    assert arcs(mirrored) == arcs(symmetric)
    assert mirrored.directed
    undirected = read(MTX + "integer general\n" + lower, "a.mtx", directed=False)
    assert arcs(undirected) == arcs(symmetric)
    skew = read(MTX + "real skew-symmetric\n2 2 1\n2 1 5\n", "a.mtx")
    assert skew.directed
    assert skew.weights.tolist() == [-5.0, 5.0]
    assert skew.weights.dtype == np.float64


def test_matrix_market_without_a_banner(read, caplog) -> None:
    """As Network Repository has some: sizes, then pairs that count from 1."""
    with caplog.at_level("WARNING", "clgraph"):
        graph = read("4 4 3\n1 2\n2 3\n4 1\n", "a.mtx")
    assert graph.n == 4
    assert arcs(graph) == [(0, 1), (1, 2), (3, 0)]
    assert graph.directed
    assert graph.weights is None
    (record,) = caplog.records
    assert "3 entries of a 4 x 4 matrix" in record.getMessage()
    assert "directed=False" in record.getMessage()
    both = read("% a comment\n\n4 4 3\n1 2\n2 3\n4 1\n", "a.mtx", directed=False)
    assert arcs(both) == [(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (3, 0)]
    assert read("2 2 1\n1 2 7\n", "a.mtx").weights.tolist() == [7]
    assert read("2 2 1\n1 2 7\n", "a.mtx", weighted=False).weights is None
    assert read("2 2 0\n", "a.mtx").m == 0
    pairs = read("4 4 3\n1 2 9\n2 3 9\n", "a.mtx", format="edges")
    assert pairs.m == 3


def test_matrix_market_spelling(read) -> None:
    text = (
        "%%matrixmarket MATRIX Coordinate Pattern GENERAL\r\n% c\r\n\r\n2 2 1\r\n\r\n 1\t2 \r\n\r\n"
    )
    assert arcs(read(text, "a.mtx")) == [(0, 1)]
    assert arcs(read(text.rstrip(), "a.mtx")) == [(0, 1)]
    assert read(MTX + "real general\n3 3 0\n", "a.mtx").weights.dtype == np.float64


def test_weighted_argument(read) -> None:
    text = MTX + "real general\n2 2 1\n1 2 2.5\n"
    assert read(text, "a.mtx", weighted=False).weights is None
    assert read(text, "a.mtx", weighted=True).weights.tolist() == [2.5]
    with pytest.raises(GraphFormatError, match="has no weights"):
        read(MTX + "pattern general\n2 2 1\n1 2\n", "a.mtx", weighted=True)
    assert read("0 1 4\n", "a.txt").weights.tolist() == [4]
    assert read("0 1 4\n", "a.txt", weighted=False).weights is None


def test_decimals_are_read_as_python_reads_them(read) -> None:
    texts = [
        "1",
        "-2",
        "+3",
        "4.",
        ".5",
        "-.5e-3",
        "1E5",
        "1e+05",
        "0.1",
        "1e-320",
        "007",
        "+.5",
        "123456789012345678901234567890",
        "0.30000000000000004",
        "2.2250738585072011e-308",
    ]
    graph = read("".join(f"{i} {i + 1} {text}\n" for i, text in enumerate(texts)), "a.txt")
    np.testing.assert_array_equal(graph.weights, [float(text) for text in texts])


def test_integers_up_to_64_bits(read) -> None:
    values = [
        0,
        7,
        10**8 - 1,
        10**8,
        10**16 - 1,
        10**16,
        10**18,
        2**63 - 1,
        -1,
        -(10**17),
        1 - 2**63,
    ]
    graph = read("".join(f"{i} {i + 1} {value}\n" for i, value in enumerate(values)), "a.txt")
    assert graph.weights.dtype == np.int64
    assert graph.weights.tolist() == values
    with pytest.raises(GraphFormatError, match=":2: weight 9223372036854775808 does not fit"):
        read(f"0 1 1\n1 2 {2**63}\n", "a.txt")


def test_ids_that_leave_gaps_are_labels(read) -> None:
    graph = read("5 30\n30 7\n", "a.txt")
    assert graph.n == 3
    assert graph.labels.tolist() == [5, 7, 30]
    assert arcs(graph) == [(0, 2), (2, 1)]
    sparse = read("5 3000000\n", "a.txt")
    assert sparse.labels.tolist() == [5, 3000000]
    assert read("0 1\n1 2\n", "a.txt").labels is None
    counted = read("# Nodes: 40 Edges: 2\n5 30\n30 7\n", "a.txt")
    assert counted.n == 40
    assert counted.labels is None
    wrong = read("# Nodes: 3 Edges: 2\n5 30\n30 7\n", "a.txt")
    assert wrong.labels.tolist() == [5, 7, 30]


def test_undirected_files_list_edges_once_or_both_ways(read) -> None:
    once = read("# Undirected graph\n0 1\n2 1\n2 2\n", "a.txt")
    assert not once.directed
    assert arcs(once) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
    both = read("0 1\n1 0\n1 2\n2 1\n2 2\n", "a.txt", directed=False)
    assert arcs(both) == arcs(once)
    assert read("# Undirected graph\n0 1\n", "a.txt", directed=True).directed
    with pytest.raises(GraphFormatError, match="weighs something else"):
        read("0 1 5\n1 0 6\n", "a.txt", directed=False)


def test_comments_anywhere(read) -> None:
    assert arcs(read("# a\n0 1\n# b 7 8\n\n%c\n1 2\n#", "a.txt")) == [(0, 1), (1, 2)]
    assert arcs(read("c a\np sp 2 1\nc a 1 2 3\na 1 2 3\nc\n", "a.gr")) == [(0, 1)]
    assert arcs(read("% h\n2 1\n% one\n2\n% two\n1\n% three\n", "a.graph")) == [(0, 1), (1, 0)]


def test_metis_fmt_codes(read) -> None:
    plain = [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert arcs(read("3 2\n2\n1 3\n2\n", "a.graph")) == plain
    assert arcs(read("3 2 0\n2\n1 3\n2\n", "a.graph")) == plain
    weighted = read("3 2 1\n2 5\n1 5 3 6\n2 6\n", "a.graph")
    assert (arcs(weighted), weighted.weights.tolist()) == (plain, [5, 5, 6, 6])
    assert arcs(read("3 2 10\n9 2\n9 1 3\n9 2\n", "a.graph")) == plain
    assert arcs(read("3 2 10 2\n9 8 2\n9 8 1 3\n9 8 2\n", "a.graph")) == plain
    assert arcs(read("3 2 100\n9 2\n9 1 3\n9 2\n", "a.graph")) == plain
    full = read("3 2 111 2\n7 9 8 2 5\n7 9 8 1 5 3 6\n7 9 8 2 6\n", "a.graph")
    assert (arcs(full), full.weights.tolist()) == (plain, [5, 5, 6, 6])
    assert read("3 0\n\n\n\n", "a.graph").degrees.tolist() == [0, 0, 0]
    assert arcs(read("2 2\n1 2\n1 2\n", "a.graph")) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert arcs(read("3 2\n2\n3\n\n", "a.graph", directed=True)) == [(0, 1), (1, 2)]
    assert read("2 1 1\n2 .5\n1 .5\n", "a.graph").weights.tolist() == [0.5, 0.5]


def test_koblenz_heads(read) -> None:
    assert read("% asym unweighted\n1 2\n", "out.a").directed
    assert not read("% sym unweighted\n1 2\n", "out.a").directed
    sized = read("% sym unweighted\n% 1 5 5\n1 2\n", "out.a")
    assert (sized.n, sized.labels) == (5, None)
    timed = read("% asym weighted\n1 2 7 1200\n2 1 8 1300\n", "out.a")
    assert timed.weights.tolist() == [7, 8]
    assert read("% asym unweighted\n1 2 1 1200\n", "out.a").weights is None
    multiple = read("% sym positive\n% 9 2 2\n1 2 4\n1 2 5\n", "out.a")
    assert multiple.weights.tolist() == [4, 5, 4, 5]
    sides = read("% bip unweighted\n% 3 2 3\n1 1\n2 3\n1 2\n", "out.a")
    assert sides.n == 5
    assert sorted(arcs(sides)) == [(0, 2), (0, 3), (1, 4), (2, 0), (3, 0), (4, 1)]


def test_edges_files(read) -> None:
    assert arcs(read("% x\n0,1\n1,2\n", "a.edges")) == [(0, 1), (1, 2)]
    assert arcs(read("0 1\n1, 2\n", "a.edges")) == [(0, 1), (1, 2)]
    from_one = read("1 2 0.5\n2 3 1\n", "a.edges")
    assert from_one.labels.tolist() == [1, 2, 3]
    assert from_one.weights.tolist() == [0.5, 1.0]
    assert read("% sym unweighted\n% 2 3 3\n1 2\n2 3\n", "a.edges").labels is None
    assert read("% sym unweighted\n1 2\n2 3\n", "a.edges").directed is False


@pytest.mark.parametrize(
    "text",
    [
        "source,target,weight\n0,1,2\n1,2,3\n",
        "0,1,2\n1,2,3\n",
        '"source","target","weight"\n"0","1",2\n"1","2",3\n',
        "a;b;c\n0;1;2\n1;2;3\n",
        "a\tb\tw\n0\t1\t2\n1\t2\t3\n",
        "\ufeffsource, target, weight\r\n0, 1, 2\r\n1, 2, 3\r\n",
        "0 1 2\n1 2 3",
        "# made by hand\nfrom,to,weight,when\n0,1,2,9\n1,2,3,9\n",
    ],
)
def test_tables(read, text: str) -> None:
    graph = read(text, "a.csv")
    assert arcs(graph) == [(0, 1), (1, 2)]
    assert graph.weights.tolist() == [2, 3]


def test_dimacs_and_its_relative(read) -> None:
    roads = read("p sp 3 2\na 1 2 10\na 2 1 10\n", "a.gr", directed=False)
    assert (arcs(roads), roads.weights.tolist()) == ([(0, 1), (1, 0)], [10, 10])
    pace = read("c x\np tw 3 2\n1 2\n3 2\n", "a.gr")
    assert arcs(pace) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert pace.weights is None
    assert not pace.directed


@pytest.mark.parametrize(
    ("name", "text", "n"),
    [
        ("anything", MTX + "pattern general\n9 9 1\n1 2\n", 9),
        ("wrong.txt", MTX + "pattern general\n9 9 1\n1 2\n", 9),
        ("anything", "c x\np sp 8 1\na 1 2 3\n", 8),
        ("anything", "% sym unweighted\n% 1 7 7\n1 2\n", 7),
        ("anything", "# Nodes: 6 Edges: 1\n0 1\n", 6),
        ("out.network", "% sym\n% 1 5 5\n1 2\n", 5),
        ("UPPER.MTX", MTX + "pattern general\n4 4 1\n1 2\n", 4),
    ],
)
def test_formats_are_recognised(read, name: str, text: str, n: int) -> None:
    assert read(text, name).n == n
    packed = gzip.compress(text.encode())
    assert read(packed, f"{name}.gz").n == n


def test_formats_that_cannot_be_told(read) -> None:
    with pytest.raises(InvalidArgumentError, match="pass format="):
        read("0 1\n", "file")
    with pytest.raises(InvalidArgumentError, match="is not one of mtx"):
        read("0 1\n", "file", format="excel")
    with pytest.raises(InvalidArgumentError, match="max_bytes"):
        read("0 1\n", "a.txt", max_bytes=0)
    assert read("0 1\n", "file", format="el").n == 2


def test_missing_files_are_operating_system_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cgg.read(tmp_path / "nowhere.mtx")
    with pytest.raises(IsADirectoryError):
        cgg.read(tmp_path, format="mtx")


@pytest.mark.parametrize("name", ["graph.mtx", "graph.mtx.gz"])
def test_progress_reaches_the_end(tmp_path: Path, name: str) -> None:
    path, seen = tmp_path / name, []

    def note(done: int, total: int, what: str) -> None:
        seen.append((done, total, what))

    cgg.write(cgg.generate.random(20_000, 30), path, progress=note)
    size = path.stat().st_size
    assert seen[-1][0] >= size
    assert seen[-1][2] == f"write {name}"
    seen.clear()
    cgg.read(path, progress=note)
    assert seen[-1] == (size, size, f"read {name}")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


def test_progress_can_stop_a_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    cgg.write(cgg.generate.random(20_000, 30), path)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cgg.read(path, progress=stop)
