"""A hostile text as conversations, notes and memories have it: as one message, as many, as a line of each."""

from __future__ import annotations

from datetime import UTC, date, datetime

from reverie_server.sessions.model import Message, NewMessage, Role

DAY = date(2026, 4, 3)
NOW = datetime(2026, 4, 3, 12, tzinfo=UTC)
NOTE = "memory/2026-04-03.md"
TITLE = "# Long-term Memory\n\n"
MEMORY = f"{TITLE}## Notes\n\n- Ada likes tea in the morning.\n- Ada lives in Oslo with her sister.\n"
# Of a text that is a conversation in itself.
MAX_MESSAGES = 20_000


def count(text: str) -> int:
    """Tokens, as far as it matters here."""
    return len(text) // 4


def message(text: str, role: Role = "user", seq: int = 1) -> Message:
    """A message of a text."""
    return Message(seq, role, text, NOW, count(text))


def talk(text: str) -> list[Message]:
    """The text as what is asked and as what is answered, and a sentence worth keeping behind it."""
    return [message(text), message(text, "assistant", 2), message("I prefer tea to coffee since May.", seq=3)]


def lines_of_talk(text: str) -> list[Message]:
    """A message for each line or, where there are none, for each few characters; both sides in turn."""
    parts = text.split("\n") if "\n" in text else [text[at : at + 40] for at in range(0, len(text), 40)]
    return [
        message(part, "assistant" if number % 2 else "user", number + 1)
        for number, part in enumerate(parts[:MAX_MESSAGES])
    ]


def new_talk(text: str) -> list[NewMessage]:
    """The text as it is handed in."""
    return [NewMessage("user", text), NewMessage("assistant", text, "m2", NOW, {"name": text[:100]})]


def unchanged(text: str) -> str:
    """Where nothing was forgotten."""
    return text
