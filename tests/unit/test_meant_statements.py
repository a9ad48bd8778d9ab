"""What of a long talk is looked at for one request to forget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.forgetting import meant
from reverie_server.forgetting.echoes import behind
from reverie_server.search.asked.heard import MAX_HEARD, HeardMessage, heard_before
from reverie_server.sessions.model import Message

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_of_a_message_of_thousands_of_sentences_few_are_asked_whether_they_are_to_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(meant, "asks_to_remember", lambda text: bool(looked_at.append(text)))
    earlier = [HeardMessage(["One."] * (MAX_HEARD - 1)), HeardMessage([f"Sentence {n}." for n in range(5000)])]
    assert meant._to_keep(earlier) == frozenset()
    assert len(looked_at) < 2 * MAX_HEARD


def test_all_of_a_message_that_asks_to_keep_something_is_kept() -> None:
    earlier = [HeardMessage(["The PIN is 4711.", "Please remember that."]), HeardMessage(["The bus was late."])]
    assert meant._to_keep(earlier) == {"The PIN is 4711.", "Please remember that."}


def test_only_what_stands_behind_the_forgotten_statement_repeats_it() -> None:
    page = [
        Message(1, "assistant", "The birthday of Anna is on the third.", AT, 1),
        Message(2, "user", "Anna has lost 500 euros.", AT, 1),
        Message(3, "assistant", "Anna lost 500 euros, I see.", AT, 1),
    ]
    assert behind(["Anna has lost 500 euros."], page) == [page[2]]


def test_a_message_that_is_the_first_of_its_day_goes_on_from_the_talk_before() -> None:
    page = [
        Message(1, "user", "The bus was late.", AT - timedelta(days=9), 1),
        Message(2, "user", "My PIN is 4711.", AT, 1),
        Message(3, "user", "Forget that.", AT + timedelta(days=2), 1),
    ]
    before = heard_before(page, 2, lambda at: [page[at].content])
    assert [each.sentences for each in before.talk] == [["My PIN is 4711."]]
    assert before.older == ["The bus was late."]
