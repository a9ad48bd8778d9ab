"""All tables of the functions that take a text of somebody's, as one."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

from tests.growth import Reading
from tests.linear import indexer, recall, ways_in

_PARTS = (indexer, recall, ways_in)
# Packages whose functions are in no table yet.
PENDING_PACKAGES: tuple[str, ...] = (
    "reverie_server.consolidate.",
    "reverie_server.llm.",
    "reverie_server.turns.",
    "reverie_server.workspace.",
)


def table() -> Mapping[str, Reading]:
    """Every function by its full name, behind a colon the way it is called."""
    return ChainMap(*(dict(part.TABLE) for part in _PARTS))


def exempt() -> Mapping[str, str]:
    """The functions that need not be measured, each with the reason."""
    return ChainMap(*(dict(part.EXEMPT) for part in _PARTS))
