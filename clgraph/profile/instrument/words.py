"""What instrumented kernels count, and the words of the table that they write to."""

from __future__ import annotations

from enum import IntFlag
from typing import Literal, TypeAlias

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
    "Mask",
    "record_words",
    "words_at_sites",
    "words_beside",
]

Flavour: TypeAlias = Literal["counters", "trace"]

# Of a site: requests, lanes, bytes, lines or passes, sectors or passes at best, sectors that the
# nearest cache did not hold.
SITE_WORDS = 6
SPREAD = 64  # copies of the counters, so that atomics of different work-groups rarely meet
HEADER = 16  # words before everything else, see templates/profile/profile.mako
RECORD_WORDS = 18
TIME_WORDS = 8  # of these, where nothing is counted: a record is two sectors then
# What one SIMD group does in a row is kept apart between meetings of all work-groups: the most that
# any of them did of each of so many things, for as many meetings as there is room for.
STAGES, STAGE_WORDS = 8192, 5
HOT_WORDS = 4096  # atomics by address, modulo this
NEAR_UNITS, NEAR_SECTORS = 160, 6144  # which sectors a unit has near: 192 KiB of an H100's 256
MOST_RECORDS = 1 << 20  # of a launch; SIMD groups beyond are not written down one by one
LAST_BLOCK = 7  # word of a record: 1 + the block that a SIMD group entered last, where TIME is off


class Mask(IntFlag):
    """What a rendering counts."""

    NONE = 0
    TIME = 1
    DIV = 2
    GMEM = 4
    LMEM = 8
    SYNC = 16
    MIX = 32


def record_words(mask: Mask) -> int:
    """Give the words of a SIMD group's record."""
    return TIME_WORDS if mask == Mask.TIME else RECORD_WORDS


def words_at_sites(mask: Mask, sites: int) -> int:
    """Give the words of the counters of places that lanes add to: none for times alone."""
    return 0 if mask == Mask.TIME else SPREAD * max(sites, 1) * SITE_WORDS


def words_beside(mask: Mask, flavour: Flavour) -> int:
    """Give the words of stages and addresses, which stand between counters and records."""
    counts = flavour == "counters" and mask & (Mask.DIV | Mask.GMEM | Mask.LMEM)
    return STAGES * STAGE_WORDS + HOT_WORDS if counts else 0
