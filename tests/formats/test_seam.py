"""pyarrow's reader and the tokenizer find the same graph, or refuse the file in the same words."""

import random
import struct
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from malformed import MTX, TEXT
from mutation import Files

import clgraph.graph as cgg
from clgraph.errors import GraphFormatError
from clgraph.graph import ahead
from clgraph.graph.formats import files, seam, table
from clgraph.graph.formats.registry import FORMATS
from clgraph.threads import Worker, at_work

CORPUS = Path(__file__).resolve().parents[1] / "fuzz" / "corpus"
LISTS = ("mtx", "snap", "dimacs9", "koblenz", "edges", "csv", "el", "wel")
BLOCKS = (48, 1 << 20)  # bytes: many blocks, or one
MUTATED = 25  # files of each format
OPTIONS = ({}, {"directed": False}, {"weighted": False}, {"max_vertices": 3})
# Behind lines that both read; what is odd is so for one of them, or for both.
ODD = {
    "plus": "3 4 +5\n",
    "minus": "3 4 -5\n",
    "minus zero": "3 4 -0\n",
    "minus zero point": "3 4 -0.0\n",
    "plus id": "+3 4 5\n",
    "minus id": "-3 4 5\n",
    "zeros": "0003 4 005\n",
    "many zeros": "000000000000000000000003 4 5\n",
    "many zeros of a weight": "3 4 000000000000000000000005\n",
    "hex": "0x3 4 5\n",
    "hex weight": "3 4 0x5\n",
    "infinity": "3 4 inf\n",
    "not a number": "3 4 nan\n",
    "missing": "3 4 NA\n",
    "null": "3 4 null\n",
    "true": "3 4 true\n",
    "underscore": "3 4 1_0\n",
    "quotes": '"3" "4" "5"\n',
    "single quotes": "'3' '4' '5'\n",
    "largest": "3 4 9223372036854775807\n",
    "least": "3 4 -9223372036854775808\n",
    "too large": "3 4 9223372036854775808\n",
    "twenty digits": "3 4 99999999999999999999\n",
    "point": "3 4 5.\n",
    "point before": "3 4 .5\n",
    "only a point": "3 4 .\n",
    "two points": "3 4 5.5.5\n",
    "exponent": "3 4 5e1\n",
    "exponent without digits": "3 4 5e\n",
    "huge exponent": "3 4 5e99999\n",
    "tiny": "3 4 5e-324\n",
    "below all": "3 4 1e-999\n",
    "many digits": "3 4 0.1000000000000000055511151231257827\n",
    "a tie": "3 4 9007199254740993.0\n",
    "carriage return": "3 4 5\r\n",
    "carriage return within": "3\r4\r5\n",
    "lone carriage returns": "3 4 5\r4 5 6\r",
    "nul": "3 4 5\0\n",
    "nul line": "\0\0\0\n",
    "form feed": "3\f4 5\n",
    "vertical tab": "3\v4 5\n",
    "no-break space": "3\u00a04 5\n",
    "arabic digit": "\u0663 4 5\n",
    "full-width digit": "3 4 \uff15\n",
    "byte order mark": "\ufeff3 4 5\n",
    "latin": b"3 4 5\xb2\n",
    "tabs": "3\t4\t5\n",
    "many spaces": "   3   4   5   \n",
    "commas": "3,4,5\n",
    "semicolons": "3;4;5\n",
    "too few": "3\n",
    "too many": "3 4 5 6 7\n",
    "four": "3 4 5 6\n",
    "words": "a b c\n",
    "word behind": "3 4 5 # six\n",
    "digits and letters": "3 4 5x\n",
    "late comments": "# 1 2\n% 3 4\n3 4 5\n",
    "comment behind a space": " # 1 2\n3 4 5\n",
    "blank lines": "\n\n \t\n3 4 5\n\n",
    "no newline": "3 4 5",
    "cut off": "3 4 ",
    "a space at the end": "3 4 5\n ",
}


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Read a file both ways; give what came out twice, and how many edges pyarrow read."""
    path = tmp_path / "graph"
    pytest.importorskip("pyarrow")
    # Threads for a hundred bytes cost scipy's reader of numbers a hundred times what they save.
    monkeypatch.setattr("scipy.io._fast_matrix_market.PARALLELISM", 1, raising=False)
    monkeypatch.setattr(seam, "open_processor", lambda: None)
    return reading_twice(path, monkeypatch)


def reading_twice(path, monkeypatch):
    """Give what reads a file by the tokenizer, and then by another way that is there."""
    accepts, rows = table._TableReader.accepts, 0

    def counted(reader, columns, edges):  # called with what the other way read
        nonlocal rows
        accepted = accepts(reader, columns, edges)
        rows += accepted * len(edges[0])
        return accepted

    monkeypatch.setattr(table._TableReader, "accepts", counted)

    def read(data, name, block_bytes=1 << 20, *, parts=1, **options):
        nonlocal rows
        path.write_bytes(data)
        monkeypatch.setattr(files, "_BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(seam, "BLOCK_BYTES", parts * block_bytes)
        rows, found = 0, []
        for least in (1 << 60, 0):
            monkeypatch.setattr(seam, "LEAST_BYTES", least)
            found.append(outcome(path, name, options))
        return *found, rows

    return read


def outcome(path, name, options):
    """All there is to tell of a graph, to the last bit, or the error's words."""
    try:
        graph = cgg.read(path, format=name, **options)
    except GraphFormatError as error:
        return str(error)
    arrays = graph.indptr, graph.indices, graph.weights, graph.labels
    return graph.directed, [
        None if array is None else (array.dtype, array.tobytes()) for array in arrays
    ]


def refuse_malformed(both, name, block_bytes):
    """Files that are wrong are refused in the same words, with the line."""
    for wrong, (text, line, words) in TEXT[name].items():
        data = text if isinstance(text, bytes) else text.encode()
        first, second, _ = both(data, name, block_bytes)
        assert first == second, wrong
        assert f":{line}: " in second, wrong
        assert words in second, wrong


def read_corpus(both, name, *block_bytes):
    """The corpus and mutated files are read alike; some by the other way."""
    lines = (CORPUS / f"{name}.txt").read_text(encoding="ascii").split()
    mutated = Files(name, seed=5)
    tried = [bytes.fromhex(line) for line in lines] + [mutated.next() for _ in range(MUTATED)]
    by_other = 0
    for place, data in enumerate(tried):
        first, second, rows = both(data, name, *block_bytes, **OPTIONS[place % len(OPTIONS)])
        assert first == second, data
        by_other += rows
    assert by_other > 0


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("name", LISTS)
def test_malformed_files_are_refused_in_the_same_words(both, name, block_bytes):
    refuse_malformed(both, name, block_bytes)


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("name", LISTS)
def test_the_corpus_and_mutated_files_are_read_alike(both, name, block_bytes):
    read_corpus(both, name, block_bytes)


@pytest.mark.long
@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("odd", ODD)
def test_oddities_are_read_or_refused_alike(both, odd, block_bytes):
    text = ODD[odd] if isinstance(ODD[odd], bytes) else ODD[odd].encode()
    plain = b"".join(b"%d %d %d\n" % (i, i + 1, i % 7) for i in range(20))
    decimal = plain.replace(b"6\n", b"6.25\n")
    heads = {"snap": b"# c\n", "edges": b"", "koblenz": b"% asym weighted\n1 2 3\n", "wel": b""}
    heads["mtx"] = (MTX + "real general\n30 30 41\n1 1 1\n").encode()
    for name, head in heads.items():
        for lines in (plain, decimal):
            body = lines.replace(b"0 1 0\n", b"1 1 0\n") if name in ("koblenz", "mtx") else lines
            first, second, _ = both(head + body + text + body, name, block_bytes)
            assert first == second, (name, odd)


def test_commas_and_markers(both):
    """One between two numbers, one before the first: anything else is refused alike."""
    lines = b"".join(b"%d,%d,%d\n" % (i, i + 1, i % 7) for i in range(20))
    for odd in (
        b"1,,2,3\n",
        b"1,2,3,\n",
        b",1,2,3\n",
        b"1 2,3\n",
        b",\n",
        b'"1","2","3"\n',
        b"1;2;3\n",
    ):
        for data in (lines + odd + lines, b"source,target,weight\n" + odd + lines):
            first, second, _ = both(data, "csv", 48)
            assert first == second, odd
    arcs = b"".join(b"a %d %d %d\n" % (i + 1, i + 2, i % 7) for i in range(20))
    for odd in (
        b"1 2 3\n",
        b"a a 1 2 3\n",
        b"1 a 2 3\n",
        b"1 2 3 a\n",
        b"a\n",
        b"a1 2 3\n",
        b"c x\n",
        b"b 1 2 3\n",
        b"b 1 2 3\n" * 40,
    ):
        first, second, _ = both(b"p sp 30 41\n" + arcs + odd + arcs, "dimacs9", 48)
        assert first == second, odd


def spelled():
    """Numbers of random bits, in their shortest spelling and in others, and those next to ties."""
    rng = random.Random(7)  # noqa: S311 - not a secret
    yield from (repr(rng.random() * 10.0 ** rng.randrange(-12, 12)) for _ in range(2000))
    for _ in range(2000):
        number = struct.unpack("<d", rng.randbytes(8))[0]
        if abs(number) < 2.0**63:
            yield from (repr(number), f"{number:.17e}", f"{number:.25E}")
    yield from (f"{rng.randrange(10**18)}e{rng.randrange(-330, 0)}" for _ in range(2000))
    for _ in range(500):
        tie = (2**53 + 2 * rng.randrange(2**51) + 1) * 2 ** rng.randrange(5)
        yield from (f"{tie + shift}.0" for shift in (-1, 0, 1))


@pytest.mark.rest
@pytest.mark.parametrize("name", ["snap", "mtx"])
def test_decimals_to_the_last_bit(both, name):
    """As Python reads them too: each is the float64 nearest to its text."""
    texts = list(spelled())
    lines = "".join(f"{i + 1} {i + 1} {text}\n" for i, text in enumerate(texts)).encode()
    n = len(texts)
    head = (MTX + f"real general\n{n} {n} {n}\n").encode() if name == "mtx" else b"# Nodes: 0\n"
    first, second, rows = both(head + lines, name, 256)
    assert first == second
    assert rows > 0.8 * n
    expected = np.array([float(text) for text in texts])
    assert second[1][2] == (expected.dtype, expected.tobytes())


@pytest.mark.parametrize("name", LISTS)
def test_plain_files_are_left_to_pyarrow(both, name):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 1000, (2, 5000))
    weights = rng.random(5000) if name in ("mtx", "snap", "edges", "csv") else None
    if name in ("dimacs9", "wel", "koblenz"):
        weights = rng.integers(-9, 99, 5000)
        weights[weights == 0] = 1
    graph = cgg.from_edges(src, dst, weights, n=1000)
    data = b"".join(FORMATS[name].write(graph))
    first, second, rows = both(data, name, 4096)
    assert first == second
    assert rows == 5000


# Behind a first line as plain as each other: lines of the same bones that are not what they seem.
DISGUISED = {
    "empty id": b"3  5\n",
    "empty weight": b"3 4 \n",
    "empty first": b" 4 5\n",
    "minus behind": b"3 4 5-\n",
    "minus within": b"3 4 5-5\n",
    "only a minus": b"3 4 -\n",
    "two numbers and a minus": b"3 4-5 6\n",
    "point in an id": b"3 4.5 6\n",
    "point in the first id": b"3.0 4 6\n",
    "e without digits": b"3 4 5e\n",
    "e and minus": b"3 4 5e-\n",
    "e first": b"3 4 e5\n",
    "minus e": b"3 4 -e5\n",
    "minus before e": b"3 4 5-e5\n",
    "plus behind digits of an exponent": b"3 4 5e5+5\n",
    "minus behind digits of an exponent": b"3 4 5e5-5\n",
    "point in an exponent": b"3 4 5e5.5\n",
    "point before e": b"3 4 5.e1\n",
    "only point and e": b"3 4 .e1\n",
    "capital": b"3 4 5E1\n",
    "capital minus": b"3 4 5.5E-1\n",
    "minus point": b"3 4 -.5\n",
    "minus zeros": b"3 4 -000000000000000000000005\n",
    "minus zeros and point": b"3 4 -0005.5\n",
    "id of zeros": b"3 0000000000000000000004 5\n",
    "minus zero as an id": b"3 -0 5\n",
    "id beyond float64": b"9007199254740993 4 5\n",
    "id beyond 64 bits": b"18446744073709551617 4 5\n",
    "weight beyond 64 bits": b"3 4 18446744073709551617\n",
    "largest weight": b"3 4 9223372036854775807\n",
    "least weight": b"3 4 -9223372036854775808\n",
    "weight of twenty digits": b"3 4 12345678901234567890\n",
    "infinite": b"3 4 5e400\n",
    "minus infinite": b"3 4 -5e400\n",
}


@pytest.mark.long
@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("odd", DISGUISED)
def test_lines_that_only_look_like_their_neighbours(both, odd, block_bytes):
    """One by one among others of each spelling, so that nothing but the line itself is odd."""
    heads = {"snap": b"# c\n", "wel": b"", "koblenz": b"% asym weighted\n"}
    heads["mtx"] = (MTX + "real general\n30 30 41\n").encode()
    for name, head in heads.items():
        for weight in (b"7", b"-7", b"7.5", b"-7.5", b"7e-1", b"7.5e+1"):
            body = b"".join(b"%d %d %s\n" % (i + 1, i + 2, weight) for i in range(20))
            data = head + body + DISGUISED[odd] + body
            first, second, _ = both(data, name, block_bytes)
            assert first == second, (name, weight)


@pytest.mark.parametrize(
    "odd", [b"3 4 5 \n", b"3 4  6\n", b"0 4 5 6\n", b"3 4 5 6.5\n", b"3 4 5 -6\n"]
)
def test_four_columns(both, odd):
    body = b"".join(b"%d %d %d %d\n" % (i + 1, i + 2, -i, 10**9 + i) for i in range(1, 20))
    for name in ("snap", "koblenz", "edges"):
        head = b"% asym weighted\n" if name == "koblenz" else b""
        first, second, rows = both(head + body, name, 1 << 20)
        assert first == second
        assert rows == 19
        first, second, _ = both(head + body + odd + body, name, 1 << 20)
        assert first == second


@pytest.mark.parametrize("gap", [" ", "\t", "  ", "     ", " \t ", " " * 32])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\t\r\n"])
def test_white_space_of_any_kind_is_left_to_pyarrow(both, gap, end):
    data = "".join(gap.join((str(i), str(i + 1), f"{i}.5")) + end for i in range(20)).encode()
    for text in (data, data.replace(b"\n", b"\n ")[:-1]):
        first, second, rows = both(text, "snap", 1 << 20)
        assert first == second
        assert rows == 20


@pytest.mark.parametrize("long", [b"3 4" + b" " * (1 << 20) + b"\n", b"3 4 0." + b"1" * (1 << 20)])
def test_long_lines_are_refused_alike(both, long):
    body = b"".join(b"%d %d 1.5\n" % (i, i + 1) for i in range(20))
    first, second, rows = both(body + long + b"\n" + body, "snap", 1 << 20, parts=4)
    assert first == second
    assert ":21: the line is longer than 1048576 bytes" in second
    assert rows == 0


def test_the_rest_of_a_file_is_plain_where_one_line_is_not(both):
    """Of a block in which a line is odd, the tokenizer reads all; of others nothing."""
    body = b"".join(b"%d %d\n" % (i, i + 1) for i in range(10_000))
    first, second, rows = both(body + b"# odd\n" + body, "snap", 4096)
    assert first == second
    assert 18_000 < rows < 20_000


@pytest.mark.parametrize("wrong", [b"3\n", b"3 4 x\n", b"3 4 5 6\n", b"3 99999999 5\n"])
def test_lines_are_counted_in_the_parts_of_a_block(both, wrong):
    body = b"".join(b"%d %d %d\n" % (i, i + 1, i % 7) for i in range(2000))
    data = body + wrong + body
    first, second, rows = both(data, "wel", 512, parts=18, max_vertices=9999)
    assert first == second
    assert ":2001: " in second
    assert 0 < rows < 2000


def test_small_files_are_left_to_the_tokenizer(tmp_path, monkeypatch):
    path = tmp_path / "graph.el"
    path.write_bytes(b"0 1\n1 2\n")
    monkeypatch.setattr(seam.PlainBlocks, "read", lambda *_: pytest.fail("there is no need"))
    assert cgg.read(path).m == 2


def test_without_pyarrow_the_tokenizer_reads(tmp_path, monkeypatch):
    path = tmp_path / "graph.el"
    path.write_bytes(b"0 1\n1 2\n")
    monkeypatch.setattr(seam, "LEAST_BYTES", 0)
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    assert cgg.read(path).m == 2


LINES = b"".join(b"%d %d %d\n" % (i, i + 1, i % 7) for i in range(10, 90))  # of eight bytes
BLOCK = len(LINES) - 8  # the first line is looked at before blocks are read


@pytest.mark.parametrize(
    "second", [b"10 11\n", b"10 11 1 7\n", b"\xef\xbb\xbf10 11 1\n", b"# odd\n"]
)
def test_a_block_of_its_own_that_does_not_fit_the_first(both, second):
    """What pyarrow would read, were there nothing before it."""
    first, again, rows = both(LINES + second * 200, "snap", BLOCK)
    assert first == again
    assert rows == 80
    if second[:1] != b"#":
        assert ":81: " in again


def test_integers_in_one_block_and_decimals_in_another(both):
    decimals = LINES.replace(b" 6\n", b" 6.5\n").replace(b" 5\n", b" 9007199254740993\n")
    for data in (LINES + decimals, decimals + LINES, decimals + LINES + decimals):
        first, second, rows = both(data, "snap", BLOCK)
        assert first == second
        assert rows == data.count(b"\n")


@pytest.mark.parametrize("weight", ["-9223372036854775808", "9223372036854775808", "-0"])
def test_weights_that_a_block_of_decimals_would_change(both, weight):
    """A part of it without a point is a matter of integers."""
    data = LINES + f"3 4 {weight}\n".encode() + LINES + b"3 4 0.5\n"
    first, second, rows = both(data, "snap", 512, parts=8)
    assert first == second
    assert rows == 0


@pytest.mark.parametrize("blank", [b"\n", b"\n" * 2000, b" \n"])
def test_blank_lines_are_passed_over(both, blank):
    for block_bytes in (BLOCK, 1 << 20):
        first, second, rows = both(LINES + blank + LINES, "snap", block_bytes)
        assert first == second
    assert rows == 160
    first, second, _ = both(LINES + blank + b"x\n", "snap", BLOCK)
    assert first == second
    line = len((LINES + blank).splitlines()) + 1
    assert f":{line}: " in second


def test_zeros_before_a_number_count_for_nothing(both):
    zeros = b"0" * 40
    body = b"%s1 %s2 %s3\n2 1 -%s5\n%s 1 0\n" % ((zeros,) * 5) + LINES
    for head in (b"", b"7 8 0.5\n"):
        first, second, rows = both(head + body, "snap", 1 << 20)
        assert first == second
        assert rows == 83 + bool(head)
    for wrong in (b"0" * 40 + b"1" * 20, b"0" * 40 + b"9" * 19):
        first, second, rows = both(LINES + wrong + b" 1 2\n", "snap", 1 << 20)
        assert first == second
        assert ":81: vertex id 000" in second
    first, second, rows = both(b"1 2\n" * 9 + b"0" * 40 + b" 2\n", "koblenz", 1 << 20)
    assert first == second
    assert "is below 1" in second


@pytest.mark.parametrize("least", [0, 1 << 60])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_ctrl_c_within_a_read_leaves_no_thread(tmp_path, monkeypatch, least, ending):
    monkeypatch.setattr(seam, "LEAST_BYTES", least)
    monkeypatch.setattr(seam, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(files, "_BLOCK_BYTES", 4096)
    path = tmp_path / f"graph.txt{ending}"
    cgg.write(cgg.generate.random(2000, 5), path)
    told, began = [], []

    class Noted(Worker):
        def start(self):
            began.append(self)
            super().start()

    monkeypatch.setattr(ahead, "Worker", Noted)

    def stop(*_):
        told.append(1)
        if len(told) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cgg.read(path, progress=stop)
    assert len(told) == 5
    assert bool(began) == (least == 0 or bool(ending))
    assert all(worker.has_ended for worker in began)
    assert ahead.THREAD not in at_work()


@pytest.mark.parametrize("least", [0, 1 << 60])
def test_memory_is_a_small_multiple_of_the_file(tmp_path, monkeypatch, least):
    monkeypatch.setattr(seam, "LEAST_BYTES", least)
    path = tmp_path / "graph.el"
    src, dst = np.random.default_rng(1).integers(0, 100_000, (2, 500_000))
    graph = cgg.from_edges(src, dst, n=100_000)
    cgg.write(graph, path)
    cgg.read(path)  # what is imported once
    tracemalloc.start()
    try:
        cgg.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * path.stat().st_size + 6 * seam.BLOCK_BYTES


def test_a_header_that_lies_costs_nothing(tmp_path, monkeypatch):
    """Blocks say themselves how many lines they have."""
    monkeypatch.setattr(seam, "LEAST_BYTES", 0)
    path = tmp_path / "graph.mtx"
    body = b"".join(b"%d %d\n" % (i + 1, i + 2) for i in range(100_000))
    path.write_bytes((MTX + f"pattern general\n100001 100001 {250_000}\n").encode() + body)
    tracemalloc.start()
    try:
        with pytest.raises(GraphFormatError, match="ends after 100000 of the 250000"):
            cgg.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * path.stat().st_size
