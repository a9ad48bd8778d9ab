"""Canaries in texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

CANARY = re.compile(r"cnry[a-z]*")
CANARY_CHARS = 18
# Of each canary the texts that it was written in; where one was edited, the canary itself.
Forms: TypeAlias = dict[str, set[str]]


def canaries_in(text: str) -> set[str]:
    """The canaries of a text, whatever their case; also what is left of one that was cut."""
    return set(CANARY.findall(text.lower()))


def full(canary: str, index: Iterable[str]) -> Iterator[str]:
    """The canaries that a word stands for: itself, or, where it was cut at an end of a snippet, those it begins."""
    if len(canary) >= CANARY_CHARS:
        yield from [canary] if canary in index else []
    else:
        yield from (known for known in index if known.startswith(canary))


def strange(words: Iterable[str], known: Collection[str]) -> set[str]:
    """The words that stand for none of the known canaries."""
    return {word for word in words if not any(True for _ in full(word, known))}


def add_forms(forms: Forms, texts: Iterable[str]) -> None:
    """Texts are written, each with its canaries."""
    for text in texts:
        for canary in canaries_in(text):
            forms.setdefault(canary, set()).add(text)


def forget_in(forms: Forms, text: str, *, certain: bool) -> set[str]:
    """A text is taken out of others; the canaries of which nothing is left, and which are gone from the forms."""
    gone = set()
    for canary, written in list(forms.items()):
        if certain and canary in text.lower() and all(text in form for form in written):
            gone.add(canary)
            del forms[canary]
        elif canary in text.lower() or any(text in form for form in written):
            written.add(canary)
    return gone
