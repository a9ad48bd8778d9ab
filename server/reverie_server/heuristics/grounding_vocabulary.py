"""Pure. What words say the same, need no source, deny, agree, or name a number, a month or a day, in several languages.

From `grounding.toml`, the stemmers, and the names of months and days that babel has.
"""

from __future__ import annotations

import re
import threading
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import Stemmer
from babel.dates import get_day_names, get_month_names

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, stop_words

_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese", "dutch")
_LOCALES = ("en", "de", "es", "fr", "it", "pt", "nl", "pl", "ru", "zh", "ja")
_PREFIX = 5
_LONGEST_WORD = 64
UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")


def forms_of(word: str) -> frozenset[str]:
    """The forms under which a folded word counts as the same: itself, its stems, its beginning where it is long."""
    return _forms(word)


def concepts_of(word: str) -> frozenset[str]:
    """The concepts that a folded word stands for, in any language."""
    return _concepts(word)


def is_neutral(word: str) -> bool:
    """Whether a folded word needs no source."""
    return len(word) < 2 or _is_neutral(word)


def is_negative(word: str) -> bool:
    """Whether a folded word denies something."""
    return vocabulary().negative.has(word)


def neutral_parts() -> re.Pattern[str]:
    """A pattern for the parts of a run without spaces that need no source."""
    return vocabulary().neutral_parts


def agrees(text: str) -> bool:
    """Whether a message begins by agreeing with the message before it."""
    folded = " ".join(unicodedata.normalize("NFKC", text[:200]).casefold().split()).lstrip("¡¿ ")
    return vocabulary().agreement.match(folded) is not None


@dataclass(frozen=True, slots=True)
class WordList:
    """Words, and beginnings of words."""

    whole: frozenset[str]
    beginnings: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str]) -> WordList:
        """A list of words, of which those that end with `*` are beginnings."""
        given = [word.casefold() for word in words]
        whole = frozenset(word for word in given if not word.endswith("*"))
        return cls(whole, frozenset(word[:-1] for word in given if word.endswith("*")))

    def has(self, word: str) -> bool:
        """Whether a folded word is one of them."""
        return word in self.whole or any(word[:end] in self.beginnings for end in range(1, min(len(word), 16) + 1))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tables of `grounding.toml`; `…_parts` are for scripts without spaces."""

    concepts: Mapping[str, WordList]
    parts: Mapping[str, str]
    neutral: WordList
    neutral_parts: re.Pattern[str]
    negative: WordList
    negative_parts: tuple[str, ...]
    relative: WordList
    relative_parts: tuple[str, ...]
    agreement: re.Pattern[str]
    numbers: Mapping[str, WordList]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]


@cache
def vocabulary() -> Vocabulary:
    """The tables, read once."""
    tables = tomllib.loads(Path(__file__).with_name("grounding.toml").read_text(encoding="utf-8"))
    neutral = tables["neutral"]

    def parts(words: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted((w.strip("*") for w in words if UNSPACED.match(w)), key=len, reverse=True))

    agreement = "|".join(re.escape(word) for word in sorted(neutral["affirmative"], key=len, reverse=True))
    months: dict[str, int] = {}
    weekdays: dict[str, int] = {}
    for code in _LOCALES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                months |= {str(n).casefold().strip("."): at for at, n in get_month_names(width, context, code).items()}
                weekdays |= {str(n).casefold().strip("."): at for at, n in get_day_names(width, context, code).items()}
    return Vocabulary(
        concepts={name: WordList.of(words) for name, words in tables["concepts"].items()},
        parts={part: name for name, words in tables["concepts"].items() for part in parts(words)},
        neutral=WordList.of(neutral["words"]),
        neutral_parts=re.compile("|".join(map(re.escape, parts(neutral["words"])))),
        negative=WordList.of(neutral["negative"]),
        negative_parts=parts(neutral["negative"]),
        relative=WordList.of(neutral["relative"]),
        relative_parts=parts(neutral["relative"]),
        agreement=re.compile(rf"(?:{agreement})(?!\w)|(?:对|是的|没错|好的|可以|就这样)"),
        numbers={number: WordList.of(words) for number, words in tables["numbers"].items()},
        months={name: at for name, at in months.items() if not name.isdigit() and not UNSPACED.match(name)},
        weekdays={name: at for name, at in weekdays.items() if len(name) > 1},
    )


@cache
def _stops() -> frozenset[str]:
    return frozenset().union(*(stop_words(language) for language in _LANGUAGES))


@lru_cache(maxsize=65536)
def _is_neutral(word: str) -> bool:
    return word in _stops() or vocabulary().neutral.has(word)


class _Stemmers(threading.local):
    """A stemmer of each language for each thread: they may not be shared."""

    def __init__(self) -> None:
        self.each = [Stemmer.Stemmer(language, 0) for language in _LANGUAGES]


_STEMMERS = _Stemmers()


@lru_cache(maxsize=65536)
def _forms(word: str) -> frozenset[str]:
    # A token that is too long for a word has no stem.
    stems = () if len(word) > _LONGEST_WORD else (stemmer.stemWord(word) for stemmer in _STEMMERS.each)
    found = {word, *stems}
    plain = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    found.add(plain)
    if len(plain) >= _PREFIX and plain.isalpha():
        found.add(f"{plain[:_PREFIX]}*")
    return frozenset(found)


@lru_cache(maxsize=65536)
def _concepts(word: str) -> frozenset[str]:
    return frozenset(name for name, words in vocabulary().concepts.items() if words.has(word))


def month_of(word: str) -> int | None:
    """The month that a folded word names."""
    return vocabulary().months.get(word)


def is_weekday(word: str) -> bool:
    """Whether a folded word names a day of the week."""
    weekdays = vocabulary().weekdays
    return word in weekdays or word.removesuffix("s") in weekdays


def number_words(word: str) -> frozenset[str]:
    """The numbers that a folded word may stand for, written out."""
    return _number_words(word)


@lru_cache(maxsize=65536)
def _number_words(word: str) -> frozenset[str]:
    return frozenset(number for number, words in vocabulary().numbers.items() if words.has(word))
