"""Where a file begins and where it ends: marks of editors, and what was cut off."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.graph.formats import registry

zstandard = pytest.importorskip("zstandard")
MARK = b"\xef\xbb\xbf"
GRAPH = cg.from_edges(np.arange(9), np.arange(9)[::-1], np.arange(9) + 1, n=9)
TEXT = ("mtx", "snap", "dimacs9", "metis", "koblenz", "edges", "csv", "wel")


def frames(data, **options):
    """Two frames of a few blocks, and one that is skipped between them."""
    half = len(data) // 2
    compressor = zstandard.ZstdCompressor(**options)
    skipped = (0x184D2A51).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"12345"
    return compressor.compress(data[:half]) + skipped + compressor.compress(data[half:])


def named(tmp_path, format_):
    endings = {"dimacs9": "f.gr", "metis": "f.graph", "koblenz": "out.f"}
    return tmp_path / endings.get(format_, f"f.{format_}")


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format_", TEXT)
def test_a_mark_of_bytes_is_no_part_of_the_first_line(format_, ending, tmp_path):
    path = named(tmp_path, format_)
    cg.write(GRAPH, path, format=format_)
    text, expected = path.read_bytes(), cg.read(path, directed=True)
    path = path.with_name(path.name + ending)
    packed = {"": bytes, ".gz": __import__("gzip").compress, ".zst": frames}[ending](MARK + text)
    path.write_bytes(packed)
    for options in ({}, {"format": format_}):
        found = cg.read(path, directed=True, **options)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.weights, expected.weights)
    assert set(TEXT) < set(registry.FORMATS)


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("sized", [False, True])
def test_no_end_of_a_zst_file_passes_for_the_end(sized, checked, tmp_path):
    """Its library reads what there is of a frame and says nothing: edges were missing."""
    numbers = np.random.default_rng(4).integers(0, 50, (600, 2))
    lines = b"".join(b"%d %d\n" % tuple(row) for row in numbers) + b"7 7\n" * 40_000
    whole = frames(lines, write_checksum=checked, write_content_size=sized)
    half = len(whole) - len(frames(lines[len(lines) // 2 :])) // 2
    path = tmp_path / "f.txt.zst"
    path.write_bytes(whole)
    assert cg.read(path).m == 40_600
    refused = 0
    for end in (*range(1, 40), *range(half - 20, half + 20), *range(len(whole) - 40, len(whole))):
        path.write_bytes(whole[:end])
        try:
            found = cg.read(path)
        except cg.GraphFormatError:
            refused += 1
        else:  # between two frames
            assert zstandard.ZstdDecompressor().stream_reader(whole[:end]).read()
            assert found.m < 40_600
            assert whole[:end].endswith(b"12345") or whole[end:].startswith(b"\x51\x2a\x4d\x18")
    assert refused > 100


def test_a_run_of_bytes_is_walked_over(tmp_path):
    """Blocks that repeat a byte take one, whatever length they say."""
    path = tmp_path / "f.txt.zst"
    lines = b"0 1\n" + b"#" + b" " * 500_000 + b"\n1 2\n"
    path.write_bytes(zstandard.ZstdCompressor().compress(lines))
    assert cg.read(path).m == 2
