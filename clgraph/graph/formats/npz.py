"""NumPy archives: clgraph's own layout, which keeps everything, and that of scipy.sparse."""

import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from clgraph.errors import ClgraphError, InvalidArgumentError, InvalidGraphError
from clgraph.graph import csr
from clgraph.graph.csr import Array
from clgraph.graph.formats.archive import Archive, packed
from clgraph.graph.formats.assemble import choose_weights
from clgraph.graph.formats.files import Source
from clgraph.graph.graph import Graph

__all__ = ["read", "write"]

# What means something here: dimensions and kinds of element that each may have.
_ARRAYS = {
    "indptr": ((1,), "iu"),
    "indices": ((1,), "iu"),
    "weights": ((1,), "biuf"),
    "directed": ((0, 1), "biu"),
    "labels": ((1,), "biufSU"),
    "data": ((1,), "biuf"),
    "format": ((0,), "SU"),
    "shape": ((1,), "iu"),
}
_EXPANSION = 200
_FREE_BYTES = 1 << 23
_PIECE_BYTES = 1 << 18


def read(source: Source, *, directed: bool | None, weighted: bool | None) -> Graph:
    """Read ``indptr``, ``indices`` and, if present, ``weights``, ``directed`` and ``labels``.

    An archive of ``scipy.sparse.save_npz`` in CSR format is read too. Pickled objects are refused.
    """
    arrays = _arrays(source)
    for name in ("indptr", "indices"):
        if name not in arrays:
            source.fail(f"the archive has no array {name!r}", 1)
    if "format" in arrays and arrays["format"].tobytes().replace(b"\0", b"") != b"csr":
        source.fail("the sparse matrix is not stored by rows; save it as CSR", 1)
    if "shape" in arrays and arrays["shape"].tolist() != [len(arrays["indptr"]) - 1] * 2:
        source.fail(f"the matrix is {arrays['shape'].tolist()}; an adjacency matrix is square", 1)
    weights = arrays.get("weights", arrays.get("data"))
    if not choose_weights(source, weighted, has=weights is not None, default=True):
        weights = None
    if directed is None:
        flag = arrays.get("directed")
        directed = True if flag is None else bool(flag.any())
    indptr, indices = arrays["indptr"], arrays["indices"]
    source.check_vertices(len(indptr) - 1, 1)
    try:
        if "format" in arrays:  # scipy does not keep rows sorted
            checked = Graph(indptr, np.zeros_like(indices))
            if len(indices) and not 0 <= indices.min() <= indices.max() < checked.n:
                source.fail("column indices lie outside the matrix", 1)
            sources = csr.row_ids(checked.indptr)
            indptr, indices, weights = csr.edges_to_csr(checked.n, sources, indices, weights)
        return Graph(indptr, indices, weights, directed=directed, labels=arrays.get("labels"))
    except (InvalidGraphError, InvalidArgumentError, ValueError) as error:
        source.fail(str(error), 1)


def _arrays(source: Source) -> dict[str, Array]:
    """Arrays of the archive that mean something here, after a look at what they would take."""
    try:
        with Archive(source.seekable()) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            names = [name for name in _ARRAYS if f"{name}.npy" in infos]
            total = sum(infos[f"{name}.npy"].file_size for name in names)
            most = source.limits.max_bytes or max(_FREE_BYTES, _EXPANSION * source.size_bytes)
            if total > most:
                source.fail(
                    f"the archive expands to {total} bytes; pass max_bytes= to read over {most}", 1
                )
            return {name: _array(archive, infos[f"{name}.npy"]) for name in names}
    except ClgraphError:
        raise
    except Exception as error:  # modules that unpack damaged bytes raise whatever they come across
        what = str(error) or type(error).__name__
        source.fail(f"the archive is damaged or holds more than plain arrays ({what})", 1)


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(member)
        else:
            raise ValueError(f"{info.filename} has format version {version}")
        if dtype.hasobject:
            raise ValueError(f"{info.filename} holds pickled Python objects")
        dimensions, kinds = _ARRAYS[info.filename.removesuffix(".npy")]
        if len(shape) not in dimensions or any(not 0 <= k <= info.file_size for k in shape):
            raise ValueError(f"{info.filename} has shape {shape}")
        if dtype.kind not in kinds:
            raise ValueError(f"{info.filename} holds elements of type {dtype}")
        count = shape[0] if shape else 1
        size = count * dtype.itemsize
        if size > info.file_size:
            raise ValueError(f"{info.filename} has {info.file_size} bytes for {count} of {dtype}")
        # Piece by piece, so that checksum and copy find each in the cache of the core.
        content, done = np.empty(size, np.uint8), 0
        while piece := member.read(_PIECE_BYTES):
            if done + len(piece) > size:
                raise ValueError(f"{info.filename} has more than {count} of {dtype}")
            content[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
            done += len(piece)
    if done < size:
        raise ValueError(f"{info.filename} has {done} bytes for {count} of {dtype}")
    return content.view(dtype).reshape(shape)


def write(graph: Graph) -> Iterator[bytes]:
    """Bytes of the archive, which keeps dtypes, direction and labels."""
    arrays: dict[str, Any] = {
        "indptr": graph.indptr,
        "indices": graph.indices,
        "directed": np.array(graph.directed),
    }
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if graph.labels is not None:
        arrays["labels"] = _plain_labels(graph.labels)
    yield packed(arrays)  # deflating takes thirty times as long; add .gz to have it


def _plain_labels(labels: Array) -> Array:
    if labels.dtype.kind in "iuU":
        return labels
    if all(isinstance(label, str) and not label.endswith("\0") for label in labels):
        return labels.astype(str)
    raise InvalidArgumentError(
        "labels that are neither integers nor texts cannot be stored; relabel the graph first"
    )
