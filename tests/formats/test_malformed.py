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

import clgraph.graph as cgg
from clgraph.errors import GraphFormatError

MTX = "%%MatrixMarket matrix coordinate "
HUGE = 10**18

# format -> what is wrong -> (text, line, words of the message)
TEXT = {
    "mtx": {
        "no banner, no size": ("1 2\n2 3\n", 1, 'format="edges"'),
        "no banner, but words": ("one two three\n", 1, 'format="edges"'),
        "no banner, rectangular": ("3 4 1\n1 2\n", 1, 'format="edges"'),
        "no banner, too few": ("3 3 2\n1 2\n", 2, 'format="edges"'),
        "no banner, too many": ("3 3 1\n1 2\n2 3\n", 3, 'format="edges"'),
        "no banner, from 0": ("3 3 2\n1 2\n0 1\n", 3, 'format="edges"'),
        "no banner, id above n": ("3 3 2\n1 2\n2 4\n", 3, 'format="edges"'),
        "no banner, comments only": ("% here\n% there\n", 2, 'format="edges"'),
        "short banner": ("%%MatrixMarket matrix coordinate\n3 3 1\n1 2\n", 1, "banner"),
        "array": ("%%MatrixMarket matrix array real general\n1 1\n1\n", 1, "coordinate"),
        "complex": (MTX + "complex general\n1 1 1\n1 1 1 1\n", 1, "complex"),
        "hermitian": (MTX + "real hermitian\n1 1 1\n1 1 1\n", 1, "complex"),
        "unknown field": (MTX + "quaternion general\n1 1 0\n", 1, "quaternion"),
        "unknown symmetry": (MTX + "real odd\n1 1 0\n", 1, "odd"),
        "rectangular": (MTX + "pattern general\n3 4 1\n1 2\n", 2, "square"),
        "no size": (MTX + "pattern general\n% only\n", 2, "size line"),
        "two sizes": (MTX + "pattern general\n3 3\n1 2\n", 2, "size line"),
        "negative size": (MTX + "pattern general\n-3 -3 1\n1 2\n", 2, "size line"),
        "huge size": (MTX + f"pattern general\n{HUGE} {HUGE} {HUGE}\n1 2\n", 2, "declared"),
        "overflowing size": (MTX + f"pattern general\n{10**30} {10**30} 1\n1 2\n", 2, "size line"),
        "huge n": (MTX + f"pattern general\n{HUGE} {HUGE} 1\n1 2\n", 2, "max_vertices"),
        "too few": (MTX + "pattern general\n3 3 3\n1 2\n2 3\n", 4, "2 of the 3"),
        "too many": (MTX + "pattern general\n3 3 1\n1 2\n2 3\n", 4, "goes on"),
        "cut line": (MTX + "real general\n3 3 2\n1 2 1.5\n2 3", 4, "2 numbers"),
        "id 0": (MTX + "pattern general\n3 3 2\n1 2\n0 3\n", 4, "below 1"),
        "id above n": (MTX + "pattern general\n3 3 2\n1 2\n2 4\n", 4, "beyond the 3"),
        "negative id": (MTX + "pattern general\n3 3 2\n1 2\n2 -1\n", 4, "negative"),
        "decimal id": (MTX + "pattern general\n3 3 1\n1 2.0\n", 3, "no integer"),
        "overflowing id": (MTX + f"pattern general\n3 3 1\n1 {10**30}\n", 3, "beyond"),
        "nan": (MTX + "real general\n3 3 2\n1 2 1\n2 3 nan\n", 4, "finite"),
        "inf": (MTX + "real general\n3 3 2\n1 2 1\n2 3 -inf\n", 4, "finite"),
        "overflow to inf": (MTX + "real general\n3 3 1\n1 2 1e999\n", 3, "finite"),
        "two points": (MTX + "real general\n3 3 1\n1 2 1.2.3\n", 3, "finite"),
        "hex": (MTX + "real general\n3 3 1\n1 2 0x10\n", 3, "finite"),
        "bare exponent": (MTX + "real general\n3 3 1\n1 2 1e\n", 3, "finite"),
        "bare sign": (MTX + "real general\n3 3 1\n1 2 -\n", 3, "finite"),
        "underscore": (MTX + "real general\n3 3 1\n1 2 1_0\n", 3, "finite"),
        "decimal integer": (MTX + "integer general\n3 3 2\n1 2 1\n2 3 1.5\n", 4, "integer"),
        "overflowing weight": (MTX + f"integer general\n3 3 1\n1 2 {2**63}\n", 3, "64-bit"),
        "skew diagonal": (MTX + "real skew-symmetric\n3 3 1\n2 2 1\n", 1, "diagonal"),
        "late comment": (MTX + "pattern general\n3 3 2\n1 2\n# x\n2 3\n", 4, "#"),
        "words": (MTX + "pattern general\n3 3 1\none two\n", 3, "no integer"),
    },
    "snap": {
        "comments only": ("# Directed graph\n# FromNodeId ToNodeId\n", 2, "no edges"),
        "one number": ("0 1\n2\n", 2, "1 numbers"),
        "five numbers": ("0 1 2 3 4\n", 1, "5 numbers"),
        "ragged": ("0 1\n1 2 3\n", 2, "3 numbers, not 2"),
        "negative": ("# c\n0 1\n-1 2\n", 3, "negative"),
        "huge id": (f"0 1\n1 {HUGE}\n", 2, "max_vertices"),
        "overflowing id": (f"0 1\n1 {10**40}\n", 2, "max_vertices"),
        "id of 20 digits": (f"0 1\n1 {2**64 + 1}\n", 2, "max_vertices"),
        "nan": ("0 1 2.5\n1 2 NaN\n", 2, "finite"),
        "huge count": (f"# Nodes: {HUGE} Edges: 1\n0 1\n", 1, "max_vertices"),
        "trailing comment": ("0 1 # one\n", 1, "no"),
        "utf-16": ("0 1\n1 2\n".encode("utf-16"), 1, ""),
        "not utf-8": (b"0 1\n\xff\xfe 2\n", 2, "no integer"),
        "nul": (b"0 1\n1 2\n\0\0\0\0\n", 3, "numbers"),
    },
    "dimacs9": {
        "no problem line": ("c x\na 1 2 3\n", 2, "problem line"),
        "other problem": ("p edge 3 1\ne 1 2\n", 1, "problem line"),
        "comments only": ("c one\nc two\n", 2, "problem line"),
        "negative size": ("p sp -3 1\na 1 2 3\n", 1, "number of vertices"),
        "huge size": (f"p sp {HUGE} {HUGE}\na 1 2 3\n", 1, "declared"),
        "overflowing size": (f"p sp {10**25} 1\na 1 2 3\n", 1, "number of vertices"),
        "superscript size": ("p sp 3² 1\na 1 2 3\n", 1, "number of vertices"),
        "too few": ("p sp 3 3\na 1 2 3\na 2 3 1\n", 3, "2 of the 3"),
        "too many": ("p sp 3 1\na 1 2 3\nc x\na 2 3 1\n", 4, "goes on"),
        "id 0": ("p sp 3 1\na 0 2 3\n", 2, "below 1"),
        "id above n": ("p sp 3 1\na 1 4 3\n", 2, "beyond the 3"),
        "no a": ("p sp 3 2\na 1 2 3\n2 3 1\n", 3, "begin with"),
        "a behind": ("p sp 3 1\n1 2 3 a\n", 2, "begin with"),
        "two a": ("p sp 3 1\na a 1 2 3\n", 2, "begin with"),
        "lone a": ("p sp 3 2\na 1 2 3\na\na 1 2 3\n", 3, "begin with"),
        "only a": ("p sp 3 1\na\n", 2, "no numbers"),
        "no weight": ("p sp 3 1\na 1 2\n", 2, "2 numbers"),
        "nan": ("p sp 3 1\na 1 2 nan\n", 2, "numbers"),
        "inf": ("p sp 3 1\na 1 2 inf\n", 2, "finite"),
    },
    "metis": {
        "words": ("many vertices\n", 1, "header"),
        "one number": ("3\n\n\n\n", 1, "header"),
        "negative": ("-3 2\n", 1, "header"),
        "huge n": (f"{HUGE} 0\n", 1, "declared"),
        "20 digits": (f"{10**19} 0\n", 1, "header"),
        "huge m": (f"2 {HUGE}\n2\n1\n", 1, "declared"),
        "bad fmt": ("2 1 7\n2\n1\n", 1, "fmt"),
        "long fmt": ("2 1 0001\n2\n1\n", 1, "fmt"),
        "huge ncon": (f"2 1 10 {HUGE}\n1 2\n1 1\n", 1, "weights for each vertex"),
        "too few lines": ("3 1\n2\n1\n", 3, "2 of its 3"),
        "too many lines": ("2 1\n2\n1\n% x\n1\n", 5, "goes on"),
        "wrong count": ("3 2\n2\n1\n\n", 1, "2 edges are declared"),
        "id 0": ("2 1\n2\n0\n", 3, "'0'"),
        "id above n": ("2 1\n3\n1\n", 2, "'3'"),
        "negative id": ("2 1\n2\n-1\n", 3, "'-1'"),
        "decimal": ("2 1\n2\n1.5\n", 3, "1.5"),
        "one way": ("3 2\n2 3\n3\n1\n", 1, "no reverse"),
        "unequal weights": ("2 1 1\n2 5\n1 6\n", 1, "weighs something else"),
        "missing weight": ("2 1 1\n2 5\n1\n", 3, "fmt"),
        "missing vertex weight": ("2 1 10\n1 2\n\n", 3, "fmt"),
        "nan": ("2 1 1\n2 nan\n1 nan\n", 2, "nan"),
        "comments only": ("% one\n% two\n", 2, "header"),
    },
    "koblenz": {
        "left side": ("% bip unweighted\n% 1 1 2\n2 1\n", 3, "beyond the 1 "),
        "right side": ("% bip unweighted\n% 1 2 1\n1 2\n", 3, "beyond the 1 "),
        "other digits": ("% sym unweighted\n% \N{ARABIC-INDIC DIGIT ONE} 2 2\n1 2\n1 x\n", 4, "x"),
        "comments only": ("% sym unweighted\n", 1, "no edges"),
        "id 0": ("% sym unweighted\n0 1\n", 2, "below 1"),
        "id above n": ("% sym unweighted\n% 1 2 2\n1 3\n", 3, "beyond the 2"),
        "too few": ("% sym unweighted\n% 2 2 2\n1 2\n", 3, "1 of the 2"),
        "too many": ("% sym unweighted\n% 1 2 2\n1 2\n2 1\n", 4, "goes on"),
        "huge": (f"% sym unweighted\n% {HUGE} {HUGE} {HUGE}\n1 2\n", 1, "declared"),
        "huge n": (f"% sym unweighted\n% 1 {HUGE} {HUGE}\n1 2\n", 1, "max_vertices"),
        "negative": ("% sym unweighted\n1 -2\n", 2, "negative"),
        "nan": ("% asym weighted\n1 2 nan\n", 2, "finite"),
        "one number": ("% asym\n1 2\n1\n", 3, "1 numbers"),
    },
    "edges": {
        "comments only": ("% nothing\n", 1, "no edges"),
        "ragged": ("1,2\n1,2,3\n", 2, "3 numbers"),
        "negative": ("1,-2\n", 1, "negative"),
        "huge id": (f"1,{HUGE}\n", 1, "max_vertices"),
        "too few": ("% sym unweighted\n% 2 2 2\n1 2\n", 3, "1 of the 2"),
        "inf": ("1 2 inf\n", 1, "finite"),
        "words": ("1 2\na b\n", 2, "no integer"),
    },
    "csv": {
        "names only": ("source,target\n", 1, "no edges"),
        "empty field": ("source,target\n0,1\n,2\n", 3, "1 numbers"),
        "two commas": ("source,target\n0,,1\n", 2, "separated by one ','"),
        "comma behind": ("source,target\n0,1,\n", 2, "separated by one ','"),
        "comma moved": ("source,target\n0,1\n,0 1\n", 3, "separated by one ','"),
        "no comma": ("source,target\n0,1\n1 2\n", 3, "separated by one ','"),
        "only a comma": ("source,target\n,\n", 2, "no numbers"),
        "text": ("source,target\n0,1\nalice,bob\n", 3, "no integer"),
        "negative": ("source,target\n0,-1\n", 2, "negative"),
        "nan": ("source,target,weight\n0,1,nan\n", 2, "finite"),
        "huge id": (f"source,target\n0,{HUGE}\n", 2, "max_vertices"),
    },
    "el": {
        "three numbers": ("0 1 2\n", 1, "3 numbers"),
        "negative": ("0 1\n0 -1\n", 2, "negative"),
        "huge id": (f"0 {HUGE}\n", 1, "max_vertices"),
        "comments only": ("# x\n", 1, "no edges"),
    },
    "wel": {
        "no weight": ("0 1\n", 1, "2 numbers"),
        "nan": ("0 1 2\n0 1 nan\n", 2, "finite"),
        "huge id": (f"{HUGE} 0 1\n", 1, "max_vertices"),
    },
}
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


def sg(directed: int, m: int, n: int, offsets: list[int], neighbours: list[int]) -> bytes:
    arrays = np.array(offsets, "<i8").tobytes() + np.array(neighbours, "<i4").tobytes()
    return struct.pack("<Bqq", directed, m, n) + arrays


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
