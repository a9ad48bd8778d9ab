"""Which of a session's messages a prompt has, and which of them make an exchange."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reverie_server.prompt.visible_messages import visible
from reverie_server.sessions.model import Message, NewMessage, Role, exchanges

NOW = datetime(2026, 4, 3, tzinfo=UTC)
CALLS = [{"id": "c1", "function": {"name": "look"}}, {"id": "c2", "function": {"name": "look"}}]


def message(seq: int, role: Role, content: str, **extra: Any) -> Message:
    return Message(seq, role, content, NOW, 1, extra=extra)


def test_a_call_without_its_result_is_not_sent() -> None:
    """Seen in a black-box test: an agent that died between call and result had every later prompt refused."""
    live = [
        message(1, "user", "Look."),
        message(2, "assistant", "", tool_calls=CALLS[:1]),
        message(3, "user", "And?"),
        message(4, "assistant", "I look.", tool_calls=CALLS),
        message(5, "tool", "42", tool_call_id="c2"),
        message(6, "assistant", "So be it.", tool_calls=[{"foo": 1}]),
    ]
    shown = visible(live, "", message(7, "user", "Now?"))
    assert [(one.seq, one.extra.get("tool_calls")) for one in shown] == [
        (1, None),
        (3, None),
        (4, CALLS[1:]),
        (5, None),
        (6, None),
    ]


def test_what_is_said_beside_a_call_of_tools_is_no_answer_yet() -> None:
    said = [
        NewMessage("user", "What is it?"),
        NewMessage("assistant", "Let me look.", extra={"tool_calls": CALLS}),
        NewMessage("tool", "42", extra={"tool_call_id": "c1"}),
        NewMessage("assistant", "It is 42."),
    ]
    assert exchanges(said) == [("What is it?", "It is 42.")]
