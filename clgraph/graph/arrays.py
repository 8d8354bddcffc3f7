"""Turning whatever holds numbers in host memory into checked NumPy arrays."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from clgraph.errors import ClgraphError, InvalidArgumentError, InvalidGraphError
from clgraph.graph.csr import Array, index_dtype

__all__ = [
    "argument_array",
    "as_array",
    "as_index_array",
    "as_label_array",
    "as_weight_array",
    "frozen",
    "is_mapped",
    "real_numbers",
]

_INT64_MAX = np.iinfo(np.int64).max
log = logging.getLogger("clgraph")

_WAYS_TO_HOST = ("get", "cpu", "copy_to_host")  # of CuPy and pyopencl, PyTorch, Numba
_CPU = 1  # kDLCPU, the DLPack device type of host memory


def as_array(values: Any, name: str, error: type[ClgraphError] = InvalidGraphError) -> Array:
    """View or copy ``values`` as an ndarray.

    Parameters
    ----------
    values : array-like
        An ndarray, a sequence of numbers, or an object with ``__array__``, ``__array_interface__``
        or a host ``__dlpack__``.
    name : str
        What the caller calls it, for messages.
    error : type
        What is raised.

    Returns
    -------
    ndarray
        A view where the object allows one.

    Raises
    ------
    InvalidGraphError
        If there is no way to read it from host memory, or entries of it are masked; or `error`.
    """
    if isinstance(values, np.ndarray):
        if type(values) is not np.ndarray and np.ma.is_masked(values):
            raise error(
                f"{name} has masked entries, behind which there are numbers all the same; drop "
                "them by .compressed(), or replace them by .filled(...)."
            )
        return np.asarray(values)
    if _on_device(values):
        return _copied_from_device(values, name, error)
    try:
        if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
            array: Array = np.from_dlpack(values)
            return array
        return np.asarray(values)
    except ClgraphError:
        raise
    except Exception as found:  # whatever a foreign object raises, the caller needs one sentence
        raise error(
            f"{name} is a {type(values).__name__} that NumPy cannot read ({found}); "
            "pass an array in host memory"
        ) from found


def _on_device(values: Any) -> bool:
    """Report whether an array lies in the memory of a device."""
    if hasattr(values, "__cuda_array_interface__") or hasattr(values, "base_data"):  # pyopencl's
        return True
    if not hasattr(values, "__dlpack_device__"):
        return False
    return int(values.__dlpack_device__()[0]) != _CPU


def _copied_from_device(values: Any, name: str, error: type[ClgraphError]) -> Array:
    """Copy by whatever way the array's library has, as checks need the values."""
    kind = type(values).__name__
    ways = [way for way in _WAYS_TO_HOST if callable(getattr(values, way, None))]
    try:
        array: Array = (
            np.asarray(getattr(values, ways[0])())
            if ways
            else np.from_dlpack(values, device="cpu", copy=True)
        )
    except Exception as found:  # of NumPy before 2.1, or of a library that cannot
        raise error(
            f"{name} lies on a device, and this {kind} cannot be read from there ({found}); "
            "copy it to host memory first"
        ) from found
    log.info("%s, a %s on a device, is copied to host memory", name, kind)
    return array


def is_mapped(values: Array) -> bool:
    """Whether an array is in a mapped file, as views of views of it are too."""
    base: Any = values
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    return base is not None


def argument_array(name: str, values: Any) -> Array:
    """Argument ``name`` as an array by `as_array`, or InvalidArgumentError."""
    return as_array(values, name, InvalidArgumentError)


def real_numbers(name: str, values: Any) -> Array:
    """Argument ``name`` as an array of float64, or InvalidArgumentError."""
    array = argument_array(name, values)
    try:  # objects may be fractions; texts and complex numbers would become numbers, too
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidArgumentError(f"{name} must hold real numbers, not {array.dtype.name}.")


def as_index_array(values: Any, name: str) -> Array:
    """One-dimensional int32 or int64 array, C-contiguous, in native byte order.

    int32 and int64 arrays that are so already come back as they are; other integers are copied to
    the narrower of the two that holds them.

    Raises
    ------
    InvalidGraphError
        If the values are not integers, not one-dimensional, or above the int64 range.
    """
    array = as_array(values, name)
    if array.ndim != 1:
        raise InvalidGraphError(f"{name} has {array.ndim} dimensions; it needs exactly one")
    if array.size == 0 and array.dtype.kind in "iuf":
        return array if array.dtype in (np.int32, np.int64) else np.empty(0, np.int32)
    if array.dtype.kind not in "iu":
        raise InvalidGraphError(
            f"{name} holds {array.dtype.name} values; it needs integers (int32 or int64)"
        )
    if array.dtype.newbyteorder("=") in (np.int32, np.int64):
        return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    largest = int(array.max())
    if largest > _INT64_MAX:
        raise InvalidGraphError(f"{name} holds {largest}, which does not fit 64-bit integers")
    return array.astype(index_dtype(largest))


def as_weight_array(values: Any, m: int) -> Array:
    """One finite real number per edge: int32, int64, uint32, float32 or float64, C-contiguous.

    Arrays of these types come back as they are; narrower ones and booleans are widened.

    Raises
    ------
    InvalidGraphError
        If there are not ``m`` of them, or one is not a finite real number.
    """
    array = as_array(values, "weights")
    if array.shape != (m,):
        raise InvalidGraphError(
            f"weights has shape {array.shape}; it needs one number for each of the {m} edges: "
            f"({m},)"
        )
    native = array.dtype.newbyteorder("=")
    if native not in (np.int32, np.int64, np.uint32, np.float32, np.float64):
        native = _wider(array)
    array = np.ascontiguousarray(array, dtype=native)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        edge = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InvalidGraphError(
            f"weights[{edge}] is {array[edge]}; every weight must be finite, so drop or replace it"
        )
    return array


def _wider(array: Array) -> np.dtype[Any]:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "u" and size == 8 and array.size and int(array.max()) > _INT64_MAX:
        raise InvalidGraphError(f"weights holds {array.max()}, above the int64 range; use float64")
    if kind in "iub":
        return np.dtype(np.int32 if size < 4 else np.int64)
    if kind == "f" and size <= 2:
        return np.dtype(np.float32)
    if kind == "f" or not array.size:
        return np.dtype(np.float64)
    raise InvalidGraphError(
        f"weights holds {array.dtype.name} values; it needs real numbers (integer or float)"
    )


def as_label_array(labels: Sequence[Any] | Array | None, n: int) -> Array | None:
    """Labels as an array [n]: of int64 where all are integers, else of objects.

    Raises
    ------
    InvalidArgumentError
        If there is not one label for each vertex.
    """
    if labels is None:
        return None
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise InvalidArgumentError("labels must be a sequence with one entry for each vertex")
    if len(labels) != n:
        raise InvalidArgumentError(f"{len(labels)} labels were given for {n} vertices")
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels
    if all(type(label) is int and abs(label) < 2**63 for label in labels):
        return np.array(labels, np.int64)
    result = np.empty(n, object)
    for vertex, label in enumerate(labels):
        result[vertex] = label
    return result


def frozen(array: Array) -> Array:
    """Read-only view of an array; the array itself stays as writeable as it was."""
    view = array.view()
    view.flags.writeable = False
    return view
