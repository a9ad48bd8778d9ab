"""Messages that somebody sends weeks after they told of their life, and the lines of it that are needed for them.

All were written by hand, for this project, by people who knew none of its rules. Most lives are those of
`reverie_bench.tagged`; `messages/` has for each of them `needed [< ended] | message`, with the numbers of lines from 1:
what is needed as things stand, and what would have been before; `-` where nothing is. The end of a file's name says
what its messages are. `lives/` has lives in more languages, with their lines (`L | line`) and their messages (`D`, `I`,
`N` or `U` before the needed); `talks/` has, in the same form, what two people wrote to each other and what others ask
about them, and notes with what is asked of them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reverie_bench.tagged import HELD_OF, LANGUAGES, tagged_lives
from reverie_server.search.labelled_messages import IMPERSONAL, messages_in

_MESSAGES, _LIVES, _TALKS, _IDLE = (Path(__file__).with_name(name) for name in ("messages", "lives", "talks", "idle"))
_LINE = re.compile(r"(?:(?P<kind>[DINU]) )?(?P<needed>-|[\d ]+?)(?: < (?P<ended>[\d ]+?))? \| (?P<text>.+)")
_OF_LIFE = "L | "
_LABELLED = (*LANGUAGES, "japanese", "arabic")
IDLE = tuple(sorted(file.stem for file in _IDLE.glob("*.txt")))
"""The languages of the messages that need nothing of anybody's life."""
Kind = Literal["direct", "indirect", "near", "unrelated"]
"""`direct` messages have words of what they need; of `indirect` ones most have none. `near` ones need nothing, though
they have words, names or a topic of the life; `unrelated` ones have nothing of it."""
KINDS: tuple[Kind, ...] = ("direct", "indirect", "near", "unrelated")
_BY_LETTER: dict[str, Kind] = {kind[0].upper(): kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Life:
    """What somebody told of themselves (`is_own`), or what else was written, in order of time."""

    name: str
    language: str
    lines: tuple[str, ...]
    is_own: bool = True

    @property
    def is_held(self) -> bool:
        """Whether nothing is fitted to it."""
        return zlib.crc32(self.name.encode()) % HELD_OF == 0


@dataclass(frozen=True, slots=True)
class Message:
    """A message about a life, and the places, from 0, of the lines that it needs or would have needed before."""

    text: str
    life: Life
    needed: tuple[int, ...]
    ended: tuple[int, ...]
    kind: Kind

    @property
    def relevant(self) -> tuple[int, ...]:
        """The lines that are about what the message needs, whether they hold or not."""
        return (*self.needed, *self.ended)


def messages() -> list[Message]:
    """All messages, file by file. ValueError for a line that is none, or for a life or a place that there is not."""
    tagged = {
        life.name: Life(life.name, life.language, tuple(line.text for line in life.lines)) for life in tagged_lives()
    }
    found: list[Message] = []
    seen = set(tagged)
    for file in sorted(_MESSAGES.glob("*.txt")):
        kind = next(kind for kind in KINDS if file.stem.rpartition("_")[2] == kind)
        for name, rows in _parts(file):
            if name not in tagged:
                raise ValueError(f"{file.name}: no life {name}")
            found += [_message(row, tagged[name], kind) for row in rows]
    for file in (*sorted(_LIVES.glob("*.txt")), *sorted(_TALKS.glob("*.txt"))):
        for name, rows in _parts(file):
            lines = tuple(row.removeprefix(_OF_LIFE) for row in rows if row.startswith(_OF_LIFE))
            if name in seen:
                raise ValueError(f"{file.name}: another life {name}")
            seen.add(name)
            life = Life(name, file.stem.partition("_")[0], lines, is_own=file.parent == _LIVES)
            found += [_message(row, life) for row in rows if not row.startswith(_OF_LIFE)]
    return found


def needs_nothing(language: str, *, is_learnt: bool) -> list[str]:
    """Messages in a language that need nothing of any life: those that the adapters are learnt from, or the others."""
    texts = [text for label in IMPERSONAL for text in messages_in(label, language)] if language in _LABELLED else []
    texts += (_IDLE / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    return [text for text in texts if (zlib.crc32(text.encode()) % 2 == 0) == is_learnt]


def _parts(file: Path) -> Iterator[tuple[str, list[str]]]:
    for part in file.read_text(encoding="utf-8").split("== ")[1:]:
        name, *rows = part.strip().splitlines()
        yield name, rows


def _message(row: str, life: Life, kind: Kind | None = None) -> Message:
    match = _LINE.fullmatch(row)
    kind = kind or _BY_LETTER.get(match["kind"] or "" if match else "")
    if match is None or kind is None:
        raise ValueError(f"no message of {life.name}: {row}")
    needed, ended = (_places(match[part]) for part in ("needed", "ended"))
    if bool(needed) != (kind in ("direct", "indirect")):
        raise ValueError(f"no {kind} message of {life.name}: {row}")
    if not all(0 <= place < len(life.lines) for place in (*needed, *ended)) or set(needed) & set(ended):
        raise ValueError(f"no lines of {life.name}: {row}")
    return Message(match["text"], life, needed, ended, kind)


def _places(numbers: str | None) -> tuple[int, ...]:
    return tuple(int(number) - 1 for number in (numbers or "").strip("-").split())
