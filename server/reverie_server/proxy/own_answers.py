"""The server's own answers, to commands, in the forms of the protocols. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
_NO_TOKENS = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """An answer of the server's own: a chat completion that no model has written."""

    text: str
    name: str
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
        return {"id": f"chatcmpl-{self.name}", "object": kind, "created": self.created, "model": self.model}


@dataclass(frozen=True, slots=True)
class OwnResponse:
    """The same as a response of the responses API."""

    text: str
    name: str
    created: int
    model: str

    def response(self) -> dict[str, Any]:
        """The response as a whole."""
        return {**self._head("completed"), "output": [self._message("completed", [self._part])], "usage": _NO_TOKENS}

    def events(self) -> Iterator[bytes]:
        """The response as the events of a stream."""
        message = {"item_id": f"msg_{self.name}", "output_index": 0, "content_index": 0}
        begun = {**self._head("in_progress"), "output": [], "usage": None}
        whole = self._message("completed", [self._part])
        events: list[tuple[str, dict[str, Any]]] = [
            ("response.created", {"response": begun}),
            ("response.output_item.added", {"output_index": 0, "item": self._message("in_progress", [])}),
            ("response.content_part.added", {**message, "part": {**self._part, "text": ""}}),
            ("response.output_text.delta", {**message, "delta": self.text, "logprobs": []}),
            ("response.output_text.done", {**message, "text": self.text, "logprobs": []}),
            ("response.content_part.done", {**message, "part": self._part}),
            ("response.output_item.done", {"output_index": 0, "item": whole}),
            ("response.completed", {"response": self.response()}),
        ]
        for number, (kind, fields) in enumerate(events):
            yield f"event: {kind}\n".encode() + _event({"type": kind, "sequence_number": number, **fields})

    @property
    def _part(self) -> dict[str, Any]:
        return {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}

    def _message(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        ids = {"type": "message", "id": f"msg_{self.name}", "role": "assistant"}
        return {**ids, "status": status, "content": content}

    def _head(self, status: str) -> dict[str, Any]:
        """The fields that a client's library demands."""
        head = {"id": f"resp_{self.name}", "object": "response", "created_at": self.created, "status": status}
        nothing: dict[str, Any] = {"error": None, "incomplete_details": None, "instructions": None, "metadata": {}}
        return {**head, **nothing, "model": self.model, "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}


def _event(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()
