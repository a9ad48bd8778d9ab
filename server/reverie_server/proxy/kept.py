"""What a session keeps of a message of the protocol: all that can be stored, and words for what cannot. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from reverie_indexer.errors import PayloadTooLarge, ValidationFailed
from reverie_server.sessions.model import NewMessage, Role, fields_of
from reverie_server.sessions.validate import MAX_CONTENT_BYTES, check_json

# The codes of what is missing, for the caller.
Missing = Literal["message_cut", "message_without_words"]
_CUT = "\n\n(The rest of this message was too long to be stored.)"
_PARTS = {
    "image_url": "a picture",
    "input_image": "a picture",
    "input_audio": "a sound recording",
    "file": "a file",
    "input_file": "a file",
}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Kept:
    """Messages as a session takes them, and what is missing from them."""

    messages: Sequence[NewMessage]
    missing: Sequence[Missing] = ()


def text_of(content: Any) -> str:
    """The words of a content: itself, or the texts among its parts, joined by line breaks."""
    return "\n".join(_texts(content)) if isinstance(content, list) else content or ""


def kept(
    role: Role, content: Any, fields: Mapping[str, Any], message_id: str, at: datetime | None
) -> tuple[NewMessage, Missing | None]:
    """The message with this content and these fields, and what is missing from it.

    A text that is too long is cut. A message without words, that neither calls a tool nor is its result, says so.
    """
    text, extra = _storable(text_of(content)), _storable_fields(fields)
    missing: Missing | None = None if len(extra) == len(fields_of(fields)) else "message_cut"
    if len(text) * 4 > MAX_CONTENT_BYTES and len(encoded := text.encode()) > MAX_CONTENT_BYTES:
        text = encoded[: MAX_CONTENT_BYTES - len(_CUT)].decode(errors="ignore") + _CUT
        missing = "message_cut"
    elif not text.strip() and role != "tool" and not extra.get("tool_calls"):
        text, missing = f"(Without words{_shown(content)}.)", missing or "message_without_words"
    return NewMessage(role, text, message_id, at, extra), missing


def _storable(text: str) -> str:
    """The text without what the database cannot store: surrogates are replaced, null characters removed."""
    return _SURROGATE.sub("\ufffd", text).replace("\x00", "")


def _storable_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a message beside its text that can be stored together."""
    fields: dict[str, Any] = {}
    for name, value in fields_of(message).items():
        more = {**fields, name: _storable(value) if isinstance(value, str) else value}
        try:
            check_json(more, MAX_CONTENT_BYTES, name)
        except (PayloadTooLarge, ValidationFailed):
            continue
        fields = more
    return fields


def _shown(content: Any) -> str:
    """What a content without words has instead, to stand behind "Without words"."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    shown = dict.fromkeys(found for part in parts if (found := _PARTS.get(str(part.get("type")))))
    return f": {', '.join(shown)}" if shown else ""


def _texts(parts: Sequence[Any]) -> list[str]:
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
