"""The answer in a response of the responses API, streamed or whole, read while its bytes pass through. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reverie_server.llm.streamed import Answered, StreamedAnswer

# An answer that was cut at the limit of its length is one, too.
_DONE = ("completed", "incomplete")
_TEXTS = ("text", "refusal")


class StreamedResponse(StreamedAnswer):
    """Collects a response from server-sent events, of which the last has the whole of it."""

    def __init__(self) -> None:
        super().__init__()
        self._response: Answered | None = None

    def answer(self) -> Answered | None:
        """The whole answer; None before its end, or when it failed or is empty."""
        self._flush()
        return self._response

    def _chunk(self, chunk: Any) -> None:
        kind, is_end = str(chunk.get("type")).partition(".")[::2]
        if kind == "response" and is_end in (*_DONE, "failed"):
            self._ended = True
            self._response = answered(chunk["response"])


def whole_response(body: bytes) -> Answered | None:
    """The answer in the body of a response; None where it failed, is not there yet, or is empty."""
    try:
        return answered(json.loads(body))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def answered(response: Mapping[str, Any]) -> Answered | None:
    """The texts and calls of a response; None for one that failed, is under way or is empty."""
    if response.get("status", "completed") not in _DONE:
        return None
    texts: list[str] = []
    calls: list[Mapping[str, Any]] = []
    for item in response["output"]:
        if item.get("type") == "message":
            texts.append("".join(part[name] for part in item["content"] for name in _TEXTS if part.get(name)))
        elif item.get("type") == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            calls.append({"id": item["call_id"], "type": "function", "function": function})
    content = "\n\n".join(filter(None, texts))
    return Answered(content, tuple(calls), str(response.get("id") or "")) if content or calls else None
