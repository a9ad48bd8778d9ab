"""What invented people said over months, line by line: what each line is worth, and which earlier ones it ends.

The lines were written for this project by somebody who knew none of its rules. Models are fitted to most of the lives
and tried on the others; no sentence of a life of `bench truth` is among them.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LANGUAGES = ("english", "german", "spanish", "chinese")
Tag = Literal["person", "lasting", "passing"]
_TAGS: dict[str, Tag] = {"P": "person", "L": "lasting", "N": "passing"}
_FOLDER = Path(__file__).parent
_LINE = re.compile(r"(\d+) ([PLN])((?: >\d+)*) \| (.+)")
HELD_OF = 6
"""One life of so many is held back."""


@dataclass(frozen=True, slots=True)
class TaggedLine:
    """A message: who the person is, of use in a month, or neither; and the places of what it ends, from 0."""

    text: str
    tag: Tag
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaggedLife:
    """The lines of one person, in order of time."""

    name: str
    language: str
    lines: tuple[TaggedLine, ...]

    @property
    def is_held(self) -> bool:
        """Whether nothing is fitted to it."""
        return zlib.crc32(self.name.encode()) % HELD_OF == 0


def tagged_lives() -> list[TaggedLife]:
    """All lives, language by language. ValueError for a line that is none, or that ends one that is not before it."""
    found: list[TaggedLife] = []
    for language in LANGUAGES:
        for file in sorted(_FOLDER.glob(f"{language}*.txt")):
            for part in file.read_text(encoding="utf-8").split("\n== ")[1:]:
                head, *rows = part.strip().splitlines()
                found.append(TaggedLife(head.split()[0], language, tuple(map(_line, rows, range(len(rows))))))
    return found


def _line(row: str, place: int) -> TaggedLine:
    match = _LINE.fullmatch(row)
    if match is None or int(match[1]) != place + 1:
        raise ValueError(f"line {place + 1} of a tagged life is no such line: {row}")
    ends = tuple(int(of) - 1 for of in match[3].replace(">", "").split())
    if any(of >= place for of in ends):
        raise ValueError(f"a line of a tagged life ends one that is not before it: {row}")
    return TaggedLine(match[4], _TAGS[match[2]], ends)
