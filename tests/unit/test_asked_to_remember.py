"""What users ask to remember in one conversation, by words alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from reverie_indexer.errors import EmbedderUnavailable, TextTooCostly
from reverie_server.extraction import asked as module
from reverie_server.extraction.asked import asked_to_remember
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.search.asked.heard import NearStatement
from reverie_server.sessions.model import Message

AT = datetime(2026, 3, 1, tzinfo=UTC)
NO_MODEL: Any = SimpleNamespace(ready=None, wait=AsyncMock(return_value=None))
REQUEST = "Tuck that one away for me, will you."


def page(*texts: str) -> list[Message]:
    return [
        Message(number, "assistant" if text == "Will do." else "user", text, AT, 1)
        for number, text in enumerate(texts, 1)
    ]


async def nothing_near(_: Sequence[str]) -> Sequence[NearStatement]:
    return []


async def test_the_same_words_ask_for_two_things() -> None:
    talk = page(
        "The gate code of the allotment is 4471.",
        REQUEST,
        "Will do.",
        "My locker at the pool is number 88.",
        REQUEST,
        "Will do.",
    )
    found = await asked_to_remember(NO_MODEL, talk, "english", nothing_near)
    assert set(found.meant[REQUEST]) == {
        "The gate code of the allotment is 4471.",
        "My locker at the pool is number 88.",
    }


async def test_a_conversation_that_takes_too_long_is_extracted_without(monkeypatch: pytest.MonkeyPatch) -> None:
    async def too_costly(*_: Any, **__: Any) -> Any:
        raise TextTooCostly("it takes too long")

    monkeypatch.setattr(module, "isolated", too_costly)
    found = await asked_to_remember(NO_MODEL, page("The gate code is 4471.", REQUEST), "english", nothing_near)
    assert not found.meant


async def test_what_is_asked_for_from_now_on_means_itself() -> None:
    request = "Could you please always give me the measurements in inches as well, keep them in your head?"
    talk = page("My brain was trained on metric.", request, "Will do.")
    assert (await asked_to_remember(NO_MODEL, talk, "english", nothing_near)).meant == {request: [request]}


async def test_what_was_said_elsewhere_is_left_out_where_it_cannot_be_searched() -> None:
    async def broken(_: Sequence[str]) -> Sequence[NearStatement]:
        raise EmbedderUnavailable("the model is away")

    talk = page("The gate code of the allotment is 4471.", REQUEST, "Will do.")
    found = await asked_to_remember(NO_MODEL, talk, "english", broken)
    assert found.meant == {REQUEST: ["The gate code of the allotment is 4471."]}
    assert not found.stated_at


async def test_what_asked_for_something_on_another_day_is_not_what_is_meant() -> None:
    async def near(_: Sequence[str]) -> Sequence[NearStatement]:
        return [NearStatement("The tank's size, hang on to that for me for good, will you.", AT)]

    found = await asked_to_remember(NO_MODEL, page("We had soup.", REQUEST, "Will do."), "english", near)
    assert not found.stated_at


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Make a mental note: my sister can't eat gluten.", "My sister can't eat gluten."),
        ("just for future ref, I am allergic to nuts.", "I am allergic to nuts."),
        ("Could I ask you to remember that I work nights?", "I work nights."),
        ("Can you remember that my bike is a Gazelle?", "My bike is a Gazelle."),
        ("denkst du bitte daran, dass ich keine laktose vertrage?", "Ich vertrage keine laktose."),
        ("Kannst du dir merken, dass mein Rad blau ist?", "Mein Rad ist blau."),
        ("¿te importaría recordar que no como cerdo?", "No como cerdo."),
        ("我不吃辣你记一下", "我不吃辣"),
        ("你能记住我的柜子是88号吗？", "我的柜子是88号。"),
    ],
)
def test_what_is_asked_for_in_a_question_is_kept_as_a_statement(message: str, kept: str) -> None:
    assert [fact.text for fact in read_facts([Utterance(message, AT)]) if fact.is_request] == [kept]


def test_a_question_that_is_asked_for_is_no_statement() -> None:
    assert not [fact for fact in read_facts([Utterance("Remember: what did I tell you?", AT)]) if fact.is_request]
