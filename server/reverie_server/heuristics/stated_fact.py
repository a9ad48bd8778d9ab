"""The facts that sentences state, as they are read and as they are resolved against each other. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Category = Literal["preference", "profile", "project", "decision", "event", "reference", "request", "general"]
Speaker = Literal["user", "assistant", "file"]
# The subject of what users say of themselves.
SELF = "user"
MAX_FIELD_CHARS = 256


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text that may state facts: a message, or a line of a file. `name` is who speaks, where that is known."""

    text: str
    said_at: datetime
    speaker: Speaker = "user"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What a sentence says of an earlier one: that it ends, or that this one takes its place.

    `cue` is the phrase that says so; `old_object` the value that no longer holds, where the sentence names it.
    """

    kind: Literal["replaces", "ends"]
    cue: str
    old_object: str | None = None


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact that a sentence states.

    `utterance` is the index of the utterance; `sentence` is the sentence as it stands there, `text` the same as a
    statement of its own: names in place of pronouns, without the words that ask to remember it. `subject`, `predicate`
    and `object` have at most MAX_FIELD_CHARS characters. A subject has one object at a time of a functional predicate.
    The fact holds from `valid_from` on, and, where the sentence says so, until `valid_to`. `change` is None where the
    sentence says nothing of an earlier one. `about_user` is False where it is about somebody else, or a thing. Where it
    `is_corrected`, the sentence corrects itself, and `text` has what holds.
    """

    utterance: int
    sentence: str
    text: str
    subject: str
    predicate: str
    object: str
    category: Category
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    confidence: float = 0.8
    is_functional: bool = False
    is_request: bool = False
    about_user: bool = True
    change: Change | None = None
    is_corrected: bool = False
