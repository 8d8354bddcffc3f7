"""The linker that PoCL runs to make kernels of what it compiled."""

import os
import shutil
import sys

from clgraph.errors import KernelBuildError

__all__ = ["check_linker"]

LINKER = "ld"
POCL_PLATFORM = "Portable Computing Language"


def check_linker(platform: str, *, is_cpu: bool) -> None:
    """Refuse to build what would end the process.

    PoCL runs ``ld`` when a kernel is first launched, and aborts the whole process where there is
    none, as in containers that hold Python and nothing else.

    Parameters
    ----------
    platform : str
        Name of the platform.
    is_cpu : bool
        Whether kernels run on the processor.

    Raises
    ------
    KernelBuildError
        If the platform is PoCL and there is no linker on the path.
    """
    if platform != POCL_PLATFORM or not is_cpu or sys.platform != "linux":
        return
    # Without PATH shutil.which() would look elsewhere, but PoCL does not.
    if shutil.which(LINKER, path=os.environ.get("PATH", "")):
        return
    elsewhere = shutil.which(LINKER, path=os.defpath)
    way_out = (
        f"it is {elsewhere}, so add its folder to PATH"
        if elsewhere
        else "install one: the package is called binutils (apt-get install binutils, apk add "
        "binutils, dnf install binutils)"
    )
    raise KernelBuildError(
        f"PoCL needs the linker {LINKER!r} to build kernels, and there is none on PATH "
        f"({os.environ.get('PATH', '')!r}); {way_out}, or use a driver that brings its own: "
        "pip install clgraph[intel]."
    )
