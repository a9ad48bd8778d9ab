"""Talks in which somebody asks to forget something, with what is meant marked: read here, tried by `__main__`.

A talk begins with `== NAME what it is`. `{1|…}` is to be forgotten, and `{ask 1|…}` asks for it (`{ask next 1|…}`
where it is said after); `{none|…}` only sounds so. `--- 3 days later` begins another conversation. The rest stays.
Their writers knew none of the rules. Talks of one number may have the same scene in two languages: all of a number are
held back, or none.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from reverie_server.text.statement_spans import statements

LANGUAGES = ("english", "german", "spanish", "chinese")
_LATER = re.compile(r"--- (\d+) (days?|weeks?|months?) later")
_DAYS = {"d": 1, "w": 7, "m": 30}
_MARKED = re.compile(r"\{(?P<tag>[^|{}]+)\|(?P<text>[^{}]*)\}")
_EDGES = " \t.,;:!?…。，；：！？\"'¡¿–—-"
FIRST_TALKS = 300
"""Up to this number half of the talks are held back."""
_LONG_TALKS, _HELD_LONG_TALKS = 500, 900
# A sentence has a mark that covers so much of it, or of which it covers so much.
_SHARE_OF_SENTENCE, _SHARE_OF_MARK = 0.5, 0.4


_FOLDER = Path(__file__).parent


def keeping() -> list[Talk]:
    """Talks in which somebody asks to remember something, written in the same way: `{1|…}` is to be kept there, and
    `{ask 1 self|…}` says itself what is."""
    return talks(_FOLDER.parent / "keeping")


@dataclass(frozen=True, slots=True)
class TalkMessage:
    """A message as it is sent, on a day of the talk."""

    role: str
    text: str
    day: int


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the user, in which message of the talk, and its marks."""

    text: str
    message: int
    marks: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether it asks for something."""
        return any(mark.startswith("ask") for mark in self.marks)

    @property
    def means(self) -> frozenset[str]:
        """The numbers of what it asks for."""
        words = {each for mark in self.marks if mark.startswith("ask") for each in mark.split()[1:]}
        return frozenset(words - {"next", "self"})


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk: `meant` is what is to be gone at its end, `others` what a user says that is to stay."""

    name: str
    language: str
    about: str
    messages: tuple[TalkMessage, ...]
    said: tuple[Said, ...]
    meant: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def number(self) -> int:
        """That of its name."""
        return int(self.name.split("-")[1])

    @property
    def is_held(self) -> bool:
        """Whether nothing is chosen by it."""
        is_half = zlib.crc32(f"talk {self.number}".encode()) % 2 == 0
        return self.number >= _HELD_LONG_TALKS or (self.number < FIRST_TALKS and is_half)

    @property
    def is_long(self) -> bool:
        """Whether it goes on for many days."""
        return self.number >= _LONG_TALKS


def talks(folder: Path = _FOLDER) -> list[Talk]:
    """All talks, language by language. ValueError for a line that is none."""
    return [
        _talk(part.strip().splitlines(), language)
        for language in LANGUAGES
        for file in sorted(folder.glob(f"{language}*.txt"))
        for part in ("\n" + file.read_text(encoding="utf-8")).split("\n== ")[1:]
    ]


def _talk(lines: list[str], language: str) -> Talk:
    name, _, about = lines[0].partition(" ")
    day = 0
    messages: list[TalkMessage] = []
    said: list[Said] = []
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
            sentences = _said(text.strip(), len(messages) - 1)
            said += [sentence for sentence, _ in sentences]
            # A clause beside what is meant may go with it.
            others += [sentence.text.strip(_EDGES) for sentence, is_touched in sentences if not is_touched]
    numbers = {number for tag, _ in marked if tag.startswith("ask") for number in tag.split()[1:]}
    meant = tuple(text.strip(_EDGES) for tag, text in marked if tag in numbers or "self" in tag.split())
    others += [text.strip(_EDGES) for tag, text in marked if tag == "none" or (tag.isdigit() and tag not in numbers)]
    return Talk(name, language, about, tuple(messages), tuple(said), meant, tuple(filter(None, others)))


def _said(text: str, message: int) -> list[tuple[Said, bool]]:
    """The sentences of a message, each with whether any mark touches it."""
    plain, spans, last = "", list[tuple[int, int, str]](), 0
    for mark in _MARKED.finditer(text):
        plain += text[last : mark.start()]
        spans.append((len(plain), len(plain) + len(mark["text"]), mark["tag"].strip()))
        plain += mark["text"]
        last = mark.end()
    plain += text[last:]
    found, at = [], 0
    for sentence in statements(plain):
        start = max(plain.find(sentence, at), at)
        end = at = start + len(sentence)
        shared = [(min(stop, end) - max(begin, start), stop - begin, tag) for begin, stop, tag in spans]
        marks = tuple(
            tag
            for both, of_mark, tag in shared
            if both > 0 and (both >= _SHARE_OF_MARK * of_mark or both >= _SHARE_OF_SENTENCE * (end - start))
        )
        found.append((Said(sentence, message, marks), any(both > 0 for both, *_ in shared)))
    return found
