"""Has PoCL 3.0 call the processor "generic", as it does where its compiler does not know it."""

import ctypes
import importlib
import importlib.abc
import importlib.machinery
import sys

UNKNOWN = "generic"
_named = []


def rename(platforms, name=UNKNOWN):
    """Name the processor of PoCL 3.0; nothing where no platform is of that release.

    Parameters
    ----------
    platforms : list of pyopencl.Platform
        What the loader shows.
    name : str
        What PoCL is to call the processor.

    Returns
    -------
    bool
        Whether there was such a device.
    """
    processor = importlib.import_module("clgraph.device.hardware.processor")
    devices = [found for p in platforms if "Portable" in p.name for found in p.get_devices()]
    devices = [found for found in devices if processor._is_that_release(found)]
    for device in devices:
        word = processor.WORD_BYTES
        words = range(device.int_ptr, device.int_ptr + processor.SEARCHED_BYTES, word)
        with processor._memory() as memory:
            places = [
                place
                for place in words
                if processor._text_at(memory, place - word).startswith(processor.TARGET)
            ]
        (place,) = places
        duplicate = ctypes.CDLL(None).strdup
        duplicate.restype, duplicate.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        ctypes.c_void_p.from_address(place).value = duplicate(name.encode())
    return bool(devices)


class _Finder(importlib.abc.MetaPathFinder):
    """Changes pyopencl when it is imported, so that nothing is imported that would not be."""

    def find_spec(self, name, path, target=None):
        if name != "pyopencl":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (execute(module), _watch(module))[1]
        return spec


def _watch(module):
    """Rename where the platforms are first asked for: clgraph chooses the drivers before."""
    get_platforms = module.get_platforms

    def get_and_rename():
        platforms = get_platforms()
        if not _named:
            _named.append(True)
            rename(platforms)
        return platforms

    module.get_platforms = get_and_rename


def rename_on_first_use():
    """Rename in this process as soon as it asks OpenCL for platforms."""
    if "pyopencl" in sys.modules:
        _watch(sys.modules["pyopencl"])
    else:
        sys.meta_path.insert(0, _Finder())
