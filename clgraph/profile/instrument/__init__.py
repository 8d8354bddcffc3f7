"""Instrumented renderings: kernels that count what they do, made from the plain ones' text."""

from clgraph.profile.instrument.rewriting import (
    HEADER,
    HOT_WORDS,
    LAST_BLOCK,
    MOST_RECORDS,
    NEAR_SECTORS,
    NEAR_UNITS,
    RECORD_WORDS,
    SITE_WORDS,
    SPREAD,
    STAGE_WORDS,
    STAGES,
    Flavour,
    Instrumented,
    Mask,
    flavour_of,
    instrumented,
    words_beside,
)
from clgraph.profile.instrument.sites import Site

__all__ = [
    "HEADER",
    "HOT_WORDS",
    "LAST_BLOCK",
    "MOST_RECORDS",
    "NEAR_SECTORS",
    "NEAR_UNITS",
    "RECORD_WORDS",
    "SITE_WORDS",
    "SPREAD",
    "STAGES",
    "STAGE_WORDS",
    "Flavour",
    "Instrumented",
    "Mask",
    "Site",
    "flavour_of",
    "instrumented",
    "words_beside",
]
