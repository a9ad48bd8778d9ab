"""Talks in which somebody asks to forget something, with what is meant marked: read here, tried by `__main__`.

A talk begins with `== NAME what it is`. `{1|…}` is to be forgotten, and `{ask 1|…}` asks for it (`{ask next 1|…}`
where it is said after); `{none|…}` only sounds so. `--- 3 days later` begins another conversation. The rest stays.
Their writer knew none of the rules. Talks of one number may have the same scene in two languages: all of a number are
held back, or none.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reverie_server.text.statement_spans import statements

LANGUAGES = ("english", "german", "spanish", "chinese")
_LATER = re.compile(r"--- (\d+) (days?|weeks?|months?) later")
_DAYS = {"d": 1, "w": 7, "m": 30}
_MARKED = re.compile(r"\{(?P<tag>[^|{}]+)\|(?P<text>[^{}]*)\}")
_EDGES = " \t.,;:!?…。，；：！？\"'¡¿–—-"


@dataclass(frozen=True, slots=True)
class TalkMessage:
    """A message as it is sent, on a day of the talk."""

    role: str
    text: str
    day: int


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk: `meant` is what is to be gone at its end, `others` what a user says that is to stay."""

    name: str
    language: str
    about: str
    messages: tuple[TalkMessage, ...]
    meant: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def is_held(self) -> bool:
        """Whether no rule is chosen by it."""
        return zlib.crc32(f"talk {self.name.split('-')[1]}".encode()) % 2 == 0


def talks() -> list[Talk]:
    """All talks, language by language. ValueError for a line that is none."""
    folder = Path(__file__).parent
    return [
        _talk(part.strip().splitlines(), language)
        for language in LANGUAGES
        for part in ("\n" + (folder / f"{language}.txt").read_text(encoding="utf-8")).split("\n== ")[1:]
    ]


def _talk(lines: list[str], language: str) -> Talk:
    name, _, about = lines[0].partition(" ")
    day = 0
    messages: list[TalkMessage] = []
    marked: list[tuple[str, str]] = []
    others: list[str] = []
    for line in filter(str.strip, lines[1:]):
        if (later := _LATER.fullmatch(line.strip())) is not None:
            day += int(later[1]) * _DAYS[later[2][0]]
            continue
        role, colon, text = line.partition(":")
        if not colon or role not in ("user", "assistant"):
            raise ValueError(f"{name} has a line that is none: {line}")
        messages.append(TalkMessage(role, _MARKED.sub(lambda mark: mark["text"], text).strip(), day))
        if role == "user":
            marked += [(mark["tag"].strip(), mark["text"]) for mark in _MARKED.finditer(text)]
            others += _unmarked(text)
    numbers = {number for tag, _ in marked if tag.startswith("ask") for number in tag.split()[1:]}
    meant = tuple(text.strip(_EDGES) for tag, text in marked if tag in numbers)
    others += [text.strip(_EDGES) for tag, text in marked if tag == "none" or (tag.isdigit() and tag not in numbers)]
    return Talk(name, language, about, tuple(messages), meant, tuple(others))


def _unmarked(text: str) -> Iterator[str]:
    """The sentences of a message that have no mark at all: a clause beside what is meant may go with it."""
    for sentence in statements(_MARKED.sub(lambda mark: "\0" + mark["text"].replace(" ", "\0"), text)):
        if "\0" not in sentence and (plain := sentence.strip(_EDGES)):
            yield plain
