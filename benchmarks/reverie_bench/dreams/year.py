"""A made-up year of conversations: people state, repeat, correct, take up again, ask for and forget things. Pure.

Every value is an invented word that stands for one fact of one owner, so that the word shows whether a fact is kept,
lost, found or leaked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

Kind = Literal["preference", "fact", "decision", "changing", "forgotten"]

_KINDS: dict[Kind, int] = {"preference": 4, "fact": 4, "decision": 3, "changing": 2, "forgotten": 1}
_ONSETS = ("b", "br", "d", "dr", "f", "g", "k", "kr", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "z")
_NUCLEI = ("a", "e", "i", "o", "u", "ai", "ei", "ou")
_CODAS = ("", "l", "n", "r", "s", "k", "m", "x")


@cache
def _templates() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Statement:
    """One value that an owner states on a day. The statements of one `subject` contradict each other."""

    owner: str
    subject: str
    kind: Kind
    value: str
    text: str
    questions: tuple[str, str]
    day: int


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation of an owner on a day: the exchanges in order, and the questions that are put to memory."""

    owner: str
    day: int
    exchanges: Sequence[tuple[str, str]]
    questions: Sequence[str]


@dataclass(slots=True)
class Year:
    """All that is said, by day from 0. `forgets` are the statements to be forgotten, each with the day."""

    nights: int
    owners: Sequence[str]
    statements: list[Statement] = field(default_factory=list)
    talks: list[Talk] = field(default_factory=list)
    forgets: list[tuple[int, Statement]] = field(default_factory=list)

    def talks_of(self, day: int) -> list[Talk]:
        """The conversations of a day, in the order of the owners."""
        return [talk for talk in self.talks if talk.day == day]

    def valid(self, day: int) -> list[Statement]:
        """The statements up to a day that are neither contradicted since nor forgotten, in the order they were made."""
        latest = {}
        for statement in self.statements:
            if statement.day <= day:
                latest[statement.owner, statement.subject] = statement
        forgotten = {statement.value for at, statement in self.forgets if at <= day}
        return [statement for statement in latest.values() if statement.value not in forgotten]

    def superseded(self, day: int) -> list[Statement]:
        """The statements that a later one of the same subject contradicted up to a day and that did not return."""
        valid = {statement.value for statement in self.valid(day)}
        stated = {s.value: s for s in self.statements if s.day <= day and s.kind == "changing"}
        return [statement for value, statement in stated.items() if value not in valid]

    def forgotten(self, day: int) -> list[Statement]:
        """The statements that were forgotten up to a day."""
        return [statement for at, statement in self.forgets if at <= day]


def simulate(seed: int, nights: int, owners: int) -> Year:
    """Simulate `nights` days of `owners` people. The same seed gives the same year.

    About every fifth day an owner states something new; a third of what is stated is said again on other days, and
    asked for; what changes does so after some weeks, and every second time returns to its first value.
    """
    random = Random(seed)  # noqa: S311  (a made-up year protects nothing)
    names = [f"user:{number + 1}" for number in range(owners)]
    year = Year(nights, names)
    words = _invented(random)
    by_day: dict[tuple[str, int], list[Statement]] = {}
    for owner in names:
        for statement in _statements(random, words, owner, nights):
            year.statements.append(statement)
            by_day.setdefault((owner, statement.day), []).append(statement)
            if statement.kind == "forgotten" and statement.day + 20 < nights:
                year.forgets.append((statement.day + random.randrange(5, 20), statement))
    year.statements.sort(key=lambda statement: (statement.day, statement.owner))
    gone = {statement.value: at for at, statement in year.forgets}
    for day in range(nights):
        for owner in names:
            new = by_day.get((owner, day), [])
            known = [s for s in year.valid(day - 1) if s.owner == owner and gone.get(s.value, nights) > day]
            talk = _talk(random, owner, day, new, known)
            if talk is not None:
                year.talks.append(talk)
    return year


def _statements(random: Random, words: Iterator[str], owner: str, nights: int) -> Iterator[Statement]:
    day = random.randrange(0, 3)
    number = 0
    while day < nights:
        kind = random.choices(list(_KINDS), weights=list(_KINDS.values()))[0]
        template = random.choice(_templates()[kind])
        subject = next(words).capitalize()
        values = [next(words).capitalize()]
        if kind == "changing":
            values += [next(words).capitalize() for _ in range(random.randrange(1, 3))]
            if random.random() < 0.5:
                values.append(values[0])
        at = day
        for value in values:
            if at < nights:
                first, second = (question.format(s=subject) for question in template["asked"])
                text = template["said"].format(x=value, s=subject)
                yield Statement(owner, f"{number}:{subject}", kind, value, text, (first, second), at)
            at += random.randrange(15, 60)
        number += 1
        day += random.randrange(3, 8)


def _talk(random: Random, owner: str, day: int, new: Sequence[Statement], known: Sequence[Statement]) -> Talk | None:
    if not new and random.random() < 0.35:
        return None
    small_talk = [(line["said"], line["answer"]) for line in _templates()["small_talk"]]
    exchanges = [random.choice(small_talk)]
    exchanges += [(statement.text, "Noted, thank you for telling me.") for statement in new]
    # People come back to some things and never to others.
    recurring = [s for s in known if s.kind != "forgotten" and sum(map(ord, s.value)) % 3 == 0]
    recent = [s for s in recurring if day - s.day <= 25]
    questions = []
    for statement in random.sample(recent, min(2, len(recent))):
        question = random.choice(statement.questions)
        questions.append(question)
        exchanges.append((question, "Let me look that up."))
        if random.random() < 0.5:
            exchanges.append((statement.text, "Yes, so you said before."))
    exchanges.append(random.choice(small_talk))
    return Talk(owner, day, exchanges, questions)


def _invented(random: Random) -> Iterator[str]:
    seen = set()
    while True:
        word = "".join(random.choice(_ONSETS) + random.choice(_NUCLEI) for _ in range(3)) + random.choice(_CODAS)
        if word not in seen:
            seen.add(word)
            yield word
