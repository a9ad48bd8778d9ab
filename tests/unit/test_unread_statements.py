"""Earlier statements with values are found in the languages that have a table of facts, and others are left alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reverie_server.facts.unread import statements_of


def row(content: str) -> dict[str, Any]:
    at = datetime(2026, 4, 3, tzinfo=UTC)
    said = {"seq": 1, "role": "user", "content": content, "at": at, "tokens": 9, "message_id": "m", "extra": {}}
    return {**said, "session_key": 1, "slice_id": 1, "session_id": "web:1"}


def test_a_sentence_in_another_language_is_no_statement_and_no_error() -> None:
    french = "Nous avons réservé une table pour le 12 mars à 19 heures dans le petit restaurant avec des amis."
    english = "We booked a table for 12 March at 7 pm in the small restaurant."
    found = statements_of([row(french), row(english)], "english")
    assert [each.sentence for each in found] == [english]
