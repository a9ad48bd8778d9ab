# ruff: noqa: E501  # a pattern stands on one line
"""Whether a name in a sentence is plainly that of somebody else: "Thomas Ochs ist Fahrlehrer", "a card for Thomas". Pure."""

from __future__ import annotations

import re

# Who speaks of themselves says "I".
_IS_SPOKEN_OF = re.compile(
    r"(?: (?:ist|is|es|war|was|era|fue|hat|has|tiene|wohnt|lives|vive|arbeitet|works|trabaja|heißt|macht|kommt|fährt|says|said|sagt|dice)"
    r"(?!\w)(?! (?:my|mein|mi|here|hier|da|back|wieder|aquí)(?!\w))|(?:是|在|有|说|說)(?!我))"
)
_BEFORE = re.compile(r"(?<!\w)(?:für|for|para)\s$|[给給]$")
_MOST_BEFORE = 12
_FIRST_PERSON = re.compile(
    r"(?<!\w)(?:ich|i|i'm|mein name|my name|me llamo|mi nombre|soy|name ist|yo)(?!\w)|我(?:叫|是|姓|的名)"
)


def is_name_of_other(plain: str, start: int, end: int) -> bool:
    """Whether the name at `start` to `end` of a sentence, from `aligned`, is of somebody of whom it speaks, or for whom
    something is. Takes linear time."""
    if _BEFORE.search(plain[max(0, start - _MOST_BEFORE) : start]) is not None:
        return True
    return _IS_SPOKEN_OF.match(plain, end) is not None and _FIRST_PERSON.search(plain[:start]) is None
