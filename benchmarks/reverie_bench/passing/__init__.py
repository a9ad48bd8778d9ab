"""Lives of thirty messages in which people tell of themselves in passing, and what a memory should know of them after.

All were written for this project, by authors who knew none of its rules: `lives/` has a file for each. `facts` are
values that a list of facts about the person should have at the end, `over` those that no longer hold, `profile` those
that a profile should have, `others` those of strangers, of translations and wishes, that should be no facts of theirs.
A question has the answers of which one should be injected, and those that would be superseded.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "lives"


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: what the person wrote, and what the assistant answered."""

    at: datetime
    messages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the person asks later; values in lower case."""

    ask: str
    current: tuple[str, ...]
    superseded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassingLife:
    """A life; values in lower case, as a message has them."""

    name: str
    language: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    facts: tuple[str, ...]
    over: tuple[str, ...]
    profile: tuple[str, ...]
    others: tuple[str, ...]


def passing_lives() -> list[PassingLife]:
    """All lives, by name."""
    return [
        _life(file.stem, tomllib.loads(file.read_text(encoding="utf-8"))) for file in sorted(_FOLDER.glob("*.toml"))
    ]


def _life(name: str, data: dict[str, Any]) -> PassingLife:
    values = {key: tuple(value.lower() for value in data[key]) for key in ("facts", "over", "profile", "others")}
    sessions = tuple(
        Session(each["at"], tuple((row[0], row[1] if len(row) > 1 else data["answer"]) for row in each["messages"]))
        for each in data["sessions"]
    )
    questions = tuple(
        Question(each["ask"], *(tuple(map(str.lower, each[key])) for key in ("current", "superseded")))
        for each in data["questions"]
    )
    return PassingLife(name, data["language"], sessions, questions, **values)
