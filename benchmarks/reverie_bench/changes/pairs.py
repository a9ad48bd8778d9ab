"""Sentences written for this project, each with what was said before and which of that it ends.

They are tagged lives, and labelled groups of sentences about one thing. No sentence of a life of `bench truth` is among
them. Pure but for reading the files.
"""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reverie_bench.tagged import tagged_lives
from reverie_server.search.labelled_messages import Label, messages_in

FOLDS, LEFT_OUT = 6, 0
"""What is about one life or subject is of one fold; nothing of the one that is left out is in the adapter."""
LANGUAGES = ("english", "german", "spanish", "chinese")
_FOLDER = Path(__file__).with_name("pairs")
# What else somebody says: it is no change of what the pairs are about.
_OTHERS: tuple[Label, ...] = ("personal", "others", "small_talk")
# Of what else was said, so many of ten are remembered beside a pair.
_REMEMBERED = 2


@dataclass(frozen=True, slots=True)
class Group:
    """Sentences about one thing: what was said of it, what says later that it is otherwise, and what does not."""

    language: str
    about: str
    said: tuple[str, ...]
    replaced: tuple[str, ...]
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeCase:
    """A new sentence with what the same person said before it, and which of that it ends, by place.

    `is_over` are the places of what was ended before. `of` is the life or the subject, of which one fold has all.
    """

    new: str
    language: str
    of: str
    earlier: tuple[str, ...]
    ends: frozenset[int]
    is_over: frozenset[int] = frozenset()
    is_of_life: bool = False


def fold_of(of: str) -> int:
    """The fold of a life or a subject."""
    return zlib.crc32(of.encode()) % FOLDS


def labelled_groups() -> list[Group]:
    """All groups, language by language."""
    return [
        Group(language, entry["about"], tuple(entry["said"]), tuple(entry["replaced"]), tuple(entry["holds"]))
        for language in LANGUAGES
        for entry in tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))["pair"]
    ]


def other_statements(language: str) -> list[str]:
    """What people say that is in no group."""
    return [
        text for label in _OTHERS for text in messages_in(label, language) if not text.rstrip().endswith(("?", "？"))
    ]


def cases_of_lives(*, held: bool) -> list[ChangeCase]:
    """The lines of tagged lives, those that are held back or the others."""
    found: list[ChangeCase] = []
    for life in tagged_lives():
        if life.is_held != held:
            continue
        over: frozenset[int] = frozenset()
        for place, line in enumerate(life.lines):
            earlier = tuple(each.text for each in life.lines[:place])
            found.append(
                ChangeCase(line.text, life.language, life.name, earlier, frozenset(line.ends), over, is_of_life=True)
            )
            over |= set(line.ends)
    return found


def cases_of_groups(groups: Sequence[Group]) -> list[ChangeCase]:
    """The sentences of each group, and what others said, in a memory as large as that of a life."""
    found: list[ChangeCase] = []
    for language in LANGUAGES:
        own = [group for group in groups if group.language == language]
        others = other_statements(language)
        memory = [(text, group.about) for group in own for text in group.said] + [(text, "") for text in others]
        news = [(text, group.about, is_change) for group in own for text, is_change in _news(group)]
        for new, about, is_change in [*news, *((text, "-", False) for text in others)]:
            earlier = [
                (text, of)
                for text, of in memory
                if text != new and (of == about or zlib.crc32(f"{text}{new}".encode()) % 10 < _REMEMBERED)
            ]
            ends = frozenset(at for at, (_, of) in enumerate(earlier) if is_change and of == about)
            found.append(ChangeCase(new, language, about, tuple(text for text, _ in earlier), ends))
    return found


def _news(group: Group) -> Iterator[tuple[str, bool]]:
    yield from ((text, True) for text in group.replaced)
    yield from ((text, False) for text in group.holds)
