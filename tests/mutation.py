"""Files that are nearly right: mutations that know the structure of each format.

A mutation changes a graph before it is written, or tokens, lines and bytes of the file; most leave
it a file of its format. What a reader accepts must be a graph, what it refuses a GraphFormatError.
"""

import contextlib
import io
import random
import re
import struct
import zipfile

import numpy as np

import clgraph as cg
from clgraph.graph.formats.registry import FORMATS

TEXT = ("mtx", "snap", "dimacs9", "metis", "koblenz", "edges", "csv", "el", "wel")
NUMBERS = ("0", "1", "2", "3", "-1", "1.5", "1e3", "nan", "1e999", "007", "+2", "4294967296")
NUMBERS += ("9223372036854775807", "99999999999999999999", "0x1", "", "\u0663", "1_0", "a", "\0")
COMMENTS = ("% a comment", "# Nodes: 9 Edges: 3", "c comment", "# undirected", "%", "", " ")
HEADS = (
    "%%MatrixMarket matrix coordinate {} {}",
    "% {} {}",
)
FIELDS = ("real", "integer", "pattern", "complex"), ("general", "symmetric", "skew-symmetric")
LONGEST_BYTES = 2000
NUMBER = re.compile("-?[0-9]{1,20}")
SIDES = ("sym", "asym", "bip"), ("unweighted", "positive", "weighted", "posweighted")


def a_graph(rng):
    """A small graph of any kind that formats can say."""
    n = rng.randrange(1, 9)
    m = rng.randrange(0, 14)
    src = [rng.randrange(n) for _ in range(m)]
    dst = [rng.randrange(n) for _ in range(m)]
    weights = None
    if rng.random() < 0.5:
        kind = rng.choice([np.int32, np.int64, np.float32, np.float64])
        weights = np.array([rng.randrange(1, 99) for _ in range(m)], kind)
    directed = rng.random() < 0.5
    return cg.from_edges(
        np.array(src, np.int64), np.array(dst, np.int64), weights, n=n, symmetrize=not directed
    )


def written(name, rng):
    """Bytes of a graph in a format, whatever that leaves out."""
    graph = a_graph(rng)
    if name in ("wel", "wsg") and graph.weights is None:
        graph = cg.Graph(graph.indptr, graph.indices, np.ones(graph.m, np.int32))
    if name == "wsg":
        graph = cg.Graph(
            graph.indptr,
            graph.indices,
            np.asarray(graph.weights).astype(np.int32),
            directed=graph.directed,
        )
    if name in ("dimacs9", "metis") and graph.weights is not None:
        graph = cg.Graph(
            graph.indptr,
            graph.indices,
            np.asarray(graph.weights).astype(np.int64),
            directed=graph.directed,
        )
    if name == "metis" and graph.directed:
        graph = graph.symmetrized()
    if name in ("el", "wel") and not graph.m:
        return b""  # which nobody writes
    return b"".join(FORMATS[name].write(graph))


class Files:
    """Mutated files of a format without end: of written graphs, and of files that were accepted.

    Writing a graph costs more than changing a file, so that a new one comes only now and then. What
    a reader accepted although it was changed is worth changing further.
    """

    KEPT = 64
    NEW = 0.1  # of the files are of a graph not seen before
    FURTHER = 0.3  # of the others are of a file that was changed already

    def __init__(self, name, seed):
        self.name = name
        self.rng = random.Random(f"{seed} {name}")  # noqa: S311 - not a secret
        self._written = []
        self._accepted = []

    def next(self):
        rng = self.rng
        if rng.random() < self.NEW or not self._written:
            keep(self._written, written(self.name, rng), rng, self.KEPT)
        further = self._accepted and rng.random() < self.FURTHER
        return mutated(self.name, rng.choice(self._accepted if further else self._written), rng)

    def accepted(self, data):
        if len(data) < LONGEST_BYTES:
            keep(self._accepted, data, self.rng, self.KEPT)


def keep(files, data, rng, most):
    if len(files) < most:
        files.append(data)
    else:
        files[rng.randrange(most)] = data


def mutated(name, data, rng):
    """A file of the format, changed nowhere, or in one place or several."""
    # Whatever is changed in a binary file mostly makes it none.
    for _ in range(rng.choice([0, 1, 1, 1, 2, 4] if name in TEXT else [0, 0, 1, 1, 2])):
        if name in TEXT:
            data = rng.choice(CHANGES)(data.decode("utf-8", "replace"), rng).encode(
                "utf-8", "replace"
            )
        elif name == "npz" and rng.random() < 0.8:
            data = of_archive(data, rng)
        else:
            data = of_words(data, rng) if rng.random() < 0.7 else of_bytes(data, rng)
    return of_bytes(data, rng) if rng.random() < 0.1 else data


def of_token(text, rng):
    """Another number in place of one."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    words = lines[at].split(" ")
    place = rng.randrange(len(words))
    number = words[place]
    if NUMBER.fullmatch(number) and rng.random() < 0.7:
        words[place] = str(int(number) + rng.choice([-1, 1, 2, -int(number)]))
    else:
        words[place] = rng.choice(NUMBERS)
    lines[at] = " ".join(words)
    return "\n".join(lines)


def of_spaces(text, rng):
    """Other white space, which mostly means the same."""
    old = rng.choice([" ", "\n"])
    new = {" ": ["  ", "\t", " \t "], "\n": ["\r\n", "\n\n", " \n"]}[old]
    return text.replace(old, rng.choice(new), rng.choice([-1, 1, 2]))


def of_lines(text, rng):
    """A line twice, elsewhere, or nowhere."""
    lines = text.split("\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        lines.insert(to, lines[at])
    elif change == 1:
        lines[at], lines[to] = lines[to], lines[at]
    elif change == 2:
        del lines[at]
    else:
        lines.insert(to, rng.choice(COMMENTS))
    return "\n".join(lines)


def of_head(text, rng):
    """A head that says something else."""
    lines = text.split("\n")
    for at, line in enumerate(lines[:3]):
        if line.startswith("%%"):
            lines[at] = HEADS[0].format(rng.choice(FIELDS[0]), rng.choice(FIELDS[1]))
            break
        if line.startswith("% ") and not line[2:3].isdigit():
            lines[at] = HEADS[1].format(rng.choice(SIDES[0]), rng.choice(SIDES[1]))
            break
    return "\n".join(lines)


def of_weights(text, rng):
    """A column more or less in every line."""
    lines = text.split("\n")
    longer = rng.random() < 0.5
    return "\n".join(
        line + f" {rng.randrange(9)}" if longer and line else line.rpartition(" ")[0] or line
        for line in lines
    )


CHANGES = (of_token, of_token, of_token, of_spaces, of_lines, of_lines, of_head, of_weights)


def of_bytes(data, rng):
    """Bytes changed, cut off or repeated, whatever they mean."""
    if not data:
        return data
    at = rng.randrange(len(data))
    change = rng.randrange(4)
    if change == 0:
        return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if change == 1:
        return data[:at]
    if change == 2:
        return data[:at] + data[at : at + rng.randrange(1, 20)] + data[at:]
    return data[:at] + rng.randbytes(rng.randrange(1, 6)) + data[at:]


def of_words(data, rng):
    """One of the numbers of a binary file."""
    size, kind = rng.choice([(4, "<i"), (8, "<q")])
    if len(data) < size + 1:
        return data
    at = rng.randrange((len(data) - 1) // size) * size + rng.choice([0, 1])
    at = min(at, len(data) - size)
    number = struct.unpack_from(kind, data, at)[0]
    other = rng.choice([number + 1, number - 1, 0, 1, -1, 2**31 - 1, number ^ 1])
    changed = bytearray(data)
    limit = 1 << (8 * size - 1)
    struct.pack_into(kind, changed, at, (other + limit) % (2 * limit) - limit)
    return bytes(changed)


def of_archive(data, rng):
    """An array of another type, shape or content, or another way to keep it."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            members = {name: archive[name] for name in archive.files}
    except Exception:  # noqa: BLE001, RUF100 - damaged before
        return of_bytes(data, rng)
    # A member that is no array, as after damage to its first bytes, is given as bytes.
    arrays = {name: kept for name, kept in members.items() if isinstance(kept, np.ndarray)}
    if not arrays:
        return of_bytes(data, rng)
    name = rng.choice(list(arrays))
    array = arrays[name]
    change = rng.randrange(6)
    if change == 0:
        kind = rng.choice(["<i4", "<i8", ">i4", "u1", "u8", "f4", "U5", "?"])
        with contextlib.suppress(ValueError):  # a text that is no number
            arrays[name] = array.astype(kind)
    elif change == 1 and array.size:
        flat = array.copy().reshape(-1)
        flat[rng.randrange(flat.size)] = rng.choice([0, 1, 2, 7])
        arrays[name] = flat.reshape(array.shape)
    elif change == 2:
        arrays[name] = array.reshape(rng.choice([(-1,), (1, -1)]))
    elif change == 3:
        del arrays[name]
    elif change == 4:
        arrays[rng.choice(["labels", "weights", "data", "extra"])] = np.arange(rng.randrange(9))
    buffer = io.BytesIO()
    # The last is slow, and the reader has no code of its own for it.
    kind = rng.choices((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA), (50, 50, 1))[0]
    with zipfile.ZipFile(buffer, "w", kind) as file:
        for key, value in arrays.items():
            member = io.BytesIO()
            np.save(member, value, allow_pickle=False)
            file.writestr(f"{key}.npy", member.getvalue())
    return buffer.getvalue()
