"""The OpenAPI text of the routes of OpenAI's protocol. It names few fields: all others pass through to the provider."""

from __future__ import annotations

from typing import Any

_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"type": "string", "enum": ["system", "developer", "user", "assistant", "tool", "function"]},
        "content": {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}, {"type": "null"}]},
    },
}
_REQUEST: dict[str, Any] = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {"type": "array", "minItems": 1, "items": _MESSAGE},
        "model": {"type": "string", "description": "The provider's name of a model; by default the configured one"},
        "stream": {"type": "boolean"},
        "user": {
            "type": "string",
            "description": "The end user, whose memory it is (owner `api:<user>`) where no header names an owner",
        },
        "endUserId": {"type": "string", "description": "The same, before `user`; not sent to the provider"},
    },
    "additionalProperties": True,
    "example": {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "When is the review?"}]},
}
_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1775206800,
    "model": "gpt-4o-mini",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "On Thursday."}, "finish_reason": "stop"},
    ],
}
_MODELS = {
    "object": "list",
    "data": [{"id": "gpt-4o-mini", "object": "model", "created": 1775206800, "owned_by": "openai"}],
}
_PROVIDERS_ERROR = {
    "description": "The provider's error, as it came",
    "content": {"application/json": {"schema": {}}},
}
_EVENTS = (
    'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": '
    '{"content": "On Thursday."}, "finish_reason": null}]}\n\ndata: [DONE]\n\n'
)


def _header(name: str, description: str, example: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"name": name, "in": "header", "schema": schema, "description": description, "example": example}


CHAT_DOCUMENT: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _REQUEST}}},
    "parameters": [
        _header("X-Reverie-Agent", "The agent; by default the one of the key, or `default`", "wren"),
        _header(
            "X-Reverie-Owner", "Whose memory, as `owner_key`; by default the key's, the body's, or shared", "user:42"
        ),
        _header("X-Reverie-End-User", "Short for the owner `api:<end user id>`", "42"),
        _header("X-Reverie-Session", "Where the turn is recorded; by default told by how it began", "web:7"),
    ],
}
CHAT_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The provider's answer",
        "headers": {
            "X-Reverie-Injected": {"description": "How many memories were injected", "schema": {"type": "integer"}},
            "X-Reverie-Warning": {
                "description": "Codes of what memory could not do for this turn",
                "schema": {"type": "string"},
            },
        },
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _ANSWER},
            "text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS},
        },
    },
    "default": _PROVIDERS_ERROR,
}
_RESPONSES_REQUEST = {
    "type": "object",
    "properties": {
        "input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}, {"type": "null"}]},
        "instructions": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "previous_response_id": {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": "The answer that this goes on from; the turn is recorded in the session that has it",
        },
        **{name: _REQUEST["properties"][name] for name in ("model", "stream", "user", "endUserId")},
    },
    "additionalProperties": True,
    "example": {"model": "gpt-4o-mini", "input": "When is the review?"},
}
_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1775206800,
    "status": "completed",
    "model": "gpt-4o-mini",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "On Thursday.", "annotations": []}],
        }
    ],
}
_RESPONSE_EVENT = (
    'event: response.output_text.delta\ndata: {"type": "response.output_text.delta", "delta": "On Thursday."}\n\n'
)
RESPONSES_DOCUMENT: dict[str, Any] = {
    **CHAT_DOCUMENT,
    "requestBody": {"required": True, "content": {"application/json": {"schema": _RESPONSES_REQUEST}}},
}
RESPONSES_RESPONSES: dict[int | str, dict[str, Any]] = {
    **CHAT_RESPONSES,
    200: {
        **CHAT_RESPONSES[200],
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _RESPONSE},
            "text/event-stream": {"schema": {"type": "string"}, "example": _RESPONSE_EVENT},
        },
    },
}
MODELS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The provider's answer",
        "content": {"application/json": {"schema": {"type": "object"}, "example": _MODELS}},
    },
    "default": _PROVIDERS_ERROR,
}
