"""The body limit keeps no more than it allows, answers every client it can, and never waits for what is not coming."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from reverie_server.http.operations import DISCARDED_BODIES, BodyLimit


async def run(parts: list[bytes], headers: list[tuple[bytes, bytes]] | None = None) -> tuple[int, bytes, int]:
    """The status, what the application got, and how many messages were left unread; reading past the end fails."""
    messages: list[Message] = [
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    ]
    got, status = b"", 0

    async def receive() -> Message:
        assert messages, "read past the end of the body"
        return messages.pop(0)

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal got
        while True:
            message = await receive()
            got += message["body"]
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})

    scope: dict[str, Any] = {"type": "http", "method": "PUT", "path": "/", "headers": headers or []}
    await BodyLimit(app, max_bytes=10)(scope, receive, send)
    return status, got, len(messages)


async def test_a_body_of_exactly_the_limit_goes_through() -> None:
    assert await run([b"12345", b"", b"67890"], [(b"content-length", b"10")]) == (200, b"1234567890", 0)


@pytest.mark.parametrize("parts", [[b"12345678901"], [b"1234567890", b"1"], [b"12345678901", b"2", b""]])
async def test_a_body_over_the_limit_is_read_to_its_end_and_refused(parts: list[bytes]) -> None:
    assert await run(parts) == (413, b"", 0)
    assert await run(parts, [(b"content-length", b"11")]) == (413, b"", 0)


async def test_nobody_can_make_the_server_read_for_ever() -> None:
    status, got, unread = await run([b"1234567890"] * 100)
    assert (status, got) == (413, b"")
    assert unread == 100 - DISCARDED_BODIES - 1


async def test_a_length_that_is_no_number_is_not_believed() -> None:
    assert await run([b"123"], [(b"content-length", b"1e9")]) == (200, b"123", 0)
