"""Whether a device can build kernels at all: what is listed is not always able to."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from clgraph.device.cache import BinaryCache, CachedBinary
from clgraph.device.folders import cache_root
from clgraph.device.lazy import cl
from clgraph.device.programs import compiling, program
from clgraph.device.programs.builderror import first_error
from clgraph.device.rendering.sources import source_folders
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from pathlib import Path

    from clgraph.device.discovery import Device

__all__ = ["build_trouble", "trouble_of"]

log = logging.getLogger("clgraph")

KERNEL = "primitives/self_test.cl"  # is as it stands there: rendering would cost an import


def build_trouble(device: Device) -> str | None:
    """Say why a device cannot build kernels.

    Parameters
    ----------
    device : Device
        Any; simulators are not tried.

    Returns
    -------
    str or None
        The compiler's first complaint, or what the driver said; None if it builds.

    Notes
    -----
    A kernel of one line is built, in 0.1 to 2 s. That it was is kept on disk beside the programs,
    for this driver, processor and device, so that later processes only look there.
    """
    if device.is_simulator:
        return None
    source = (source_folders()[0] / KERNEL).read_text(encoding="utf-8")
    key = program.cache_key(device, f"{source}// {device.built_for}")
    try:
        passed = _passed(cache_root() / "tested")
    except OSError:
        passed = None
    if passed is not None and passed.load(key) is not None:
        return None
    try:
        compiling.try_building(device, source)
    except KernelBuildError as error:
        return str(error)
    except cl.Error as error:
        return first_error(str(error))
    if passed is not None:
        passed.store(key, CachedBinary(b"", ""), {"device": device.name, "driver": device.driver})
    return None


def trouble_of(device: Device) -> str | None:
    """Say why a device cannot build kernels, as `build_trouble` does, once for its hardware."""
    return _found_out(device.hardware)


_found_out = functools.cache(build_trouble)


@functools.cache
def _passed(folder: Path) -> BinaryCache:
    return BinaryCache(folder)
