"""Labelled pairs of sentences, written for this project: which of two says otherwise what the other said. Pure.

They are part of no test of it: no sentence of a life of `bench truth` is among them. But for reading the files.
"""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_server.search.labelled_messages import Label, messages_in

LANGUAGES = ("english", "german", "spanish", "chinese")
_FOLDER = Path(__file__).with_name("pairs")
# What else somebody says: it is no change of what the pairs are about.
_OTHERS: tuple[Label, ...] = ("personal", "others", "small_talk")
# Of what else was said, this share of a tenth is remembered beside a pair, and the nearest are compared.
_REMEMBERED, _NEAREST = 6, 6
_LEAST_SIMILARITY = 0.1


@dataclass(frozen=True, slots=True)
class Group:
    """Sentences about one thing: what was said of it, what says later that it is otherwise, and what does not."""

    language: str
    about: str
    said: tuple[str, ...]
    replaced: tuple[str, ...]
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences; `is_change`: the new one says otherwise what the old one said. `is_of_one`: of one group."""

    old: str
    new: str
    language: str
    about: str
    is_change: bool
    is_of_one: bool


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


def pairs_of(groups: Sequence[Group], vectors: Mapping[str, NDArray[np.float32]]) -> list[Pair]:
    """The pairs of each group, and each sentence with what is nearest to it of all that others said.

    `vectors` has those of all sentences; in a memory as large as that of a life, most of what is near is no change.
    """
    found: list[Pair] = []
    for language in LANGUAGES:
        own = [group for group in groups if group.language == language]
        others = other_statements(language)
        memory = [(text, group.about) for group in own for text in group.said] + [(text, "") for text in others]
        news = [(text, group.about, True) for group in own for text in group.replaced]
        news += [(text, group.about, False) for group in own for text in (*group.holds, *group.said)]
        news += [(text, "-", False) for text in others]
        matrix = np.stack([vectors[text] for text, _ in memory])
        for new, about, is_change in news:
            similarities = matrix @ vectors[new]
            left = _NEAREST
            for at in np.argsort(-similarities):
                old, of = memory[at]
                if old == new or (of != about and zlib.crc32(f"{old}{new}".encode()) % 10 >= _REMEMBERED):
                    continue
                if of == about:
                    found.append(Pair(old, new, language, about, is_change, is_of_one=True))
                elif left > 0 and similarities[at] >= _LEAST_SIMILARITY:
                    found.append(Pair(old, new, language, about, is_change=False, is_of_one=False))
                left -= 1
    return found
