"""The short list of OpenCL C's own functions that PoCL is given instead of its long one."""

from clgraph.device.programs.linker import POCL_PLATFORM
from clgraph.device.rendering.sources import render

__all__ = ["with_short_list"]

# PoCL reads clang's 18,000 lines of declarations for every program, which takes longer than most of
# ours do. They are passed over where their guard is defined.
GUARD = "-D_OPENCL_H_"


def with_short_list(platform: str, source: str) -> tuple[str, str] | None:
    """Put declarations of what kernels call before a source, where its compiler has too many.

    Parameters
    ----------
    platform : str
        Name of the platform.
    source : str
        The whole OpenCL C.

    Returns
    -------
    text, option : str
        What to build instead, and the option it needs; lines keep their numbers. None for another
        platform than PoCL.

    Notes
    -----
    A source may call what ``templates/builtins/declared.mako`` does not have, as searches of users
    may. The compiler refuses it then, and it is to be built as it is.
    """
    if platform != POCL_PLATFORM:
        return None
    return f"{render('builtins/declared.mako', {})}\n#line 1\n{source}", GUARD
