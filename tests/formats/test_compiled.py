"""A kernel and the tokenizer find the same graph, or refuse the file in the same words."""

import gc
import gzip
import random
import sys

import numpy as np
import pytest
from formats.test_seam import (
    BLOCKS,
    DISGUISED,
    LISTS,
    ODD,
    read_corpus,
    reading_twice,
    refuse_malformed,
)
from malformed import MTX

import clgraph as cg
import clgraph.graph as cgg
from clgraph.device import Allocation, choosing
from clgraph.errors import KernelBuildError
from clgraph.graph import ahead
from clgraph.graph import lines as compiled
from clgraph.graph.formats import seam
from clgraph.graph.formats.registry import FORMATS
from clgraph.threads import at_work

HEADS = {
    "snap": b"# c\n",
    "edges": b"",
    "wel": b"",
    "koblenz": b"% asym weighted\n1 2 3\n",
    "mtx": (MTX + "real general\n30 30 41\n1 1 1\n").encode(),
}


@pytest.fixture
def processor(pocl, monkeypatch):
    """The kernel alone is there beside the tokenizer."""
    monkeypatch.setattr(seam, "open_processor", lambda: pocl)
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    return pocl


@pytest.fixture(params=["alone", "together"])
def both(tmp_path, monkeypatch, request):
    """Read a file both ways; give what came out twice, and how many edges the kernel read.

    Texts of tests are so short that many work-items have a few lines each, which are read alone; or
    there is but one of them, which reads four lines of either half together.
    """
    request.getfixturevalue("processor")
    if request.param == "together":
        few_together(monkeypatch, parts=2)
    return reading_twice(tmp_path / "graph", monkeypatch)


def few_together(monkeypatch, parts):
    monkeypatch.setattr(compiled, "work_items", lambda _: 1)
    monkeypatch.setattr(compiled, "PARTS", parts)
    monkeypatch.setattr(compiled, "TOGETHER", 4)


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("name", LISTS)
def test_malformed_files_are_refused_in_the_same_words(both, name, block_bytes):
    refuse_malformed(both, name, block_bytes)


@pytest.mark.parametrize("name", LISTS)
def test_the_corpus_and_mutated_files_are_read_alike(both, name):
    read_corpus(both, name)


@pytest.mark.rest
@pytest.mark.parametrize("odd", {**ODD, **DISGUISED})
def test_oddities_are_read_or_refused_alike(both, odd):
    text = {**ODD, **DISGUISED}[odd]
    text = text if isinstance(text, bytes) else text.encode()
    for name, head in HEADS.items():
        for weight in (b"7", b"-7", b"7.25"):
            body = b"".join(b"%d %d %s\n" % (i + 1, i + 2, weight) for i in range(20))
            first, second, _ = both(head + body + text + body, name)
            assert first == second, (name, weight)


@pytest.mark.parametrize(
    "odd",
    [b"1,,2,3\n", b"1,2,3,\n", b",1,2,3\n", b"1 2,3\n", b'"1","2","3"\n', b"1;2;3\n", b"1,2,3"],
)
def test_commas(both, odd):
    lines = b"".join(b"%d,%d,%d\n" % (i, i + 1, i % 7) for i in range(20))
    for data in (lines + odd + lines, b"source,target,weight\n" + odd + lines):
        first, second, _ = both(data, "csv")
        assert first == second


@pytest.mark.parametrize(
    "odd",
    [
        b"1 2 3\n",
        b"a a 1 2 3\n",
        b"1 a 2 3\n",
        b"1 2 3 a\n",
        b"a\n",
        b"a1 2 3\n",
        b"b 1 2 3\n",
        b"a",
    ],
)
def test_markers(both, odd):
    arcs = [b"a %d %d %d\n" % (i % 20 + 1, i % 20 + 2, i % 7) for i in range(60)]
    first, second, rows = both(b"p sp 30 60\n" + b"".join(arcs), "dimacs9")
    assert (first == second, rows) == (True, 60)
    for place in (1, 6, 30, 35, 60):
        text = b"".join([*arcs[:place], odd, *arcs[place:]])
        first, second, rows = both(b"p sp 30 61\n" + text, "dimacs9")
        assert first == second
        assert rows == 0 or odd == b"a"  # which without a newline is a block of its own


@pytest.mark.parametrize("block_bytes", [512, 1 << 20])
@pytest.mark.parametrize("name", LISTS)
def test_plain_files_are_left_to_the_kernel(both, name, block_bytes):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 1000, (2, 5000))
    weights = None
    if name in {"mtx", "snap", "edges", "csv"}:
        weights = np.round(rng.random(5000) * 100, 4)
    elif name in {"dimacs9", "wel", "koblenz"}:
        weights = rng.integers(-9, 99, 5000)
        weights[weights == 0] = 1
    graph = cgg.from_edges(src, dst, weights, n=1000)
    data = b"".join(FORMATS[name].write(graph))
    first, second, rows = both(data, name, block_bytes)
    assert first == second
    assert rows == 5000


def test_ids_of_64_bits(both):
    lines = b"".join(b"%d %d\n" % (i, 70_000 + i) for i in range(50))
    first, second, rows = both(lines + b"000000000012345 1\n", "el", max_vertices=2**33)
    assert first == second
    assert rows == 51
    first, second, rows = both(lines + b"3000000000 1\n", "el", max_vertices=2**31 - 1)
    assert first == second
    assert "vertex id 3000000000 is beyond" in second
    assert rows == 0


@pytest.mark.parametrize(("id_", "taken"), [("999999999", True), ("1000000000", False)])
def test_digits_of_an_id(both, id_, taken):
    """More than nine are another's; none wraps."""
    for text in (id_, "4294967297", "18446744073709551617"):
        data = f"1 2\n1 {text}\n".encode()
        first, second, rows = both(data, "snap", max_vertices=2**31 - 1)
        assert first == second
        assert rows == (2 if taken and text == id_ else 0)


@pytest.mark.parametrize("most", [2**31 - 1, 2**50])
def test_ids_of_all_lengths(both, most):
    """Next to each other, so that parts of a text differ in their lines, and where a text ends."""
    rng = random.Random(5)  # noqa: S311 - not a secret
    digits = len(str(most)) - 1
    texts = [
        " ".join(str(rng.randrange(10 ** rng.randrange(digits) + 1)) for _ in range(2))
        for _ in range(300)
    ]
    for cut in range(20):
        data = "".join(f"{text}\n" for text in texts[cut:]).encode()
        first, second, rows = both(data, "snap", max_vertices=most)
        assert first == second
        assert rows == len(texts) - cut


@pytest.mark.parametrize("columns", [3, 4])
def test_weights_of_all_lengths(both, columns):
    rng = random.Random(5)  # noqa: S311 - not a secret
    lines = []
    for _ in range(400):
        weight = rng.randrange(1, 10 ** rng.randrange(1, 9 if rng.randrange(9) else 18))
        time = f" {rng.randrange(10):0{rng.choice([1, 40])}d}" * (columns - 3)
        sign = "-" * (rng.randrange(4) == 0)
        lines.append(f"{rng.randrange(9)} {rng.randrange(10**6)} {sign}{weight}{time}\n")
    for cut in range(20):
        data = "".join(lines[cut:]).encode()
        first, second, rows = both(b"# Nodes: 1000000\n" + data, "snap")
        assert first == second
        assert rows == len(lines) - cut


def test_any_byte_among_plain_lines(both):
    """Some have what all digits have; none is one, wherever lines are read."""
    lines = b"".join(b"%d %d %d\n" % (i % 7, 10**7 + i, 300 + i) for i in range(64))
    begin = lines.index(b"\n", len(lines) // 2 + 20) + 1
    places = [*range(16), *range(begin, begin + 16), len(lines) - 3]
    for number, byte in enumerate(set(range(256)) - set(b"0123456789")):
        data = bytearray(lines)
        data[places[number % len(places)]] = byte
        first, second, rows = both(bytes(data), "snap", max_vertices=10**8)
        assert first == second, byte
        # A point among weights, or a minus before one.
        assert rows == 0 or bytes([byte]) in b".-\n ", byte


@pytest.mark.parametrize(
    "wrong", ["0 5 6", "5 0 6", "9001 5 6", "5 9001 6", "99999999 5 6", "5 6 -0"]
)
def test_a_line_that_is_wrong_among_many(both, wrong):
    for name, base in (("wel", 0), ("koblenz", 1)):
        head = "% asym weighted\n% 81 9000 9000\n" if base else ""
        body = [f"{1 + i % 9000} {1 + i % 97} {1 + i % 7}\n" for i in range(80)]
        for place in (*range(9), 40, 77, 80):
            text = head + "".join([*body[:place], wrong + "\n", *body[place:]])
            first, second, rows = both(text.encode(), name, max_vertices=9001 - base)
            assert first == second
            assert rows == 81 * (wrong in ("0 5 6", "5 0 6") and not base)


@pytest.mark.usefixtures("processor")
def test_short_numbers_are_read_together(tmp_path, monkeypatch):
    """All but a few: here no line is left to be read alone, which would refuse its weight."""
    few_together(monkeypatch, parts=1)
    line = b"12345678 12345679 -12345670\n"
    monkeypatch.setattr(compiled, "LINE_BYTES", len(line))
    monkeypatch.setattr(compiled, "MOST_DIGITS", 0)
    reading = reading_twice(tmp_path / "graph", monkeypatch)
    for lines, read in ((16, 16), (17, 0)):
        first, second, rows = reading(line * lines, "wel", max_vertices=10**8)
        assert first == second
        assert rows == read


@pytest.mark.usefixtures("processor")
def test_lines_are_read_together_again_after_others(tmp_path, monkeypatch):
    """Those that are odd come alone, and so do more and more behind, up to some."""
    few_together(monkeypatch, parts=2)
    monkeypatch.setattr(compiled, "MOST_ALONE", 16)
    rng = random.Random(3)  # noqa: S311 - not a secret
    reading = reading_twice(tmp_path / "graph", monkeypatch)
    for odd in (1, 5, 40, 400):
        forms = (b"%d %09d\n" if rng.randrange(odd) == 0 else b"%d %d\n" for _ in range(900))
        many = b"".join(form % (i, i) for i, form in enumerate(forms))
        first, second, rows = reading(many, "el")
        assert first == second
        assert rows == 900


def test_lines_that_are_longer_than_usual(both):
    """Those that are read together may end in the next part, where they are read, too."""
    lines = [b"%d %d 3 %0*d\n" % (i, i + 1, 50 if i < 40 else 30, i % 10) for i in range(90)]
    for cut in range(20):
        first, second, rows = both(b"".join(lines[cut:]), "snap")
        assert first == second
        assert rows == 90 - cut


@pytest.mark.parametrize("digits", [(7, 7), (8, 8)])
def test_short_decimals_to_the_last_bit(both, digits):
    """Of seven or eight digits before the point and behind it, some without either."""
    rng = random.Random(7)  # noqa: S311 - not a secret
    before, behind = digits
    texts = []
    for _ in range(2000):
        sign, whole = "-" * rng.randrange(2), str(rng.randrange(10 ** (before - 1), 10**before))
        part = str(rng.randrange(10 ** (behind - 1), 10**behind))
        kept = rng.randrange(behind + 1) if before < 8 else behind
        texts.append(sign + whole[rng.randrange(before) :] + (f".{part[:kept]}" if kept else ""))
    texts = [text for text in texts if float(text) or text[0] != "-"]
    lines = "".join(f"{i} {i} {text}\n" for i, text in enumerate([*texts, "0.5"])).encode()
    first, second, rows = both(lines, "wel")
    assert first == second
    assert rows == len(texts) + 1
    expected = np.array([*map(float, texts), 0.5])
    assert second[1][2] == (expected.dtype, expected.tobytes())


def test_decimals_to_the_last_bit(both):
    """Each is the float64 nearest to its text, as Python reads it."""
    rng = random.Random(7)  # noqa: S311 - not a secret
    texts = []
    for _ in range(8000):
        digits = str(rng.randrange(1, 10 ** rng.randrange(1, 19)))
        point = rng.randrange(1, len(digits) + 1)
        behind = len(digits) - point
        exponent = behind - rng.randrange(28)
        sign = "-" * rng.randrange(2)
        text = sign + digits[:point] + ("." + digits[point:] if behind else "")
        texts.append(text)
        texts.append(text + rng.choice("eE") + format(exponent, rng.choice(["d", "+03d"])))
        texts.append(f"{sign}0.{digits.rjust(rng.randrange(len(digits), 28), '0')}")
    # Halfway between two float64, where a number of 18 digits can be, and next to it.
    for power in range(3):
        for _ in range(500):
            middle = (2**53 + 2 * rng.randrange(2**52) + 1) * 5**power
            texts += [f"{middle + more}e-{power}" for more in (-1, 0, 1)]
    texts.append("0.5")
    lines = "".join(f"{i} {i} {text}\n" for i, text in enumerate(texts)).encode()
    first, second, rows = both(b"# Nodes: 0\n" + lines, "snap")
    assert first == second
    assert rows == len(texts)
    expected = np.array([float(text) for text in texts])
    assert second[1][2] == (expected.dtype, expected.tobytes())


@pytest.mark.parametrize(
    ("weight", "taken"),
    [
        ("123456789012345678", True),
        ("1234567890123456789", False),
        ("00000000000000000000123456789012345678", True),
        ("000000000000000000001234567890123456789", False),
        ("-0", False),
        ("-0.0", False),
        ("0.123456789012345678", True),
        ("0.0012345678901234567", True),
        ("1.123456789012345678", False),
        ("0.000000000000000000000000001", True),
        ("0.0000000000000000000000000001", False),
        ("1e-27", True),
        ("1e-28", False),
        ("1.5E+01", True),
        ("1.5e1", True),
        ("1.5e-1", True),
        ("1.5e+2", False),
        ("1.5e-0001", False),
        ("1.5e", False),
        ("1.5e-", False),
        ("1.5e+-1", False),
        ("1.5e-1.5", False),
        ("e5", False),
        ("-0e-1", False),
        ("-5", True),
        ("5.", False),
        (".5", False),
        ("5e1", False),
    ],
)
def test_which_weights_are_the_kernel_s(both, weight, taken):
    data = f"1 2 3\n4 5 {weight}\n".encode()
    first, second, rows = both(data, "snap")
    assert first == second
    assert rows == 2 * taken


def test_integers_in_one_block_and_decimals_in_another(both):
    integers = b"".join(b"%d %d %d\n" % (i, i + 1, i % 7) for i in range(10, 90))
    decimals = integers.replace(b" 6\n", b" 6.5\n")
    for data in (integers + decimals, decimals + integers, decimals + integers + decimals):
        first, second, rows = both(data, "snap", 640)
        assert first == second
        assert rows == data.count(b"\n")


@pytest.mark.parametrize(
    "odd", [b"3 4 5 \n", b"3 4  6\n", b"0 4 5 6\n", b"3 4 5 6.5\n", b"3 4 5 -6\n", b"3 4 5 6.\n"]
)
def test_four_columns(both, odd):
    body = b"".join(b"%d %d %d %d\n" % (i + 1, i + 2, -i, 10**9 + i) for i in range(1, 20))
    for name in ("snap", "koblenz", "edges"):
        head = b"% asym weighted\n" if name == "koblenz" else b""
        first, second, rows = both(head + body, name)
        assert first == second
        assert rows == 19
        first, second, _ = both(head + body + odd + body, name)
        assert first == second


@pytest.mark.parametrize("wrong", [b"3\n", b"3 4 x\n", b"3 4 5 6\n", b"3 99999999 5\n"])
def test_lines_are_counted_though_nobody_counts_newlines(both, wrong):
    body = b"".join(b"%d %d %d\n" % (i, i + 1, i % 7) for i in range(2000))
    first, second, rows = both(body + wrong + body, "wel", 512, parts=4, max_vertices=9999)
    assert first == second
    assert ":2001: " in second
    assert 0 < rows < 2000


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_a_newline_ends_a_line(both, columns):
    """Twice as many numbers are not two lines; half as many are not half a line."""
    text = " ".join(map(str, range(1, columns + 1)))
    plain, name = f"{text}\n" * 9, "koblenz"
    first, second, rows = both(plain.encode(), name)
    assert (first == second, rows) == (True, 9)
    for wrong in (f"{text} {text}\n", text.replace(" ", "\n") + "\n"):
        first, second, rows = both((plain + wrong + plain).encode(), name)
        assert first == second
        assert ":10: " in second
        assert rows == 0


def test_a_file_that_is_cut_off_names_the_line_that_was_read_last(both):
    body = b"".join(b"%d %d\n" % (i % 9973, i % 9931) for i in range(200_000))
    data = gzip.compress(body, 1)
    first, second, rows = both(data[: len(data) // 2], "el", 4096)
    assert first == second
    assert "is damaged or cut off" in second
    assert rows > 0


def test_a_line_that_is_too_long_is_named(both):
    body = b"".join(b"%d %d\n" % (i, i + 1) for i in range(3000))
    first, second, _ = both(body + b"1" * (3 << 20) + body, "snap", 8192)
    assert first == second
    assert ":3001: the line is longer than 1048576 bytes" in second


def test_another_runtime_reads_alike(both, intel, monkeypatch):
    monkeypatch.setattr(seam, "open_processor", lambda: intel)
    body = b"".join(b"%d,%d,%d.25\n" % (i, i * 7 % 4000, i % 7) for i in range(4000))
    for data in (body, body.replace(b".25", b""), body + b"1,2,x\n"):
        first, second, rows = both(data, "csv", 8192)
        assert first == second
        assert rows >= 3000


def test_nothing_is_opened_for_a_file(tmp_path, monkeypatch):
    path = tmp_path / "graph.el"
    path.write_bytes(b"0 1\n1 2\n")
    monkeypatch.setattr(seam, "LEAST_BYTES", 0)
    monkeypatch.setattr(choosing, "_chosen", set())
    monkeypatch.setattr(choosing, "_fitting", lambda _: pytest.fail("a device was looked for"))
    monkeypatch.setattr(compiled, "CompiledBlocks", lambda *_: pytest.fail("there is no device"))
    assert cgg.read(path).m == 2


def test_a_processor_that_was_chosen_is_open(pocl, monkeypatch):
    monkeypatch.setattr(choosing, "_chosen", set())
    assert choosing.open_processor() is None
    assert cg.device("pocl+lanes8").traits.emulated
    assert seam.open_processor() == pocl
    assert not choosing.open_processor().traits.emulated


def test_a_kernel_that_cannot_be_built_is_done_without(both, monkeypatch, caplog):
    def refused(*_args, **_options):
        raise KernelBuildError("no compiler today")

    monkeypatch.setattr(compiled, "load", refused)
    caplog.set_level("INFO", "clgraph")
    first, second, rows = both(b"0 1\n1 2\n" * 400, "el", 512)
    assert first == second
    assert rows == 0
    assert "files are read without a kernel: no compiler today" in caplog.text


def test_a_block_is_not_copied(both, monkeypatch):
    """The kernel reads the text where it is, and nothing is sent for what it found."""
    given, lent = [], compiled._Reader._lent

    def noted(self, values):
        given.append(lent(self, values))
        return given[-1]

    monkeypatch.setattr(compiled._Reader, "_lent", noted)
    for name in ("read", "write"):
        monkeypatch.setattr(Allocation, name, lambda *_, **__: pytest.fail("something is copied"))
    first, second, rows = both(b"".join(b"%d %d\n" % (i, i + 1) for i in range(9000)), "el", 8192)
    assert (first == second, rows) == (True, 9000)
    assert given
    assert all(buffer.flags & compiled.cl.mem_flags.USE_HOST_PTR for buffer in given)


def test_scratch_memory_is_that_of_blocks(both, processor):
    before = processor.ledger.used_bytes
    body = b"".join(b"%d %d\n" % (i, i + 1) for i in range(50_000))
    first, second, rows = both(body, "el", 1 << 16)
    assert first == second
    assert rows == 50_000
    assert processor.ledger.used_bytes == before


def test_ctrl_c_within_a_read_leaves_no_thread(tmp_path, monkeypatch, processor):
    monkeypatch.setattr(seam, "LEAST_BYTES", 0)
    monkeypatch.setattr(seam, "BLOCK_BYTES", 4096)
    path = tmp_path / "graph.el"
    graph = cgg.generate.random(2000, 5)
    cgg.write(graph, path)
    gc.collect()  # what other tests left in cycles
    used, told = processor.ledger.used_bytes, []

    def stop(*_):
        told.append(1)
        if len(told) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cgg.read(path, progress=stop)
    assert ahead.THREAD not in at_work()
    gc.collect()
    assert processor.ledger.used_bytes == used
    assert cgg.read(path).m == graph.m


def test_readers_are_used_again(both, monkeypatch):
    made, reader = [], compiled._Reader

    def counted(*given):
        made.append(given)
        return reader(*given)

    monkeypatch.setattr(compiled, "_Reader", counted)
    data = b"".join(b"%d %d\n" % (k % 50, k % 49) for k in range(4000))
    first, second, rows = both(data, "edges", 1 << 10)
    assert first == second
    assert rows == 4000
    assert 1 <= len(made) <= 8  # one for each thread, of more than 20 blocks


def test_limits_of_more_than_a_number_holds(both):
    data = b"1 2\n" * 500
    first, second, rows = both(data, "edges", max_vertices=10**20)
    assert first == second
    assert rows == 500


def test_a_long_line_takes_no_room(processor):
    """A comment is not plain, however it would be shared out among many work-items."""
    rules = seam.Rules((2, 3), 0, 2, False, b",", b"", False, (2**31, 2**31))
    reader = compiled._Reader(processor, rules)
    reader._items = 512
    data = b"1 2\n" * 500 + b"#" * 10**6 + b"\n"
    assert rules.line(data) is not None
    assert reader.read(data, rules.line(data), decimals=False) is None
    assert reader._work.size_bytes == 0
