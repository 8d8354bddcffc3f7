"""Slow references for scans with the operators of the primitives."""

from pathlib import Path

import numpy as np

KERNELS = Path(__file__).resolve().parents[1] / "kernels"  # of tests alone
DTYPES = {
    "uint": np.uint32,
    "int": np.int32,
    "ulong": np.uint64,
    "long": np.int64,
    "float": np.float32,
    "double": np.float64,
    "uint2": np.uint32,
}
KINDS = {np.dtype(dtype): kind for kind, dtype in DTYPES.items() if kind != "uint2"}


def identity(operator, kind):
    """What combines with any element to that element."""
    if operator == "affine":
        return (1, 0)
    if operator in ("add", "or", "latest"):
        return 0
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind == "f":
        return np.inf if operator == "min" else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if operator == "min" else limits.min


def combined(a, b, operator, kind):
    """`a`, then `b`, in Python's numbers."""
    if operator == "affine":
        return (b[0] * a[0] % 2**32, (b[0] * a[1] + b[1]) % 2**32)
    if operator == "latest":
        return b or a
    if operator == "add":
        return wrapped(a + b, kind)
    return {"min": min, "max": max, "or": lambda x, y: x | y}[operator](a, b)


def wrapped(x, kind):
    """An integer as it overflows in its type."""
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind == "f":
        return x
    bits = 8 * dtype.itemsize
    low = 0 if dtype.kind == "u" else 2 ** (bits - 1)
    return (x + low) % 2**bits - low


def rows(array, kind):
    """The elements of an array as Python's numbers, pairs for the kind uint2."""
    return (
        [tuple(row) for row in array.reshape(-1, 2).tolist()]
        if kind == "uint2"
        else array.reshape(-1).tolist()
    )


def folded(values, operator, kind):
    """Inclusive scan of an array, as a list."""
    result, running = [], identity(operator, kind)
    for x in rows(values, kind):
        running = combined(running, x, operator, kind)
        result.append(running)
    return result
