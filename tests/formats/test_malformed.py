"""Broken files of every kind give GraphFormatError with the line, soon and without big arrays."""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import pickle
import struct
import threading
import tracemalloc
import zipfile
from pathlib import Path

import graphs
import numpy as np
import pytest
from clocks import Work
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from malformed import HUGE, MTX, TEXT

import clgraph.graph as cgg
from clgraph.errors import GraphFormatError

BINARY_FORMATS = ("npz", "sg", "wsg")
CASES = [
    pytest.param(name, *case, id=f"{name}-{wrong.replace(' ', '-')}")
    for name, cases in TEXT.items()
    for wrong, case in cases.items()
]


def read_must_fail(path: Path, **options: object) -> str:
    """Message of the GraphFormatError, which must come soon and without large allocations."""
    for _ in range(2):  # the first may import what its reader needs
        tracemalloc.start()
        work = Work()
        try:
            with pytest.raises(GraphFormatError) as caught:
                cgg.read(path, **options)
            seconds, peak = work.seconds(), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if seconds < 1.0:
            break
    assert seconds < 1.0
    assert peak < 64 << 20
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("name", "text", "line", "words"), CASES)
def test_broken_text_names_the_line(
    tmp_path: Path, name: str, text: str | bytes, line: int, words: str
) -> None:
    path = tmp_path / "broken"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    message = read_must_fail(path, format=name)
    assert message.startswith(f"{path}:{line}: "), message
    assert words in message, message


@pytest.mark.parametrize("name", cgg.FORMATS)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b" \n\t\n", bytes(range(256)) * 64, b"\0" * 5000, b"\x1f\x8b\x08garbage", b"{}"],
    ids=["empty", "newline", "blank", "garbage", "zeros", "not-gzip", "json"],
)
def test_what_is_no_graph_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "nothing"
    path.write_bytes(content)
    read_must_fail(path, format=name)


@pytest.mark.parametrize("name", sorted(TEXT))
def test_a_huge_line_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "line"
    heads = {"mtx": MTX + "pattern general\n3 3 1\n", "dimacs9": "p sp 3 1\n", "metis": "3 2\n"}
    path.write_bytes(heads.get(name, "").encode() + b"1 " * (3 << 20))
    read_must_fail(path, format=name)


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_compression_is_refused(tmp_path: Path, packer: object) -> None:
    whole = packer(b"0 1\n" * 20_000)
    for content in (
        whole[: len(whole) // 2],
        whole[:20] + b"\0\1\2\3" * 5 + whole[40:],
        whole[:12],
    ):
        path = tmp_path / "damaged.txt"
        path.write_bytes(content)
        read_must_fail(path)


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
def test_decompression_bombs_are_bounded(tmp_path: Path, packer: object) -> None:
    path = tmp_path / "bomb.txt"
    path.write_bytes(packer(b"0 1\n" + b"\n" * (40 << 20)))
    assert "max_bytes" in read_must_fail(path)


def test_damaged_zstandard_is_refused(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    whole = zstandard.ZstdCompressor().compress(b"0 1\n" * 20_000)
    path = tmp_path / "damaged.txt.zst"
    for content in (whole[: len(whole) // 2], whole[:8] + b"\xff" * 8):
        path.write_bytes(content)
        read_must_fail(path)
    path.write_bytes(zstandard.ZstdCompressor().compress(b"0 1\n" + b"\n" * (40 << 20)))
    assert "max_bytes" in read_must_fail(path)


def test_limits_are_honoured(tmp_path: Path) -> None:
    path = tmp_path / "small.el"
    path.write_text("0 1\n1 2\n2 900\n")
    assert cgg.read(path, max_vertices=901, max_bytes=100).n == 901
    assert read_must_fail(path, max_vertices=900).startswith(f"{path}:3: ")
    assert "max_bytes" in read_must_fail(path, max_bytes=5)


def npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def npy(header: str, body: bytes = b"") -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def damaged_lzma() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as file:
        for name in ("indptr", "indices"):
            member = io.BytesIO()
            np.save(member, np.arange(3))
            file.writestr(f"{name}.npy", member.getvalue())
    content = bytearray(buffer.getvalue())
    content[50:90] = bytes(40)
    return bytes(content)


INDPTR, INDICES = np.array([0, 1, 2]), np.array([1, 0], np.int32)
NPZ = {
    "no indices": npz(indptr=INDPTR),
    "inconsistent": npz(indptr=INDPTR, indices=INDICES[:1]),
    "out of range": npz(indptr=INDPTR, indices=np.array([1, 7])),
    "float": npz(indptr=INDPTR, indices=np.array([1.0, 0.0])),
    "two-dimensional": npz(indptr=INDPTR, indices=INDICES.reshape(1, 2)),
    "nan": npz(indptr=INDPTR, indices=INDICES, weights=np.array([1.0, np.nan])),
    "one way": npz(indptr=np.array([0, 1, 1]), indices=INDICES[:1], directed=np.array(False)),
    "labels": npz(indptr=INDPTR, indices=INDICES, labels=np.arange(5)),
    "objects": npz(indptr=INDPTR, indices=INDICES, labels=np.array([{}, []], dtype=object)),
    "huge shape": archive(
        indptr=npy(f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({HUGE},), }}"),
        indices=npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }"),
    ),
    "negative shape": archive(
        indptr=npy("{'descr': '<i8', 'fortran_order': False, 'shape': (-1,), }"),
        indices=npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }"),
    ),
    "code in header": archive(
        indptr=npy("__import__('os').system('true')"), indices=npy("{'descr': '<i8'}")
    ),
    "bomb": archive(
        indptr=npy(
            f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({5 << 20},), }}",
            bytes(40 << 20),
        ),
        indices=npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }"),
    ),
    "scalar": npz(indptr=np.int64(0), indices=INDICES),
    "structured": npz(
        indptr=INDPTR, indices=INDICES, directed=np.zeros(1, [("a", "?"), ("b", "i4")])
    ),
    "giant header": archive(indptr=b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 9000, indices=b""),
    "giant elements": archive(
        indptr=npy("{'descr': '|V2147483647', 'fortran_order': False, 'shape': (2,), }"),
        indices=npy("{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }"),
    ),
    "damaged lzma": damaged_lzma(),
    "pickle": archive(indptr=pickle.dumps([0, 1]), indices=pickle.dumps([0])),
    "rectangular": npz(
        indptr=INDPTR,
        indices=INDICES,
        format=np.array(b"csr"),
        shape=np.array([2, 9]),
        data=INDICES,
    ),
    "by columns": npz(
        indptr=INDPTR,
        indices=INDICES,
        format=np.array(b"csc"),
        shape=np.array([2, 2]),
        data=INDICES,
    ),
    "cut off": npz(indptr=INDPTR, indices=INDICES)[:200],
}


@pytest.mark.parametrize("wrong", NPZ)
def test_broken_archives_are_refused(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(NPZ[wrong])
    assert read_must_fail(path).startswith(f"{path}:1: ")


@pytest.mark.parametrize(("entries", "words"), [(1, "has 8 bytes for 2"), (3, "more than 2")])
def test_members_of_another_length_than_they_say_are_refused(
    tmp_path: Path, entries: int, words: str
) -> None:
    path = tmp_path / "broken.npz"
    said = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"
    indptr = npy(said, struct.pack("<2q", 0, 2))
    path.write_bytes(archive(indptr=indptr, indices=npy(said, bytes(8 * entries))))
    assert words in read_must_fail(path)


def sg(directed: int, m: int, n: int, offsets: list[int], neighbours: list[int]) -> bytes:
    arrays = np.array(offsets, "<i8").tobytes() + np.array(neighbours, "<i4").tobytes()
    return struct.pack("<Bqq", directed, m, n) + arrays


@pytest.mark.parametrize("kept", [20, 40, 48])
def test_compressed_serialised_graphs_that_end_early_are_refused(tmp_path: Path, kept: int) -> None:
    """How much there is of a compressed file shows only when it has been read."""
    path = tmp_path / "graph.sg.gz"
    path.write_bytes(gzip.compress(sg(0, 2, 2, [0, 1, 2], [1, 0])[:kept]))
    assert "the file ends before the edges" in read_must_fail(path)


@pytest.mark.parametrize(
    "content",
    [
        sg(0, 2, 2, [0, 1, 2], [1]),
        sg(0, 2, 2, [0, 1, 2], [1, 0, 5]),
        sg(0, 2, 2, [0, 1, 2], [1, 2]),
        sg(0, 2, 2, [0, 1, 2], [1, -1]),
        sg(0, 2, 2, [0, 3, 2], [1, 0]),
        sg(0, 2, 2, [1, 1, 2], [1, 0]),
        sg(0, 1, 2, [0, 1, 1], [1]),
        sg(7, 2, 2, [0, 1, 2], [1, 0]),
        sg(0, HUGE, 2, [0, 1, 2], [1, 0]),
        sg(0, 2, HUGE, [0, 1, 2], [1, 0]),
        sg(0, -1, 2, [0, 1, 2], [1, 0]),
        sg(0, 2, -3, [0, 1, 2], [1, 0]),
        sg(0, 2, 2, [0, 1, 2], [1, 0])[:10],
    ],
)
def test_broken_serialised_graphs_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.sg"
    path.write_bytes(content)
    assert read_must_fail(path).startswith(f"{path}:1: ")


@pytest.mark.long
@pytest.mark.parametrize("name", cgg.FORMATS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_random_damage_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """Change, drop or add bytes anywhere: nothing but a graph or GraphFormatError comes out."""
    path = tmp_path_factory.mktemp("damage") / "graph"
    shape = data.draw(st.sampled_from(("path", "self-loops", "one-way-random")))
    graph = graphs.SHAPES[shape]
    weights = np.arange(graph.m) if graph.directed else None
    cgg.write(
        cgg.Graph(graph.indptr, graph.indices, weights, directed=graph.directed), path, format=name
    )
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.integers(0, max(len(content) - 1, 0)))
        kind = data.draw(st.sampled_from(("change", "cut", "insert", "delete")))
        piece = data.draw(
            st.binary(min_size=1, max_size=6) | st.sampled_from((b"-", b"9" * 12, b"nan"))
        )
        if kind == "change":
            content[where : where + len(piece)] = piece
        elif kind == "cut":
            del content[where:]
        elif kind == "insert":
            content[where:where] = piece
        else:
            del content[where : where + len(piece)]
    path.write_bytes(bytes(content))
    with contextlib.suppress(GraphFormatError):
        read = cgg.read(path, format=name)
        cgg.Graph(read.indptr, read.indices, read.weights, directed=read.directed)


def open_files() -> list[str]:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("the system does not list what is open")
    names = []
    for one in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # of the folder itself, closed since
            names.append(str(one.readlink()))
    return sorted(names)


@pytest.mark.parametrize("at", ["first read", "copy of a pipe"])
def test_what_cannot_be_begun_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """At once, while the error that says so is still held."""
    path = tmp_path / "graph.mtx"
    limits = {}
    if at == "first read":
        path.write_bytes(gzip.compress(b"nothing"))

        def fail(*_: object, **__: object) -> None:
            raise OSError("a test wants it so")

        monkeypatch.setattr(gzip, "GzipFile", fail)
    else:
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(b"1 2\n" * 9,))
        writer.start()
        limits = {"max_bytes": 5}
    before = open_files()
    with pytest.raises((OSError, GraphFormatError)) as held:
        cgg.read(path, **limits)
    if at != "first read":
        writer.join()
    assert open_files() == before
    assert held.value.__traceback__ is not None
