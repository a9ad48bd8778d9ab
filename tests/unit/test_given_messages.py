"""What is refused of messages that are handed in, and what is left of those that are not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_indexer.errors import PayloadTooLarge, ValidationFailed
from reverie_server.sessions.model import NewMessage
from reverie_server.sessions.validate import MAX_MESSAGES, check_json, check_messages, cleaned
from reverie_server.text.fences import CLOSE_FENCE, OPEN_FENCE

NOW = datetime(2026, 4, 3, tzinfo=UTC)
BLOCK = f"{OPEN_FENCE}\n## Memory Context\n- (2026-04-03, MEMORY.md) tea\n{CLOSE_FENCE}"


def test_a_call_has_at_most_five_hundred_messages() -> None:
    check_messages([NewMessage("user", "a")] * MAX_MESSAGES, NOW)
    with pytest.raises(ValidationFailed):
        check_messages([NewMessage("user", "a")] * (MAX_MESSAGES + 1), NOW)


def test_json_is_bounded_in_depth_and_size_and_holds_what_can_be_stored() -> None:
    check_json({"a": [{"b": "c\\u0000 is six characters"}], "d": None}, 100, "it")
    nested: object = "x"
    for _ in range(100_000):
        nested = [nested]
    for value in ({"a": nested}, {"a": "\x00"}, {"a": "\ud800"}, {"a": float("inf")}, {"a": object()}):
        with pytest.raises(ValidationFailed):
            check_json(value, 100, "it")
    with pytest.raises(PayloadTooLarge):
        check_json({"a": "é" * 60}, 100, "it")


def test_an_echo_is_taken_out_and_what_is_nothing_else_is_left_out() -> None:
    given = [
        NewMessage("user", f"{BLOCK}\n\nHello there.\n"),
        NewMessage("user", BLOCK),
        NewMessage("user", "  as it is \n"),
        NewMessage("assistant", BLOCK, extra={"tool_calls": [{"id": "c"}]}),
        NewMessage("tool", BLOCK),
    ]
    assert [(m.role, m.content) for m in cleaned(given)] == [
        ("user", "Hello there."),
        ("user", "  as it is \n"),
        ("assistant", ""),
        ("tool", ""),
    ]


def test_the_second_message_of_one_id_is_left_out_unless_the_first_said_nothing() -> None:
    given = [
        NewMessage("user", BLOCK, "1"),
        NewMessage("user", "a", "1"),
        NewMessage("user", "b", "1"),
        NewMessage("user", "c"),
        NewMessage("user", "c"),
    ]
    assert [m.content for m in cleaned(given)] == ["a", "c", "c"]
