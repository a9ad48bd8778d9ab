"""`reverie serve` as a process of its own, on a database that is there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
import urllib.error
import urllib.request
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from pydantic import SecretStr

from reverie_indexer.errors import SetupError
from reverie_server.settings.server import Settings

_LISTENS = re.compile(rb"reverie listens on http://([^:]+):(\d+)")
_START_SECONDS = 120.0


def environment_of(settings: Settings, **changes: str) -> dict[str, str]:
    """This process's environment with the settings that are set, and changes on top, as `REVERIE_*` variables."""
    found = dict(os.environ)
    for name in settings.model_fields_set:
        value = getattr(settings, name)
        if value is not None:
            text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            found[f"REVERIE_{name.upper()}"] = text
    return found | {f"REVERIE_{name.upper()}": value for name, value in changes.items()}


@asynccontextmanager
async def served(environment: Mapping[str, str]) -> AsyncIterator[tuple[Process, str, int]]:
    """A server on a free port of loopback, ready with its model; its process, host and port. Gone at the end.

    SetupError when it does not come up within two minutes.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "reverie_server.cli.main",
        "serve",
        "--port",
        "0",
        stdout=DEVNULL,
        stderr=PIPE,
        env=environment,
    )
    assert process.stderr is not None
    reading = None
    try:
        host, port = await _address(process.stderr)
        # From here on only so that the pipe never fills.
        reading = asyncio.create_task(process.stderr.read())
        await asyncio.to_thread(_wait_until_ready, f"http://{host}:{port}/readyz")
        yield process, host, port
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        if reading is not None:
            await reading


async def _address(stderr: asyncio.StreamReader) -> tuple[str, int]:
    last = b"it said nothing"
    async for line in stderr:
        last = line
        if match := _LISTENS.search(line):
            return match[1].decode(), int(match[2])
    raise SetupError(f"the server to be measured ended at its start: {last.decode(errors='replace').strip()}")


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _is_ready(url):
        if time.monotonic() > deadline:
            raise SetupError("the server to be measured did not become ready")
        time.sleep(0.2)


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310  # our own server
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False
