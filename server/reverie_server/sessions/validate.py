"""Checks and cleans the messages of a request before a session takes them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reverie_indexer.errors import PayloadTooLarge, ValidationFailed
from reverie_server.sessions.model import NewMessage
from reverie_server.text.fences import strip_injected

MAX_MESSAGES = 500
MAX_CONTENT_BYTES = 1_048_576
MAX_METADATA_BYTES = 16_384
MAX_ID_CHARS = 200
MAX_DEPTH = 32
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
# Clocks differ; a message of tomorrow is a mistake.
LATEST_AHEAD = timedelta(days=1)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_messages(messages: Sequence[NewMessage], now: datetime) -> None:
    """Raise ValidationFailed or PayloadTooLarge for messages that no session takes."""
    if len(messages) > MAX_MESSAGES:
        raise ValidationFailed(f"one call takes at most {MAX_MESSAGES} messages; these are {len(messages)}")
    for message in messages:
        check_json(message.extra, MAX_CONTENT_BYTES, "the fields of a message beside its content")
        if _UNSTORABLE.search(message.content):
            raise ValidationFailed("a message has no NUL character and no lone surrogate")
        if len(message.content.encode()) > MAX_CONTENT_BYTES:
            raise PayloadTooLarge(f"the content of a message has at most {MAX_CONTENT_BYTES} bytes")
        if message.message_id is not None and not is_message_id(message.message_id):
            raise ValidationFailed(f"the id of a message has 1 to {MAX_ID_CHARS} characters")
        if message.at is not None and not EARLIEST <= message.at <= now + LATEST_AHEAD:
            raise ValidationFailed("`at` is when a message was said: not before 1970 and not in the future")


def check_json(value: Mapping[str, Any], max_bytes: int, what: str) -> None:
    """Raise ValidationFailed for JSON that is too deep or cannot be stored, PayloadTooLarge for too much of it."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for one in level
            for part in (one.values() if isinstance(one, Mapping) else one)
            if isinstance(part, Mapping | list | tuple)
        ]
        if not level:
            break
    else:
        raise ValidationFailed(f"{what} are nested deeper than {MAX_DEPTH} levels")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError):
        raise ValidationFailed(f"{what} are not JSON") from None
    if "\\u0000" in text.replace("\\\\", "") or _UNSTORABLE.search(text):
        raise ValidationFailed(f"{what} have no NUL character and no lone surrogate")
    if len(text.encode()) > max_bytes:
        raise PayloadTooLarge(f"{what} have at most {max_bytes} bytes as JSON")


def cleaned(messages: Sequence[NewMessage]) -> list[NewMessage]:
    """The messages that say something, in order, without what memory had put into them.

    Left out: a message that is nothing but an echo or a summary, and the second of one id.
    """
    kept: list[NewMessage] = []
    seen: set[str] = set()
    for message in messages:
        cleaned_message = with_content(message, strip_injected(message.content))
        if cleaned_message is None or message.message_id in seen:
            continue
        if message.message_id is not None:
            seen.add(message.message_id)
        kept.append(cleaned_message)
    return kept


def with_content(message: NewMessage, content: str) -> NewMessage | None:
    """The message with what is left of its text, None for one that says nothing any more.

    The result of a tool and the call of one stay whatever is left of them: neither may be without the other.
    """
    if content == message.content:
        return message
    content = content.strip()
    if not content and message.role != "tool" and "tool_calls" not in message.extra:
        return None
    return replace(message, content=content)


def is_message_id(message_id: str) -> bool:
    """Whether a message can have this id."""
    return 1 <= len(message_id) <= MAX_ID_CHARS and not _UNSTORABLE.search(message_id)
