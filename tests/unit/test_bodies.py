"""Bodies are read up to their limits and no further, and what is in memory of them is counted until it is gone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.types import Message

from reverie_indexer.errors import Overloaded, PayloadTooLarge, TooManyRequests, ValidationFailed
from reverie_server.http.bodies import BodyMemory, ClientGone
from reverie_server.http.json_shape import check_shape


class Sent:
    """A body in parts; reading past its end fails."""

    def __init__(self, *parts: bytes, length: bytes | None = None) -> None:
        self.messages: list[Message] = [
            {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
            for number, part in enumerate(parts)
        ]
        self.scope: dict[str, Any] = {"headers": [(b"content-length", length)] if length is not None else []}

    async def receive(self) -> Message:
        assert self.messages, "read past the end of the body"
        return self.messages.pop(0)


async def read(sent: Sent, max_bytes: int = 10, memory: BodyMemory | None = None, key: str = "a") -> bytes:
    with (memory or BodyMemory(100, 100)).body_of(key) as body:
        return await body.read(sent.scope, sent.receive, max_bytes)


async def test_a_body_of_exactly_the_limit_goes_through() -> None:
    assert await read(Sent(b"12345", b"", b"67890", length=b"10")) == b"1234567890"


@pytest.mark.parametrize("parts", [[b"12345678901"], [b"1234567890", b"1"], [b"12345678901", b"2", b""]])
async def test_a_body_over_the_limit_is_refused_as_soon_as_it_is_one(parts: list[bytes]) -> None:
    with pytest.raises(PayloadTooLarge):
        await read(Sent(*parts))


async def test_of_a_body_that_says_it_is_over_the_limit_nothing_is_read() -> None:
    sent = Sent(b"12345678901", length=b"11")
    with pytest.raises(PayloadTooLarge):
        await read(sent)
    assert len(sent.messages) == 1


async def test_a_length_that_is_no_number_is_not_believed() -> None:
    assert await read(Sent(b"123", length=b"1e9")) == b"123"


async def test_a_client_that_goes_away_is_told_from_a_body_that_ends() -> None:
    sent = Sent(b"12", b"34")
    sent.messages[1] = {"type": "http.disconnect"}
    with pytest.raises(ClientGone):
        await read(sent)


async def test_bodies_in_memory_are_limited_by_key_and_together_until_they_are_gone() -> None:
    memory = BodyMemory(10, 6)
    with memory.body_of("a") as first, memory.body_of("b") as second:
        await first.read({"headers": []}, Sent(b"12345").receive, 10)
        with pytest.raises(TooManyRequests):
            await read(Sent(b"12"), memory=memory, key="a")
        await second.read({"headers": []}, Sent(b"1234").receive, 10)
        with pytest.raises(Overloaded):
            await read(Sent(b"12"), memory=memory, key="c")
        assert memory.used_bytes == 9
        assert await read(Sent(b"1"), memory=memory, key="c") == b"1"
    assert memory.used_bytes == 0
    assert await read(Sent(b"123456"), memory=memory) == b"123456"


@pytest.mark.parametrize(
    "content",
    ["," * 1_048_576, '"' * 1_048_576, "\\" * 1_048_576, '[{"a":' * 150_000, "]" * 1_048_576, 'a",\\"[' * 100_000],
)
def test_what_a_text_says_does_not_count(content: str) -> None:
    check_shape(json.dumps({"content": content}).encode())


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({f"field_{n}": n for n in range(500_000)}).encode(),
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 8_000_000,
        b"[" + b"1," * 500_000 + b"1]",
        b"[" + b"[]," * 500_000 + b"1]",
        b'["' + b'","' * 500_000 + b'"]',
        # A quotation mark in bytes that is half of a letter: all that follows would count as one text.
        *[f'{{"\u2200": [{"1," * 500_000}1]}}'.encode(name) for name in ("utf-16-le", "utf-16", "utf-32-be")],
    ],
    ids=lambda body: repr(body[:12]),
)
def test_json_of_many_values_or_levels_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationFailed):
        check_shape(body)


@pytest.mark.parametrize("depth", [100, 101])
def test_the_deepest_json_that_is_taken(depth: int) -> None:
    body = b"[" * depth + b"]" * depth + b" " * 10
    if depth > 100:
        with pytest.raises(ValidationFailed, match="levels"):
            check_shape(body)
    else:
        check_shape(body)


@pytest.mark.parametrize(
    "body", [b"", b"no json", b"]" * 1_000_000, b'"' * 500, b"\xff" * 1000, b'{"a": "' + b"," * 999]
)
def test_what_is_no_json_is_left_to_the_parser(body: bytes) -> None:
    check_shape(body)
