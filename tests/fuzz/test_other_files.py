"""Files that are no graphs are read or refused like those that are: traces, labels, updates."""

import io
import json
import random

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from mutation import of_bytes, of_lines, of_token, of_words

import clgraph as cg
from clgraph.algorithms.invariants.readers import read_trace
from clgraph.algorithms.matching.inputs import load_similarity, read_labels
from clgraph.dynamic.stream import read_updates
from clgraph.profile.quality import SCHEMA, Weights

VCD = b"""$timescale 1ns $end
$scope module m $end
$var wire 1 ! a $end
$var wire 4 " b $end
$upscope $end
$enddefinitions $end
#0
0!
b1010 "
#5
1!
bx01 "
"""
WEIGHTS = {"schema": SCHEMA, "origin": "user", "device": "one", "weights": {}}


def bytes_of(save, value, **options):
    buffer = io.BytesIO()
    save(buffer, value, **options)
    return buffer.getvalue()


def parquet():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    return bytes_of(
        lambda file, frame: frame.to_parquet(file), pandas.DataFrame({"a": [1, 2], "b": [1.5, 2]})
    )


def archive():
    buffer = io.BytesIO()
    np.savez(buffer, a=np.arange(5), b=np.arange(5) > 2)
    return buffer.getvalue()


# Name of the file, a function that gives what it holds, and its reader.
KINDS = {
    "trace.csv": (lambda: b"a,b,c\n1,2.5,true\n2,3,false\n,4,true\n", read_trace),
    "trace.vcd": (lambda: VCD, read_trace),
    "trace.npy": (lambda: bytes_of(np.save, np.arange(12).reshape(4, 3)), read_trace),
    "trace.npz": (archive, read_trace),
    "trace.parquet": (parquet, read_trace),
    "labels.txt": ("a\nb\n\u00e9\n".encode, read_labels),
    "updates.csv": (lambda: b"+,0,1,2\n-,0,1,2\n+,1,2,0.5\n", read_updates),
    "times.txt": (lambda: b"time u v\n0.5 0 1\n1 1 2\n", read_updates),
    "likeness.csv": (lambda: b"1,0,0.5\n0,1,1\n", load_similarity),
    "likeness.npy": (lambda: bytes_of(np.save, np.eye(3)), load_similarity),
    "likeness.npz": (
        lambda: bytes_of(scipy.sparse.save_npz, scipy.sparse.eye_array(3, format="csr")),
        load_similarity,
    ),
    "likeness.mtx": (lambda: bytes_of(scipy.io.mmwrite, np.eye(3)), load_similarity),
    "weights.json": (lambda: json.dumps(WEIGHTS, indent=1).encode(), Weights.load),
}
TEXTS = (".csv", ".vcd", ".txt", ".mtx", ".json")


def mutated(data, rng, *, text):
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if text and rng.random() < 0.6:
            comma = b"," in data
            words = data.decode("utf-8", "replace").replace(",", " ")
            changed = rng.choice([of_token, of_lines])(words, rng)
            data = (changed.replace(" ", ",") if comma else changed).encode("utf-8", "replace")
        else:
            data = rng.choice([of_bytes, of_bytes, of_words])(data, rng)
    return data


@pytest.mark.parametrize("name", KINDS)
def test_mutated_files_that_are_no_graphs(name, effort, tmp_path, record_property):
    make, read = KINDS[name]
    whole = make()
    if name.endswith(".vcd"):
        pytest.importorskip("vcd")
    path = tmp_path / name
    path.write_bytes(whole)
    read(path)
    rng = random.Random(f"{effort('seed')} {name}")  # noqa: S311 - not a secret
    accepted = 0
    count = effort("inputs")
    for turn in range(count):
        data = mutated(whole, rng, text=path.suffix in TEXTS)
        path.write_bytes(data)
        complaint = str(path)
        try:
            read(path)
            accepted += 1
        except cg.ClgraphError as error:
            complaint = str(error)
        except BaseException as error:
            error.add_note(f"input {turn} of {name}: {data!r}")
            raise
        assert complaint
    record_property("inputs", count)
    record_property("accepted", accepted / count)
