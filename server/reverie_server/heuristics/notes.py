"""Lines of a note, without markdown marks and without lines that the note has already. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.grounding_vocabulary import month_of
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.redact import essence

_SPACE = re.compile(r"\s+")
# The mark of a list or heading at the beginning of a line.
_MARK = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+")


def note_lines(texts: Sequence[str]) -> list[str]:
    """Texts that a model or a heuristic noted, as lines of a note: no bullets, nothing twice, nothing empty."""
    found: dict[str, str] = {}
    for text in texts:
        line = _SPACE.sub(" ", neutralise(strip_injected(text))).strip()
        line = _without_mark(line)
        if kept := essence(line):
            found.setdefault(kept, line)
    return list(found.values())


def _without_mark(line: str) -> str:
    """The line without the mark of a list or a heading at its beginning. The day in `3. April` is no mark."""
    mark = _MARK.match(line)
    if mark is None:
        return line
    rest = line[mark.end() :].strip()
    is_day = mark[0][0].isdigit() and month_of(rest.partition(" ")[0].casefold().strip(".,:;")) is not None
    return line if is_day else rest


def new_lines(lines: Sequence[str], note: str) -> list[str]:
    """The lines that a note does not hold yet, however they are written there."""
    known = {essence(line) for line in note.splitlines()}
    return [line for line in lines if essence(line) not in known]


def bullets(lines: Sequence[str]) -> str:
    """Lines as a list of markdown."""
    return "\n".join(f"- {line}" for line in lines)
