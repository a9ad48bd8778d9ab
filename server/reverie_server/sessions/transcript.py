"""The text of a conversation for a model, and the text that the model makes of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from reverie_server.sessions.model import Message
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.tokens import CountTokens

SUMMARY_CHARS = 300
# A model takes notes better of a part of this size than of all at once.
PART_TOKENS = 8000
_NAMES = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool result"}
_SPACE = re.compile(r"\s+")
Detail = Literal["summary", "notes"]


def transcript(messages: Sequence[Message], detail: Detail) -> str:
    """Who said what, oldest first; "" where nobody said anything.

    For a summary 300 characters of each message, without results of tools; for notes all that user and assistant said
    and the beginning of what tools gave. System messages and what memory had put in are in neither.
    """
    lines = []
    for message in messages:
        if message.role == "system" or (message.role == "tool" and detail == "summary"):
            continue
        text = strip_injected(message.content).strip()
        if detail == "summary" or message.role == "tool":
            text = _shortened(_SPACE.sub(" ", text), SUMMARY_CHARS)
        if text:
            lines.append(f"{_NAMES[message.role]}: {text}")
    return "\n".join(lines)


def parts(messages: Sequence[Message], max_parts: int) -> list[list[Message]]:
    """The messages in at most `max_parts` runs of about the same size, each of PART_TOKENS where that is enough."""
    total = sum(message.tokens for message in messages)
    count = max(1, min(max_parts, -(-total // PART_TOKENS), len(messages)))
    found: list[list[Message]] = [[]]
    before = 0
    for message in messages:
        # By where its middle lies, so that a long message does not push all others into the last part.
        if found[-1] and len(found) < count and before + message.tokens / 2 >= total * len(found) / count:
            found.append([])
        found[-1].append(message)
        before += message.tokens
    return [part for part in found if part]


def clipped(text: str, max_tokens: int, count: CountTokens) -> str:
    """The first lines of a text that fit; of a first line that does not, its beginning."""
    cleaned = neutralise(strip_injected(text)).strip()
    if count(cleaned) <= max_tokens:
        return cleaned
    lines = cleaned.splitlines()
    if kept := _most(len(lines), lambda number: count("\n".join(lines[:number])) <= max_tokens):
        return "\n".join(lines[:kept]).rstrip()
    return lines[0][: _most(len(lines[0]), lambda chars: count(lines[0][:chars]) <= max_tokens)].rstrip()


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to a limit that fits, where whatever is less fits too: few of them are tried."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _shortened(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}…"
