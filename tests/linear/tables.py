"""All tables of the functions that take a text of somebody's, as one."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

from tests.growth import Reading
from tests.linear import (
    asking,
    conversations,
    facts,
    files,
    grounding,
    indexer,
    llm,
    nights,
    pages,
    search,
    sessions,
    ways_in,
)

_PARTS = (nights, conversations, asking, facts, grounding, indexer, llm, search, sessions, ways_in, files, pages)


def table() -> Mapping[str, Reading]:
    """Every function by its full name, behind a colon the way it is called."""
    return ChainMap(*(dict(part.TABLE) for part in _PARTS))


def exempt() -> Mapping[str, str]:
    """The functions that need not be measured, each with the reason."""
    return ChainMap(*(dict(part.EXEMPT) for part in _PARTS))
