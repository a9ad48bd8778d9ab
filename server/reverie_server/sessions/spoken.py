"""The text of a line of a summary or a note, without its marks. Pure."""

from __future__ import annotations

import re
from functools import cache

_SPEAKER = re.compile(r"(?:User|Assistant):\s+")
# List marks, quotations and headings, boxes, before what a line says.
_MARKS = re.compile(r"(?:\s*+(?:[-*+•·‣–—>]++|\(?\d{1,3}[.)、]|#{1,6}|\[[ xX]\])\s++)*+")
_SPACE = re.compile(r"\s+")
_EMPHASIS = re.compile(r"[*_`]")
# Longer runs of back quotes than this one close nothing.
_EMPHASIS_MARKS = ("**", "__", "*", "_", *("`" * length for length in range(8, 0, -1)))


def spoken(line: str) -> str:
    """The text of a line of a summary: without list marks, without who says it, without emphasis, on one line."""
    marks = _MARKS.match(line)
    line = line[marks.end() if marks else 0 :]
    line = _SPEAKER.sub("", line.strip(), count=1) if _SPEAKER.match(line.strip()) else line
    return _SPACE.sub(" ", _without_emphasis(line)).strip()


def _without_emphasis(line: str) -> str:
    """A line without the marks of emphasis and of code around words."""
    pieces: list[str] = []
    done = 0
    # A mark that nothing closes behind one place has nothing that closes it behind a later one.
    open_ended: set[str] = set()
    start = _EMPHASIS.search(line)
    while start is not None:
        end = start.start() + 1
        for mark in _EMPHASIS_MARKS:
            inside = start.start() + len(mark)
            if mark in open_ended or not line.startswith(mark, start.start()) or line[inside : inside + 1].isspace():
                continue
            closing = _closing(mark).search(line, inside + 1)
            if closing is not None:
                pieces += line[done : start.start()], line[inside : closing.start()]
                done = end = closing.end()
                break
            open_ended.add(mark)
        start = _EMPHASIS.search(line, end)
    return "".join([*pieces, line[done:]])


@cache
def _closing(mark: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=\S){re.escape(mark)}")
