"""Writing NumPy archives so that an interruption stays one."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Archive", "packed"]


class Archive(zipfile.ZipFile):
    """An archive in a file that somebody else closes, of which nothing is left to do at its end.

    The destructor of `zipfile` completes archives, and fails where Ctrl-C came while one was being
    opened or written.
    """

    # Does nothing, in no line of Python: Ctrl-C that comes in a destructor is lost.
    __del__: Any = staticmethod(bool)


def packed(arrays: Mapping[str, Any], *, compress: bool = False) -> bytes:
    """Give arrays as the bytes of an npz file.

    Parameters
    ----------
    arrays : mapping of str to array_like
        By name; of objects, such as names of vertices, the texts are kept.
    compress : bool
        Whether to deflate them, which takes thirty times as long.

    Notes
    -----
    ``numpy.savez`` leaves it to ``zipfile`` to close an archive of which a member is still being
    written: then a ValueError takes the place of Ctrl-C.
    """
    buffer = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    archive = Archive(buffer, "w", kind)
    for name, array in arrays.items():
        # Of no date, so that the same arrays give the same bytes.
        entry = zipfile.ZipInfo(f"{name}.npy")
        entry.compress_type = kind
        with archive.open(entry, "w", force_zip64=True) as member:
            values = np.asanyarray(array)
            values = values.astype(str) if values.dtype.hasobject else values
            np.lib.format.write_array(member, values, allow_pickle=False)
    archive.close()
    return buffer.getvalue()
