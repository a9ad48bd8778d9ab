"""What a correction is: what it puts in place of what, and where it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from reverie_server.heuristics.corrections.correction_cues import Strength
from reverie_server.heuristics.stated_fact import StatedFact

Where = Literal["within", "next", "acknowledged", "answer", "answer_to_question"]
"""Where a correction stands: in the sentence itself, in the next one, or in the next behind what the assistant said:
a few words that only take note, another answer, or a question."""
FARTHER: Sequence[Where] = ("next", "acknowledged", "answer", "answer_to_question")
# "Okay, I'll remember your meeting on Tuesday." A number may be of something else.
_MAX_ACKNOWLEDGED = 80
_TELLS = re.compile(r"[\d\n]")
ReadSentence = Callable[[str], Sequence[StatedFact]]
"""The facts of a sentence, read as one that follows what was said before."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement as it holds: `new` stands in it where `old` was said; `cue` are the words that took it back."""

    statement: str
    old: str
    new: str
    cue: str


@dataclass(frozen=True, slots=True)
class Fragment:
    """What a correction puts in place of something, without the cue before it and what is said behind it.

    `is_paused`: a comma or the like stands behind the cue. `denied` is the value that it says is wrong, if it says so.
    """

    text: str
    cue: str
    strength: Strength
    where: Where
    is_paused: bool = True
    denied: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A value or a name with the words before it; `span` is where all of it is in its text."""

    kind: str
    prep: str
    article: str
    core: str
    unit: str
    span: tuple[int, int]


def behind(answer: str) -> Where:
    """Where a sentence stands that follows an answer of the assistant."""
    if any(mark in answer for mark in "?？"):
        return "answer_to_question"
    is_short = len(answer) <= _MAX_ACKNOWLEDGED and _TELLS.search(answer.strip()) is None
    return "acknowledged" if is_short else "answer"
