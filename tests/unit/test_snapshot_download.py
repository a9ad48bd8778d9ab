"""The file of an export is closed however its download ends, and only its own routes read their bodies themselves."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from reverie_server.files.snapshots import Export
from reverie_server.http.routes.snapshots import Download, takes_archive

SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": [], "asgi": {"spec_version": "2.4"}}


async def never() -> Message:
    raise AssertionError("a download reads no body")


def export(content: bytes) -> Export:
    file = tempfile.TemporaryFile()  # noqa: SIM115  # closing it is what is tested
    file.write(content)
    file.seek(0)
    return Export(file, len(content), "reverie-wren-team-2026-04-03.zip", 1)


async def test_a_download_sends_all_and_closes_its_file() -> None:
    content, sent, whole = bytes(range(256)) * 1000, b"", export(bytes(range(256)) * 1000)

    async def send(message: Message) -> None:
        nonlocal sent
        sent += message.get("body", b"")

    await Download(whole)(SCOPE, never, send)
    assert sent == content
    assert whole.file.closed


@pytest.mark.parametrize("at", [0, 1, 2])
async def test_a_client_that_goes_away_leaves_no_open_file(at: int) -> None:
    whole, calls = export(b"x" * 200_000), 0

    async def send(message: Message) -> None:
        nonlocal calls
        calls += 1
        if calls > at:
            raise OSError("gone")

    with pytest.raises(ClientDisconnect):
        await Download(whole)(SCOPE, never, send)
    assert whole.file.closed


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/api/v1/agents/wren/workspace/memory/import", True),
        ("POST", "/api/v1/agents/wren/workspace/memory/import/preview", True),
        ("PUT", "/api/v1/agents/wren/workspace/memory/import", False),
        ("POST", "/api/v1/agents/wren/workspace/memory/import/", False),
        ("POST", "/api/v1/agents/wren/workspace/memory/import/preview/x", False),
        ("POST", "/api/v1/agents/wren/files/workspace/memory/import", False),
        ("POST", "/api/v1/agents/wren/files/x/workspace/memory/import", False),
        ("POST", "/api/v1/agents/wren/memory/search", False),
    ],
)
def test_which_requests_read_their_bodies_themselves(method: str, path: str, expected: bool) -> None:
    assert takes_archive({**SCOPE, "method": method, "path": path}) is expected
