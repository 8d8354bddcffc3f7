"""Instrumented renderings: kernels that count what they do, made from the plain ones' text."""

from clgraph.profile.instrument.rewriting import Instrumented, flavour_of, instrumented
from clgraph.profile.instrument.sites import Site
from clgraph.profile.instrument.words import (
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
    Mask,
    record_words,
    words_at_sites,
    words_beside,
)

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
    "record_words",
    "words_at_sites",
    "words_beside",
]
