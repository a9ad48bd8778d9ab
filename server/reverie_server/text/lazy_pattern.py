"""A regular expression that is compiled when it is first used. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator


class LazyPattern:
    """One of hundreds of patterns, of which a conversation needs few: compiling each takes milliseconds."""

    __slots__ = ("_compiled", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._compiled: re.Pattern[str] | None = None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in a text."""
        if self._compiled is None:
            self._compiled = re.compile(self._source)
        return self._compiled.finditer(text)
