"""Instrumented renderings: kernels that count what they do, made from the plain ones' text."""

from clgraph.profile.instrument.rewriting import (
    HEADER,
    LAST_BLOCK,
    MOST_RECORDS,
    RECORD_WORDS,
    SITE_WORDS,
    SPREAD,
    Flavour,
    Instrumented,
    Mask,
    flavour_of,
    instrumented,
)
from clgraph.profile.instrument.sites import Site

__all__ = [
    "HEADER",
    "LAST_BLOCK",
    "MOST_RECORDS",
    "RECORD_WORDS",
    "SITE_WORDS",
    "SPREAD",
    "Flavour",
    "Instrumented",
    "Mask",
    "Site",
    "flavour_of",
    "instrumented",
]
