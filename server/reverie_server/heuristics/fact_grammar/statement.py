"""A sentence as facts are read from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie_server.heuristics.cues import Cues
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases, all_phrases
from reverie_server.heuristics.stated_fact import Category, Change, StatedFact


@dataclass(slots=True)
class Talk:
    """What a conversation has told so far: its people, and the last thing that was spoken of; `number` of sentences.

    `has_capitals` is False where nobody writes any. `is_of_other`: the sentence before, of the same message, is about
    somebody else. `pet`: the word for the user's animal of which the sentence before told; `lockable`: the thing with a
    code of which it told. `owned`: what the user was last said to have, with the number of that sentence.
    """

    people: People = field(default_factory=People)
    user_name: str | None = None
    has_capitals: bool = True
    number: int = 0
    last_thing: tuple[int, str] | None = None
    is_of_other: bool = False
    pet: str | None = None
    lockable: str | None = None
    owned: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence: as it stands, and `core`, without the words that ask to remember it."""

    sentence: str
    core: str
    said_at: datetime
    phrases: Phrases
    cues: Cues | None
    is_asked: bool = False
    is_of_file: bool = False

    @classmethod
    def plain(cls, sentence: str, said_at: datetime) -> Statement:
        """A sentence of which nothing else is known."""
        return cls(sentence, sentence, said_at, all_phrases()["english"], None)

    def fact(
        self,
        subject: str,
        predicate: str,
        object_: str,
        category: Category,
        **more: object,
    ) -> StatedFact:
        """A fact of this sentence; `more` are further fields of StatedFact."""
        fact = StatedFact(
            0, self.sentence, self.core, subject, predicate, object_, category, self.said_at, self.said_at
        )
        return replace(fact, **more)  # type: ignore[arg-type]


__all__ = ["Change", "Statement", "Talk"]
