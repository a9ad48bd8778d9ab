"""The answer in a chat completion, streamed or whole, read while its bytes pass through. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)
# The limits of one event, and of an answer in all its parts.
_MAX_EVENT_BYTES = 16 * 1024 * 1024
_MAX_ANSWER_CHARS = 16 * 1024 * 1024
_MAX_CALLS = 1000
# The reason of some providers for the end of an answer that broke off.
_FAILED = "error"


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model answered: text, calls of tools in the form of chat completions, or both.

    `answer_id` is the provider's name of it, by which a later request goes on from it; "" where none does.
    """

    content: str
    tool_calls: tuple[Mapping[str, Any], ...]
    answer_id: str = ""


@dataclass(slots=True)
class _Call:
    """A call of a tool, so far: each field of its function in the parts in which it arrived."""

    id: str = ""
    type: str = "function"
    function: dict[str, list[str]] = field(default_factory=dict)

    def whole(self) -> Mapping[str, Any]:
        function = {name: "".join(parts) for name, parts in self.function.items()}
        return {"id": self.id, "type": self.type, "function": function}


class StreamedAnswer:
    """Collects an answer from server-sent events, in whatever pieces they come.

    Takes time linear in the bytes, however small the pieces are. A stream over the limits, or with an error in it,
    gives no answer.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._chars = 0
        self._finished = False
        self._failed = False
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the stream has said that it is at its end."""
        return self._ended

    def feed(self, piece: bytes) -> str:
        """Take the next bytes of the stream; returns the text that they add."""
        known = len(self._content)
        ends_line = b"\n" in piece or b"\r" in piece or (self._rest and self._rest[-1].endswith(b"\r"))
        self._keep(piece)
        if ends_line:
            text, start = self._taken(), 0
            for end in _LINE_END.finditer(text):
                self._line(text[start : end.start()])
                start = end.end()
            self._keep(text[start:])
        if self._rest_bytes > _MAX_EVENT_BYTES:
            self._taken()
        return "".join(self._content[known:])

    def answer(self) -> Answered | None:
        """The whole answer; None before its end, or when it failed or is empty."""
        self._flush()
        content = "".join(self._content) or "".join(self._refusal)
        calls = tuple(self._calls[index].whole() for index in sorted(self._calls))
        is_one = self._finished and self._chars <= _MAX_ANSWER_CHARS and len(self._calls) <= _MAX_CALLS
        return Answered(content, calls) if is_one and not self._failed and (content or calls) else None

    def _flush(self) -> None:
        """Take what has come of a last event without an end."""
        if rest := self._taken():
            self._line(rest)
        self._event()

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._rest.append(piece)
            self._rest_bytes += len(piece)

    def _taken(self) -> bytes:
        """Remove and return the bytes of the unfinished line."""
        text, self._rest, self._rest_bytes = b"".join(self._rest), [], 0
        return text

    def _line(self, line: bytes) -> None:
        if not line:
            self._event()
        elif line.startswith(b"data:"):
            self._data_bytes += len(line)
            # The data of an event over the limit are dropped.
            if self._data_bytes <= _MAX_EVENT_BYTES:
                self._data.append(line[5:].removeprefix(b" "))

    def _event(self) -> None:
        is_one = self._data_bytes <= _MAX_EVENT_BYTES
        data = b"\n".join(self._data) if is_one else b""
        self._data, self._data_bytes = [], 0
        if data.strip() == b"[DONE]":
            self._finished = self._ended = True
        elif data:
            try:
                self._chunk(json.loads(data))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                return  # no part of the answer

    def _chunk(self, chunk: Any) -> None:
        self._failed = self._failed or bool(chunk.get("error"))
        for choice in chunk["choices"]:
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            for name, texts in (("content", self._content), ("refusal", self._refusal)):
                if isinstance(delta.get(name), str):
                    self._take(texts, delta[name])
            for call in delta.get("tool_calls") or ():
                self._call(call)
            self._failed = self._failed or choice.get("finish_reason") == _FAILED
            self._finished = self._finished or choice.get("finish_reason") is not None

    def _call(self, call: Mapping[str, Any]) -> None:
        """One part of a call: the first names it, the others go on with its arguments."""
        index = int(call.get("index", len(self._calls)))
        if len(self._calls) > _MAX_CALLS and index not in self._calls:
            return
        known = self._calls.setdefault(index, _Call())
        known.id = known.id or call.get("id") or ""
        known.type = call.get("type") or known.type
        for name, value in (call.get("function") or {}).items():
            if isinstance(value, str):
                self._take(known.function.setdefault(name, []), value)

    def _take(self, parts: list[str], text: str) -> None:
        self._chars += len(text)
        if self._chars <= _MAX_ANSWER_CHARS:
            parts.append(text)


def whole_answer(body: bytes) -> Answered | None:
    """The answer in the body of a completion; None where it failed or is empty."""
    try:
        choice = json.loads(body)["choices"][0]
        message = choice["message"]
        has_failed = choice.get("finish_reason") == _FAILED
        content = message.get("content") or message.get("refusal") or ""
        calls = message.get("tool_calls") or []
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    content = content if isinstance(content, str) else ""
    calls = tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()
    return Answered(content, calls) if not has_failed and (content or calls) else None
