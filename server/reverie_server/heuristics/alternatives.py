"""Patterns of hundreds of words that cost what those of one letter cost. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

# A letter that a word begins with for certain: nothing makes it optional, and no other word stands beside it.
_LETTER = re.compile(r"\w(?![?*{])[^|]*")
_GROUP = re.compile(r"\([^()]*\)")


def by_first_letter(words: Iterable[tuple[str, str]]) -> str:
    """The source of a pattern that matches what the first fitting one of some patterns matches, in their order.

    Each comes after the word that it is made of, a pattern itself. Python tries one alternative after another at every
    place of a text; here those of a letter are tried only where it stands.
    """
    parts: list[str] = []
    for has_letter, run in groupby(words, key=lambda each: _letter(each[0]) != ""):
        if not has_letter:
            parts += [pattern for _, pattern in run]
            continue
        of_letter: dict[str, list[str]] = {}
        for word, pattern in run:
            of_letter.setdefault(_letter(word), []).append(pattern)
        parts += [f"(?={letter})(?:{'|'.join(patterns)})" for letter, patterns in of_letter.items()]
    return "|".join(parts)


def any_by_first_letter(words: Iterable[str]) -> str:
    """The source of a pattern that matches where one of some patterns does; which of them it is is not told.

    It is the faster form of `by_first_letter`: what stands at a place is compared with each letter once.
    """
    of_letter: dict[str, list[str]] = {}
    others: list[str] = []
    for word in words:
        letter, rest = _letter(word), word[1:]
        if letter and not rest.startswith("+"):
            of_letter.setdefault(letter, []).append(rest)
        else:
            others.append(word)
    return "|".join([*(f"{letter}(?:{'|'.join(rests)})" for letter, rests in of_letter.items()), *others])


def _letter(word: str) -> str:
    """The letter that everything begins with that a word matches; "" where it is not plain."""
    if word.startswith("("):
        return ""
    plain = word
    while (shorter := _GROUP.sub("_", plain)) != plain:
        plain = shorter
    return word[0] if _LETTER.fullmatch(plain) else ""
