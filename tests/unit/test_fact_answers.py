"""Which stored facts a model is shown with a conversation, and what its answer may close, in each language."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie_server.facts.answers import AnswerBasis, StoredFact, nearest, readings_of
from reverie_server.heuristics.stated_fact import Category, StatedFact
from reverie_server.llm.answers import Facts
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.sessions.model import Message

AT = datetime(2026, 4, 2, 10, tzinfo=UTC)


def stored(fact_id: int, text: str, predicate: str, value: str, category: Category = "general") -> StoredFact:
    day_before = AT - timedelta(days=1)
    kinds = {"is_functional": False, "is_request": False, "about_user": True, "is_decided": False}
    return StoredFact(
        fact_id, "user", predicate, value, text, category, said_at=day_before, valid_from=day_before, **kinds
    )


def read_nothing(*_: Any, **__: Any) -> list[StatedFact]:
    return []


def messages_of(text: str) -> list[Message]:
    return [Message(1, "user", text, AT, 1)]


@pytest.mark.parametrize(
    ("text", "near", "other"),
    [
        ("麦穗的会太多了。", "我们麦穗科技啥都好。", "我女朋友是学大提琴的。"),
        ("Ya no pruebo el café.", "Me tomo cuatro cafés al día.", "Tengo dos gatos."),
        ("Our parrots moved out.", "We keep a parrot.", "We have a piano."),
    ],
)
def test_what_a_model_is_shown_shares_words_in_any_form_and_script(text: str, near: str, other: str) -> None:
    facts = [stored(1, other, "says", other), stored(2, near, "says", near)]
    assert [fact.fact_id for fact in nearest(facts, messages_of(text), limit=1)] == [2]


@pytest.mark.parametrize(
    ("text", "predicate", "value", "old", "is_closed"),
    [
        # The value in another form, or the same of the same in another form.
        ("Ya no pruebo el café", "drinks", "café", ("Me tomo cuatro cafés al día", "taste", "cafés"), True),
        ("I do shifts for Northgrid", "work", "Northgrid", ("I'm at Brightside", "works_at", "Brightside"), True),
        # It says nothing of that value, nor the same of the user.
        ("Northgrid is fine", "likes", "Northgrid", ("My niece is Clare", "niece", "Clare"), False),
    ],
)
def test_an_answer_closes_a_fact_that_the_message_may_be_about(
    text: str, predicate: str, value: str, old: tuple[str, str, str], is_closed: bool
) -> None:
    basis = AnswerBasis(1, "s", messages_of(text), [stored(7, *old)], lambda text, _: text, read_nothing)
    fields = {"text": text, "subject": "user", "predicate": predicate, "object": value, "category": "general"}
    answer = Facts.model_validate({"statements": [{**fields, "operation": "replaces", "fact": 7, "messages": [1]}]})
    [reading] = readings_of(answer, EXTRACTIVE, basis)
    assert (reading.operation, reading.of_fact_id) == (("replaces", 7) if is_closed else ("add", None))
