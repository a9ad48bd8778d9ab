"""Commands that are the whole message of a user. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from reverie_server.proxy.chat import Conversation

_COMMAND = re.compile(r"/(?:(?P<name>new|status|compact)|compact[ \t]+(?P<keep>[0-9]{1,9}))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """`/new`, `/status`, or `/compact`, which keeps the last `keep_last` messages (None: as many as usual)."""

    name: Literal["new", "status", "compact"]
    keep_last: int | None = None


def command_of(conversation: Conversation) -> Command | None:
    """The command that a conversation ends with; None where its last message is another one, or has more in it."""
    if conversation.current != len(conversation.messages) - 1:
        return None
    if not isinstance(conversation.messages[conversation.current].get("content"), str):
        return None
    return read_command(conversation.current_text)


def read_command(text: str) -> Command | None:
    """The command that a text is."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    if found["keep"]:
        return Command("compact", int(found["keep"]))
    match found["name"].lower():
        case "new":
            return Command("new")
        case "status":
            return Command("status")
        case _:
            return Command("compact")
