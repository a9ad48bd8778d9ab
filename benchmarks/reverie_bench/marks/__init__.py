"""Messages in which spans are marked that say what holds, or no longer holds, of people.

All marks were made by hand, for this project. `lives/` has messages of `reverie_bench.tagged`, `life line | text` with
the number of the line from 1; `written/` has others, in seventeen languages, many of which tell of changes or only look
as if they told anything; `talk/` has what some two hundred people say in passing, each behind a line `# who`.
`{label:span}` stands in the text. Labels of the writer are plain (`home`), those of somebody else begin with `o_`, of
what is over with `ex_`, of what is to come with `next_`; `over_…` is the words that say that something is over.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from reverie_bench.tagged import HELD_OF

_FOLDER = Path(__file__).parent
_MARK = re.compile(r"\{([a-z_]+):([^{}]+)\}")
_ROW = re.compile(r"(?:(\S+) \d+ \| )?(.+)")
_WHO = "# "


@dataclass(frozen=True, slots=True)
class Span:
    """A marked span, in characters of the text."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A message with its marks; `of` is the life or the person that it is of, or itself."""

    text: str
    spans: tuple[Span, ...]
    of: str

    @property
    def is_held(self) -> bool:
        """Whether nothing is fitted to it."""
        return zlib.crc32(self.of.encode()) % HELD_OF == 0


def marked_texts() -> list[MarkedText]:
    """All messages, file by file."""
    found: list[MarkedText] = []
    for file in sorted(_FOLDER.glob("*/*.txt")):
        who = None
        for row in file.read_text(encoding="utf-8").splitlines():
            if row.startswith(_WHO):
                who = row
            elif row.strip():
                found.append(_marked(row, who))
    return found


def _marked(row: str, who: str | None) -> MarkedText:
    match = _ROW.fullmatch(row)
    assert match is not None
    spans: list[Span] = []
    text, last = "", 0
    for mark in _MARK.finditer(match[2]):
        text += match[2][last : mark.start()]
        spans.append(Span(len(text), len(text) + len(mark[2]), mark[1]))
        text, last = text + mark[2], mark.end()
    text += match[2][last:]
    return MarkedText(text, tuple(spans), match[1] or who or text)
