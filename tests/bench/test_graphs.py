"""Where benchmark graphs come from, and what is refused."""

import http.server
import io
import json
import sys
import tarfile
import threading
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from graphs import DATA, reference_distances

import clgraph as cg
from bench.runner import graphs
from bench.runner.graphs import Places, UnavailableError, checksum, find, read_bcsr
from bench.runner.pinned import GRAPHS, Pinned

GRID = cg.generate.grid2d(30, 20)


def write_bcsr(folder: Path, name: str, graph: cg.Graph, **changes: object) -> Path:
    path = folder / f"{name}.bcsr"
    weights = np.ones(graph.m, np.int32)
    with path.open("wb") as file:
        for array, dtype in (
            ([graph.n, graph.m], "<i8"),
            (graph.indptr, "<i4"),
            (graph.indices, "<i4"),
            (weights, "<i4"),
        ):
            np.asarray(array, dtype).tofile(file)
    about = {"n": graph.n, "m": graph.m, "directed": graph.directed} | changes
    path.with_suffix(".json").write_text(json.dumps(about))
    return path


def test_bcsr_round_trip(tmp_path):
    for graph in (GRID, cg.generate.rmat(6, 4, seed=1), cg.from_edges([], [], n=3)):
        found = read_bcsr(write_bcsr(tmp_path, "g", graph))
        assert found.directed == graph.directed
        np.testing.assert_array_equal(found.indptr, graph.indptr)
        np.testing.assert_array_equal(found.indices, graph.indices)


@pytest.mark.parametrize(
    ("place", "value"), [(0, 2**40), (0, -1), (8, 2**62), (8, 5), (20, -7), (16 + 4 * 601, 600)]
)
def test_damaged_bcsr_is_refused(tmp_path, place, value):
    path = write_bcsr(tmp_path, "g", GRID)
    raw = bytearray(path.read_bytes())
    width = 8 if place < 16 else 4
    raw[place : place + width] = int(value).to_bytes(width, "little", signed=True)
    path.write_bytes(raw)
    with pytest.raises(UnavailableError, match=r"g\.bcsr"):
        read_bcsr(path)


def test_truncated_empty_and_foreign_bcsr_are_refused(tmp_path):
    path = write_bcsr(tmp_path, "g", GRID)
    raw = path.read_bytes()
    for content in (raw[:-1], raw[:10], b""):
        path.write_bytes(content)
        with pytest.raises(UnavailableError):
            read_bcsr(path)
    with pytest.raises(UnavailableError, match="another graph"):
        read_bcsr(write_bcsr(tmp_path, "other", GRID, n=7))
    (tmp_path / "other.json").unlink()
    with pytest.raises(UnavailableError, match="cannot be read"):
        read_bcsr(tmp_path / "other.bcsr")


def test_a_given_folder_comes_before_generating(tmp_path, monkeypatch):
    pinned = Pinned("grid2d", (30, 20), "grid2d:30,20", {"generated": checksum(GRID)})
    monkeypatch.setitem(graphs.GRAPHS, "tiny", pinned)
    made = find("tiny")
    assert (made.origin, made.pinned) == ("generated", True)
    write_bcsr(tmp_path, "tiny", cg.generate.path(5))
    given = find("tiny", Places(graphs=tmp_path))
    assert (given.origin, given.pinned, given.graph.n) == ("bcsr", None, 5)
    cg.write(cg.generate.path(9), tmp_path / "tiny.mtx")
    assert find("tiny", Places(data=tmp_path)).graph.n == 9


def test_a_graph_that_differs_from_the_pinned_one_is_marked(monkeypatch):
    monkeypatch.setitem(graphs.GRAPHS, "tiny", Pinned("path", (5,), "", {"generated": "0" * 16}))
    found = find("tiny")
    assert found.pinned is False
    assert found.as_dict()["seed"] is None  # another draw, of which nobody knows the seed
    monkeypatch.setitem(graphs.GRAPHS, "tiny", Pinned("path", (5,)))
    assert find("tiny").as_dict()["seed"] == graphs.SEED


def test_another_seed_draws_another_graph_and_is_on_record(monkeypatch, tmp_path):
    first = cg.generate.random(50, 4, seed=graphs.SEED)
    pinned = Pinned("random", (50, 4), "", {"generated": checksum(first), "bcsr": checksum(first)})
    monkeypatch.setitem(graphs.GRAPHS, "tiny", pinned)
    found = find("tiny", Places(seed=7))
    assert found.checksum == checksum(cg.generate.random(50, 4, seed=7)) != checksum(first)
    assert (found.as_dict()["seed"], found.pinned) == (7, None)
    write_bcsr(tmp_path, "tiny", found.graph)
    given = find("tiny", Places(graphs=tmp_path, seed=7)).as_dict()
    assert (given["origin"], given["seed"], given["pinned"]) == ("bcsr", 7, None)
    assert find("tiny", Places(graphs=tmp_path)).pinned is False


def test_quick_graphs_are_the_ones_on_record():
    assert find("grid500").pinned is True
    assert find("road500").pinned is True


def test_checksum_ignores_the_width_of_integers_but_no_edge():
    wide = cg.Graph(GRID.indptr.astype(np.int64), GRID.indices.astype(np.int64), directed=False)
    assert checksum(wide) == checksum(GRID)
    assert checksum(cg.generate.grid2d(20, 30)) != checksum(GRID)


def test_gap_encoded_files_are_read():
    for name in ("as-caida20071105", "wiki-vote", "classic-karate"):
        loaded = find(name, Places(data=DATA))
        assert loaded.origin == "file"
        assert loaded.pinned in {True, None}
        facts = json.loads((DATA / "facts.json").read_text())[f"{name}.npz.xz"]
        assert loaded.graph.n == facts["V"]
        assert reference_distances(loaded.graph, 0).max() == facts["bfs0_depth"]


def test_what_cannot_be_had_says_why(tmp_path):
    with pytest.raises(UnavailableError, match="no folder of graphs was given"):
        find("usa-road-nw")
    with pytest.raises(UnavailableError, match="not in"):
        find("usa-road-nw", Places(data=tmp_path))
    (tmp_path / "usa-road-nw.npz.xz").write_bytes(b"rubbish")
    with pytest.raises(UnavailableError, match="usa-road-nw"):
        find("usa-road-nw", Places(data=tmp_path))
    (tmp_path / "road.mtx").write_text("rubbish")
    with pytest.raises(UnavailableError, match=r"road\.mtx"):
        find("road", Places(data=tmp_path))


# Downloads, from a server in this process


class Shelf(http.server.BaseHTTPRequestHandler):
    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        content = self.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """Give the address of the server and the files it offers; what is fetched lands in tmp_path."""
    pooch = pytest.importorskip("pooch", reason="pooch is not installed")
    monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path / "cache")
    monkeypatch.setattr(Shelf, "files", {})
    monkeypatch.setattr(Shelf, "asked", [])
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", Shelf.files
        server.shutdown()


def archived(member: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        about = tarfile.TarInfo(member)
        about.size = len(content)
        archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def grid_as_mtx(tmp_path) -> bytes:
    cg.write(GRID, tmp_path / "grid.mtx")
    return (tmp_path / "grid.mtx").read_bytes()


def pin(monkeypatch, **known):
    monkeypatch.setitem(graphs.GRAPHS, "tiny", Pinned(stand_in="grid2d", **known))


def test_a_graph_is_fetched_once_and_only_where_that_is_allowed(shelf, monkeypatch, tmp_path):
    address, files = shelf
    files["/tiny.mtx"] = grid_as_mtx(tmp_path)
    pin(monkeypatch, url=address + "tiny.mtx", checksums={"file": checksum(GRID)})
    with pytest.raises(UnavailableError, match="--download fetches it") as refused:
        find("tiny")
    assert refused.value.stand_in == "grid2d"
    assert Shelf.asked == []
    for _ in range(2):
        loaded = find("tiny", Places(download=True))
        assert (loaded.origin, loaded.pinned) == ("download", True)
        assert loaded.as_dict()["url"] == address + "tiny.mtx"
    assert Shelf.asked == ["/tiny.mtx"]


def test_one_file_of_an_archive_is_taken(shelf, monkeypatch, tmp_path):
    address, files = shelf
    files["/tiny.tar.gz"] = archived("tiny/tiny.mtx", grid_as_mtx(tmp_path))
    pin(monkeypatch, url=address + "tiny.tar.gz", member="tiny/tiny.mtx")
    loaded = find("tiny", Places(download=True))
    assert (loaded.checksum, loaded.pinned) == (checksum(GRID), None)
    assert not (tmp_path / "cache" / "tiny").exists()


@pytest.mark.parametrize(
    ("content", "member", "problem"),
    [
        (None, "", "cannot be fetched"),
        (b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "", "is not the graph"),
        (b"rubbish", "", "cannot be read"),
        (b"rubbish", "tiny/tiny.mtx", "holds no tiny/tiny.mtx"),
        (archived("other.mtx", b"x"), "tiny/tiny.mtx", "holds no tiny/tiny.mtx"),
    ],
)
def test_what_is_fetched_must_be_the_graph(shelf, monkeypatch, content, member, problem):
    address, files = shelf
    name = "tiny.tar.gz" if member else "tiny.mtx"
    if content is not None:
        files[f"/{name}"] = content
    pin(monkeypatch, url=address + name, member=member, checksums={"file": checksum(GRID)})
    with pytest.raises(UnavailableError, match=problem):
        find("tiny", Places(download=True))


def test_without_pooch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(UnavailableError, match=r"pip install clgraph\[bench\]"):
        find("web-notredame", Places(download=True))
    with pytest.raises(UnavailableError, match="no folder of graphs was given"):
        find("twitter-sample", Places(download=True))


def test_drawn_weights_depend_on_the_ends_of_an_edge_alone():
    kron = cg.generate.kron(8, 8, seed=2)
    weighted = graphs.with_weights(kron)
    assert weighted.weights.min() >= 1
    assert weighted.weights.max() <= 100
    assert len(np.unique(weighted.weights)) > 80
    matrix = weighted.to_scipy()
    assert (matrix != matrix.T).nnz == 0
    part = cg.from_edges([3, 250], [250, 3], n=kron.n)
    assert graphs.with_weights(part).weights.tolist() == [graphs.with_weights(part).weights[0]] * 2


def test_weights_are_the_graph_s_own_where_it_has_some(tmp_path):
    write_bcsr(tmp_path, "tiny", GRID)
    found = find("tiny", Places(graphs=tmp_path), weighted=True)
    assert found.weights == "own"
    assert found.graph.weights.tolist() == [1] * GRID.m
    assert find("tiny", Places(graphs=tmp_path)).graph.weights is None


def test_stand_ins_are_graphs_of_the_suites_that_can_be_had():
    for name, known in GRAPHS.items():
        assert known.stand_in in {"", *GRAPHS}, name
        assert known.generator or known.url or known.stand_in or known.spec or known.checksums, name
        if known.member:
            assert known.url.endswith(".tar.gz"), name
