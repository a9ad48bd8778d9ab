"""Messages in which spans are marked that say what holds, no longer holds, or will hold of people.

All marks were made by hand, for this project. `lives/` has messages of `reverie_bench.tagged`, `life line | text` with
the number of the line from 1; `written/` has others, in seventeen languages, many of which tell of changes or only look
as if they told anything; `talk/` has what some two hundred people say in passing, each behind a line `# who`.
`{label:span}` stands in the text. Labels of the writer are plain (`home`), those of somebody else begin with `o_`, of
what is over with `ex_`, of what is to come with `next_`; `over_…` is the words that say that something is over.

Behind a label stands whose the span is where that is not plain: `{o_age@3:nine}` of the third span of the message,
`{rel@x:missus}` of somebody whom no span names, `{person=2:Gemma}` is who the second span says.

`relations.txt` has the words of `rel` spans in all these languages, in small letters, each with who that is in English;
`none` is anybody else, and of words that do not tell.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from reverie_bench.tagged import HELD_OF
from reverie_indexer.embed.marks import NAMES, NOBODY, SPEAKER, State

_FOLDER = Path(__file__).parent
_MARK = re.compile(r"\{([a-z_]+)(?:([@=])(\d+|x))?:([^{}]+)\}")
_ROW = re.compile(r"(?:(\S+) \d+ \| )?(.+)")
_WHO = "# "


@dataclass(frozen=True, slots=True)
class Span:
    """A marked span, in characters of the text, the kind of what it says, when it holds, and whose it is: the numbers
    of the spans from 0 that are the one whose it is, or `SPEAKER` or `NOBODY`. Of a name it is who that is."""

    start: int
    end: int
    label: str
    state: State = "holds"
    of: frozenset[int] = frozenset({SPEAKER})


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A message with its marks; `life` is the life or the person that it is of, or itself."""

    text: str
    spans: tuple[Span, ...]
    life: str

    @property
    def is_held(self) -> bool:
        """Whether nothing is fitted to it."""
        return zlib.crc32(self.life.encode()) % HELD_OF == 0


@dataclass(frozen=True, slots=True)
class _Link:
    """What stands behind a label: whether the span is the same being as `to`, or of it."""

    is_same: bool
    to: int


def marked_texts() -> list[MarkedText]:
    """All messages, file by file."""
    found: list[MarkedText] = []
    for file in sorted(_FOLDER.glob("*/*.txt")):
        who = None
        for row in file.read_text(encoding="utf-8").splitlines():
            if row.startswith(_WHO):
                who = row
            elif row.strip():
                found.append(marked_text(row, who))
    return found


@cache
def relations() -> Mapping[str, str]:
    """Who somebody is, in English, by the words for it in small letters."""
    rows = (_FOLDER / "relations.txt").read_text(encoding="utf-8").splitlines()
    return dict(row.rsplit(" = ", 1) for row in rows)


def marked_text(row: str, who: str | None = None) -> MarkedText:
    """A row of a file; of the person `who`."""
    match = _ROW.fullmatch(row)
    assert match is not None
    spans: list[Span] = []
    links: list[_Link | None] = []
    text, last = "", 0
    for mark in _MARK.finditer(match[2]):
        text += match[2][last : mark.start()]
        kind, state, is_of_other = kind_of(mark[1])
        is_unknown = kind in NAMES or is_of_other
        whose = frozenset({NOBODY if is_unknown else SPEAKER})
        spans.append(Span(len(text), len(text) + len(mark[4]), kind, state, whose))
        links.append(None if mark[2] is None else _Link(mark[2] == "=", NOBODY if mark[3] == "x" else int(mark[3]) - 1))
        text, last = text + mark[4], mark.end()
    text += match[2][last:]
    return MarkedText(text, tuple(_with_whose(spans, links)), match[1] or who or text)


def kind_of(label: str) -> tuple[str, State, bool]:
    """A label as its kind, when what it says holds, and whether that is somebody else's."""
    state: State = "over" if label.startswith(("ex_", "over_")) else "next" if label.startswith("next_") else "holds"
    kind = label.removeprefix("ex_").removeprefix("next_")
    return kind.removeprefix("o_"), state, kind.startswith("o_")


def _with_whose(spans: list[Span], links: list[_Link | None]) -> list[Span]:
    names: dict[int, list[int]] = {}
    for at, link in enumerate(links):
        if link is not None and link.is_same:
            names.setdefault(link.to, []).append(at)
    found = []
    for span, link in zip(spans, links, strict=True):
        if link is None:
            found.append(span)
            continue
        of = {link.to}
        if not link.is_same and link.to >= 0:
            # One name and who that is are one being; each of several names of a group is another.
            of |= {name for name in names.get(link.to, []) if len(names[link.to]) == 1}
            same = links[link.to]
            if same is not None and same.is_same and len(names[same.to]) == 1:
                of.add(same.to)
        found.append(replace(span, of=frozenset(of)))
    return found
