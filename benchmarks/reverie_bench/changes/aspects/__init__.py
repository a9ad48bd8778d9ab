"""What people say of one aspect of their lives each: a home, a boss, what they drink. Pure but for reading the files.

Written for this project by somebody who knew none of its rules and no life of `bench truth`; "none" is what is of none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reverie_bench.changes.pairs import LANGUAGES

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class AspectSentence:
    """A sentence and the aspect that it is of."""

    text: str
    aspect: str


def aspect_sentences() -> list[AspectSentence]:
    """All sentences, language by language."""
    found: list[AspectSentence] = []
    for language in LANGUAGES:
        for part in (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").split("\n\n"):
            head, *lines = part.strip().splitlines()
            found += [AspectSentence(line, head.strip("[]")) for line in lines]
    return found
