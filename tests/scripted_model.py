"""A language model's endpoint over real HTTP that answers after a script, and misbehaves where the script says so.

`async with scripted_model() as model:` serves `POST {model.base_url}/chat/completions`, streaming or not, as the
request asks, and `GET {model.base_url}/models`. `model.plan(a, b, …)` says what the next requests get, in order;
afterwards `model.script`, a function of the request, answers. `model.requests` is what was asked, in order of arrival.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import uvicorn

from reverie_server.cli.main import tcp_socket

MODELS = b'{"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]}'


@dataclass(frozen=True)
class Reply:
    """One answer. `body` replaces what would be made of the other fields; `pieces` are the deltas of a stream.

    `hangs` sends nothing until the server ends or `model.release()`; `cut_after` closes the connection after so many
    pieces of a stream (or, not streaming, after so many bytes of the body).
    """

    content: str | None = "Noted."
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    refusal: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] = ()
    body: bytes | None = None
    pieces: Sequence[str] | None = None
    delay_seconds: float = 0.0
    hangs: bool = False
    cut_after: int | None = None


def says(content: str, *, pieces: Sequence[str] | None = None) -> Reply:
    """A plain answer; streamed, in these pieces, else word by word."""
    return Reply(content, pieces=pieces)


def says_json(value: Any) -> Reply:
    """A bare JSON answer."""
    return Reply(json.dumps(value))


def fenced(value: Any, before: str = "Here you are:\n", after: str = "\nAnything else?") -> Reply:
    """A JSON answer in a code fence, with chatter around it."""
    return Reply(f"{before}```json\n{json.dumps(value)}\n```{after}")


def calls_tool(name: str, arguments: Mapping[str, Any], call_id: str = "call_1") -> Reply:
    """An answer that is a tool call."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return Reply(None, finish_reason="tool_calls", tool_calls=(call,))


def truncated(content: str) -> Reply:
    """An answer that ended at the limit of tokens."""
    return Reply(content, finish_reason="length")


def refused(why: str = "I cannot help with that.") -> Reply:
    """A refusal as the protocol has it."""
    return Reply(None, refusal=why)


def slow(seconds: float, content: str = "Noted.") -> Reply:
    """An answer after some time."""
    return Reply(content, delay_seconds=seconds)


def hangs() -> Reply:
    """No answer at all."""
    return Reply(hangs=True)


def fails(
    status: int,
    code: str | None = None,
    message: str = "It went wrong.",
    *,
    headers: Mapping[str, str] | None = None,
    param: str | None = None,
) -> Reply:
    """An error in the form of the protocol."""
    error = {"message": message, "type": "scripted_error", "param": param, "code": code}
    return Reply(status=status, headers=headers or {}, body=json.dumps({"error": error}).encode())


def rate_limited(retry_after: str | None = None, *, retry_after_ms: str | None = None) -> Reply:
    """429, with the time to wait where one is given."""
    headers = {"Retry-After": retry_after, "Retry-After-Ms": retry_after_ms}
    return fails(429, "rate_limit_exceeded", headers={k: v for k, v in headers.items() if v is not None})


def context_too_long() -> Reply:
    """What a provider says when the prompt does not fit."""
    message = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens."
    return fails(400, "context_length_exceeded", message, param="messages")


def broken_json() -> Reply:
    """200 with a body that ends in the middle of its JSON."""
    return Reply(body=b'{"id": "chatcmpl-1", "choices": [{"index": 0, "mess')


def html() -> Reply:
    """200 with a page, as a wrong base URL or a captive portal gives."""
    return Reply(body=b"<!doctype html><title>Welcome</title>", headers={"Content-Type": "text/html"})


def closes_in_stream(content: str, after: int) -> Reply:
    """A stream whose connection breaks after so many pieces."""
    return Reply(content, cut_after=after)


@dataclass(frozen=True)
class Asked:
    """A request that arrived, with its path and query; names of headers in lower case."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    url: str

    @property
    def is_response(self) -> bool:
        return self.url.endswith("/responses")

    @property
    def messages(self) -> list[dict[str, Any]]:
        if not self.is_response:
            return list(self.body["messages"])
        given, instructions = self.body.get("input") or [], self.body.get("instructions")
        said = [{"role": "user", "content": given}] if isinstance(given, str) else given
        return [*([{"role": "system", "content": instructions}] if instructions else []), *said]

    def texts(self, role: str | None = None) -> str:
        """The contents of the messages, or of one role's, one after the other."""
        chosen = [m for m in self.messages if role in (None, m["role"])]
        return "\n".join(m["content"] for m in chosen if isinstance(m.get("content"), str))


Script = Callable[[Asked], Reply]


class ScriptedModel:
    """The server's state. `left` is set when a client did not wait for its answer or for the end of a stream."""

    def __init__(self) -> None:
        self.base_url = ""
        self.requests: list[Asked] = []
        self.script: Script = lambda _: Reply()
        self.arrived = asyncio.Event()
        self.left = asyncio.Event()
        self._planned: list[Reply] = []
        self._released = asyncio.Event()

    def plan(self, *replies: Reply) -> None:
        """What the next requests get, after those planned already."""
        self._planned += replies

    def release(self) -> None:
        """End what hangs: it answers now."""
        self._released.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI application."""
        query = scope["query_string"].decode()
        asked = Asked(*await _read(scope, receive), url=f"{scope['path']}?{query}" if query else scope["path"])
        self.requests.append(asked)
        self.arrived.set()
        if not scope["path"].endswith(("/chat/completions", "/responses", "/models")):
            await _send(send, 404, {"Content-Type": "text/plain"}, b"no such path")
            return
        unplanned = Reply(body=MODELS) if scope["path"].endswith("/models") else None
        reply = self._planned.pop(0) if self._planned else unplanned or self.script(asked)
        if await self._deserted(reply, receive):
            self.left.set()
        elif reply.status == 200 and reply.body is None and asked.body.get("stream"):
            await self._stream(reply, asked, receive, send)
        else:
            whole = response_body if asked.is_response else _completion
            body = json.dumps(whole(reply, asked)).encode() if reply.body is None else reply.body
            headers = {"Content-Type": "application/json", **reply.headers}
            await _send(send, reply.status, headers, body, cut_after=reply.cut_after)

    async def _deserted(self, reply: Reply, receive: Any) -> bool:
        """Wait as the reply says; whether the client went away meanwhile."""
        if not reply.hangs and not reply.delay_seconds:
            return False
        waiting = {
            asyncio.create_task(self._released.wait() if reply.hangs else asyncio.sleep(reply.delay_seconds)),
            gone := asyncio.create_task(_disconnect(receive)),
        }
        done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        return gone in done

    async def _stream(self, reply: Reply, asked: Asked, receive: Any, send: Any) -> None:
        headers = {"Content-Type": "text/event-stream", **reply.headers}
        await send({"type": "http.response.start", "status": 200, "headers": _encoded(headers)})
        gone = asyncio.create_task(_disconnect(receive))
        try:
            events = _response_events if asked.is_response else _events
            for number, event in enumerate(events(reply, asked)):
                if reply.cut_after is not None and number >= reply.cut_after:
                    raise _Cut
                await send({"type": "http.response.body", "body": event, "more_body": True})
                await asyncio.sleep(0)
                if gone.done():
                    self.left.set()
                    return
            last = b"" if asked.is_response else b"data: [DONE]\n\n"
            await send({"type": "http.response.body", "body": last, "more_body": False})
        finally:
            gone.cancel()


class _Cut(Exception):
    """Raised out of the application, so that the server closes the connection."""


@asynccontextmanager
async def scripted_model() -> AsyncIterator[ScriptedModel]:
    """Serve a scripted model on a free loopback port, in this event loop."""
    model = ScriptedModel()
    listener = tcp_socket("127.0.0.1")
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    config = uvicorn.Config(model, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    model.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    try:
        yield model
    finally:
        model.release()
        server.should_exit = True
        await serving
        listener.close()


def unused_base_url() -> str:
    """The base URL of a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def _completion(reply: Reply, asked: Asked) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": asked.body.get("model"),
        "choices": [choice],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def response_body(reply: Reply, asked: Asked) -> dict[str, Any]:
    """A response of the responses API, each with an id of its own."""
    name = uuid4().hex
    output: list[dict[str, Any]] = []
    if reply.content is not None:
        part = {"type": "output_text", "text": reply.content, "annotations": [], "logprobs": []}
        message = {"type": "message", "id": f"msg_{name}", "role": "assistant", "status": "completed"}
        output.append({**message, "content": [part]})
    for call in reply.tool_calls:
        own = {"type": "function_call", "id": f"fc_{name}", "call_id": call["id"], "status": "completed"}
        output.append({**own, **call["function"]})
    return {
        "id": f"resp_{name}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": asked.body.get("instructions"),
        "metadata": {},
        "model": asked.body.get("model"),
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }


def _response_events(reply: Reply, asked: Asked) -> list[bytes]:
    """The text in words, and then the whole response."""
    response = response_body(reply, asked)
    words = {"item_id": "msg", "output_index": 0, "content_index": 0, "logprobs": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        *({"type": "response.output_text.delta", **words, "delta": word} for word in (reply.content or "").split(" ")),
        {"type": "response.completed", "response": response},
    ]
    return [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]


def _events(reply: Reply, asked: Asked) -> list[bytes]:
    """The events of a stream but for the last: role, content in pieces or tool calls in two parts, finish."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    pieces = reply.pieces
    if pieces is None and reply.content is not None:
        words = reply.content.split(" ")
        pieces = [word if number == 0 else f" {word}" for number, word in enumerate(words)]
    deltas += [{"content": piece} for piece in pieces or ()]
    if reply.refusal is not None:
        deltas.append({"refusal": reply.refusal})
    for index, call in enumerate(reply.tool_calls):
        function = call["function"]
        half = len(function["arguments"]) // 2
        first, second = function["arguments"][:half], function["arguments"][half:]
        begin = {**call, "index": index, "function": {"name": function["name"], "arguments": first}}
        deltas.append({"tool_calls": [begin]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reply.finish_reason})
    head = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": asked.body.get("model"),
    }
    return [f"data: {json.dumps({**head, 'choices': [choice]})}\n\n".encode() for choice in choices]


async def _read(scope: Any, receive: Any) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
    return (json.loads(body) if body else {}), headers


async def _disconnect(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(key.lower().encode(), value.encode("latin-1")) for key, value in headers.items()]


async def _send(send: Any, status: int, headers: Mapping[str, str], body: bytes, cut_after: int | None = None) -> None:
    sized = {**headers, "Content-Length": str(len(body))}
    await send({"type": "http.response.start", "status": status, "headers": _encoded(sized)})
    if cut_after is not None:
        await send({"type": "http.response.body", "body": body[:cut_after], "more_body": True})
        raise _Cut
    await send({"type": "http.response.body", "body": body, "more_body": False})
