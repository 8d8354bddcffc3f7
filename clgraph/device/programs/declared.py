"""The short list of OpenCL C's own functions that PoCL is given instead of its long one."""

import re

from clgraph.device.rendering.sources import render

__all__ = ["with_short_list"]

# PoCL reads clang's 18,000 lines of declarations for every program, which takes longer than most of
# ours do. They are passed over where their guard is defined.
GUARD = "-D_OPENCL_H_"
# Others may find functions in other ways, and would count the errors of a try aloud.
TRIED = re.compile(r"\bpocl 3\.", re.IGNORECASE)


def with_short_list(version: str, source: str) -> tuple[str, str] | None:
    """Put declarations of what kernels call before a source, where its compiler has too many.

    Parameters
    ----------
    version : str
        Of the platform.
    source : str
        The whole OpenCL C.

    Returns
    -------
    text, option : str
        What to build instead, and the option it needs; lines keep their numbers. None for another
        platform than PoCL 3.

    Notes
    -----
    A source may call what ``templates/builtins/declared.mako`` does not have, as searches of users
    may. The compiler refuses it then, and it is to be built as it is.
    """
    if not TRIED.search(version):
        return None
    return f"{render('builtins/declared.mako', {})}\n#line 1\n{source}", GUARD
