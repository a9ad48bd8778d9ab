"""The line of an introduction has what stands behind the name, where no more of it was read."""

from __future__ import annotations

from datetime import UTC, datetime

from reverie_server.heuristics.introductions import with_whole_sentence
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.stated_fact import SELF, StatedFact
from reverie_server.sessions.model import Message

AT = datetime(2026, 4, 3, tzinfo=UTC)
NAMED = StatedFact(0, "I'm Tove.", "I'm Tove.", SELF, "name", "Tove", "profile", AT, AT)


def test_of_who_types_a_name_an_age_and_more_all_is_one_line() -> None:
    messages = [
        Message(1, "user", "tove lind, 38, i carve spoons in umeå. need a letter", AT, 1, "1", {}),
        Message(2, "assistant", "Hello, Tove. To whom?", AT, 1, "2", {}),
    ]
    lines = [line.statement.text for line in memorable_of(messages, "english", "UTC").lines]
    assert "tove lind, 38, i carve spoons in umeå." in lines


def test_what_was_read_in_parts_stays_in_parts() -> None:
    said = "I'm Tove and I mend clocks in Lund"
    parts = [NAMED, StatedFact(0, said, "I mend clocks in Lund.", SELF, "works_in", "Lund", "profile", AT, AT)]
    assert with_whole_sentence(said, parts) == parts


def test_a_question_is_no_part_of_a_line() -> None:
    assert with_whole_sentence("I'm Tove, who keeps the keys here?", [NAMED]) == [NAMED]
