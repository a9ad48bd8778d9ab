"""Commands that are the whole message of a user, and the server's own answers as chat completions. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

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


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """An answer of the server's own: a chat completion that no model has written."""

    text: str
    completion_id: str
    created: int
    model: str

    def completion(self) -> dict[str, Any]:
        """The answer as a whole."""
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {**self._head("chat.completion"), "choices": [choice], "usage": _NO_USAGE}

    def events(self, *, with_usage: bool) -> Iterator[bytes]:
        """The answer as the events of a stream."""
        head = self._head("chat.completion.chunk")
        delta = {"role": "assistant", "content": self.text}
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if with_usage:
            yield _event({**head, "choices": [], "usage": _NO_USAGE})
        yield b"data: [DONE]\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.completion_id, "object": kind, "created": self.created, "model": self.model}


_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _event(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()
