"""What of a long talk is looked at for one request to forget."""

from __future__ import annotations

import pytest

from reverie_server.forgetting import meant
from reverie_server.search.asked.heard import MAX_HEARD, HeardMessage


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
