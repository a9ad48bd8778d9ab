"""The answer in a chat completion, streamed or whole, read while its bytes pass through. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
# What one event may hold before it is taken for something else.
_MAX_EVENT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answered:
    """What the model answered, of the first choice: text, calls of tools as the protocol has them, or both."""

    content: str
    tool_calls: tuple[Mapping[str, Any], ...]


class StreamedAnswer:
    """Collects an answer from server-sent events, in whatever pieces they come."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._finished = False
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the stream has said that it is at its end."""
        return self._ended

    def feed(self, piece: bytes) -> str:
        """Take the next bytes of the stream; what they add to the text."""
        known = len(self._content)
        self._rest += piece
        start = 0
        for end in _LINE_END.finditer(self._rest):
            self._line(self._rest[start : end.start()])
            start = end.end()
        self._rest = self._rest[start:]
        if len(self._rest) > _MAX_EVENT_BYTES:
            self._rest = b""
        return "".join(self._content[known:])

    def answer(self) -> Answered | None:
        """The whole answer; None while it has not come to its end, or when nothing was said."""
        if self._rest:
            self._line(self._rest)
            self._rest = b""
        self._event()
        content = "".join(self._content) or "".join(self._refusal)
        calls = tuple(self._calls[index] for index in sorted(self._calls))
        return Answered(content, calls) if self._finished and (content or calls) else None

    def _line(self, line: bytes) -> None:
        if not line:
            self._event()
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))

    def _event(self) -> None:
        data, self._data = b"\n".join(self._data), []
        if data.strip() == b"[DONE]":
            self._finished = self._ended = True
        elif data:
            try:
                self._chunk(json.loads(data))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                return  # a comment of somebody's, or an error: nothing that was said

    def _chunk(self, chunk: Any) -> None:
        for choice in chunk["choices"]:
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            for name, texts in (("content", self._content), ("refusal", self._refusal)):
                if isinstance(delta.get(name), str):
                    texts.append(delta[name])
            for call in delta.get("tool_calls") or ():
                self._call(call)
            self._finished = self._finished or choice.get("finish_reason") is not None

    def _call(self, call: Mapping[str, Any]) -> None:
        """One part of a call: the first names it, the others go on with its arguments."""
        known = self._calls.setdefault(
            int(call.get("index", len(self._calls))), {"id": "", "type": "function", "function": {}}
        )
        known["id"] = known["id"] or call.get("id") or ""
        known["type"] = call.get("type") or known["type"]
        for name, value in (call.get("function") or {}).items():
            if isinstance(value, str):
                known["function"][name] = known["function"].get(name, "") + value


def whole_answer(body: bytes) -> Answered | None:
    """The answer in the body of a completion; None where nothing was said."""
    try:
        message = json.loads(body)["choices"][0]["message"]
        content = message.get("content") or message.get("refusal") or ""
        calls = message.get("tool_calls") or []
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    content = content if isinstance(content, str) else ""
    calls = tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()
    return Answered(content, calls) if content or calls else None
