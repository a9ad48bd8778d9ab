"""Which files the server writes from what was said. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from reverie_indexer.text.chunk import note_date

_LONG_TERM = frozenset(("MEMORY.md", "memory.md", "PROFILE.md"))
_FOLDER = "_system/"
# What left MEMORY.md (long_term/archive.py), and the diary of earlier months (nights/diary.py).
_DREAMS = re.compile(r"DREAMS\.md|memory/dreams/[0-9]{4}-[0-9]{2}(?:-part[0-9]{2,})?\.md")
_ARCHIVE = re.compile(r"memory/archive/[0-9]{4}-[0-9]{2}(?:-part[0-9]{2,})?\.md")

# A search asks about the path of each of its candidates, a turn several times.
_MAX_PATHS = 4096


@lru_cache(_MAX_PATHS)
def is_derived(path: str) -> bool:
    """Whether the server writes to this file: a daily note, the long-term memory, an archive, what is in `_system/`."""
    return is_long_term(path) or is_diary(path) or path.startswith(_FOLDER) or note_date(path) is not None


@lru_cache(_MAX_PATHS)
def is_long_term(path: str) -> bool:
    """Whether this file is long-term memory, or an archive of it."""
    return path in _LONG_TERM or _ARCHIVE.fullmatch(path) is not None


@lru_cache(_MAX_PATHS)
def is_diary(path: str) -> bool:
    """Whether this file is the diary of the nights, which repeats what others say, or an archive of it."""
    return _DREAMS.fullmatch(path) is not None


@lru_cache(_MAX_PATHS)
def only_repeats(path: str) -> bool:
    """Whether this file repeats what others say or said, and is no source of anything: the diary of the nights, an
    archive of it, or one of long-term memory."""
    return is_diary(path) or _ARCHIVE.fullmatch(path) is not None
