"""The blocks of the README run as they stand, in their order, against a server that they start themselves.

Only addresses are changed: ports that are free, and a language model of the test. The slow run begins in a copy of what
git has, with the installation that the README describes, and with the default embedding model.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.clusters import cluster_directory
from tests.ports import free_ports
from tests.scripted_model import ScriptedModel

from reverie_server.tools.catalogue import REGISTRY

CHECKOUT = Path(__file__).resolve().parents[2]
README = (CHECKOUT / "README.md").read_text()


@dataclass(frozen=True)
class Reader:
    """Somebody who follows the README in `directory`, with the programs of `venv`."""

    directory: Path
    venv: str
    environment: dict[str, str]
    addresses: dict[str, str]

    def text(self, block: str) -> str:
        """A block with this reader's addresses and programs."""
        for written, actual in {**self.addresses, ".venv/bin/": self.venv}.items():
            block = block.replace(written, actual)
        return block

    def start(self, *command: str, **streams: int) -> subprocess.Popen[str]:
        return subprocess.Popen(command, cwd=self.directory, env=self.environment, text=True, **streams)

    async def run(self, *command: str) -> str:
        """What the command prints; it succeeds."""
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        printed, complaints = await asyncio.to_thread(process.communicate, timeout=900)
        assert process.returncode == 0, f"{command}: {printed}\n{complaints}"
        return printed

    async def shell(self, block: str) -> str:
        return await self.run("bash", "-euo", "pipefail", "-c", self.text(block))

    async def python(self, block: str) -> str:
        return await self.run(self.text(".venv/bin/python"), "-c", self.text(block))

    @asynccontextmanager
    async def serving(self, block: str) -> AsyncIterator[None]:
        """The server that the block starts, until the end."""
        process = self.start("bash", "-c", f"exec env {self.text(block)}", stderr=subprocess.PIPE)
        assert process.stderr is not None
        try:
            lines = []
            while "listens on" not in (line := await asyncio.to_thread(process.stderr.readline)):
                assert line, f"the server ended: {''.join(lines)}"
                lines.append(line)
            yield
        finally:
            process.terminate()
            await asyncio.to_thread(process.communicate, timeout=60)


@contextmanager
def copy_of_what_git_has() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="reverie-readme-") as name:
        names = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
        for path in filter(None, names.stdout.split("\0")):
            target = Path(name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / path, target)
        yield Path(name)


@pytest.mark.parametrize("is_fresh", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["here", "fresh clone"])
async def test_the_blocks_of_the_readme_run_in_their_order(scripted: ScriptedModel, is_fresh: bool) -> None:
    install, serve, write, curl, shell, mcp, serve_with_model, openai = re.findall(
        r"```\w+\n(.+?)```", README[README.index("## Install") :], re.DOTALL
    )
    [port] = free_ports(1)
    addresses = {"127.0.0.1:8077": f"127.0.0.1:{port}", "http://127.0.0.1:8080/v1": scripted.base_url}
    with cluster_directory() as clusters, copy_of_what_git_has() as clone:
        environment = {**os.environ, "REVERIE_DATA_DIR": str(clusters / "data"), "REVERIE_PORT": str(port)}
        if is_fresh:
            environment.pop("PYTHONPATH", None)
            reader = Reader(clone, ".venv/bin/", environment, addresses)
            await reader.shell(install)
        else:
            environment["REVERIE_EMBEDDER"] = "hashing"
            reader = Reader(CHECKOUT, f"{Path(sys.executable).parent}/", environment, addresses)

        async with reader.serving(serve):
            assert "memory/2026-04-03.md:1-3" in (await reader.python(write)).splitlines()[0]
            _, answer = (await reader.shell(curl)).splitlines()
            assert json.loads(answer)["results"][0]["path"] == "memory/2026-04-04.md"
            indexed, *hits = (await reader.shell(shell)).splitlines()
            assert "0 skipped" in indexed
            assert hits
            assert not is_fresh or "fiddle" in " ".join(hits).lower(), hits
            for name, description in json.loads(reader.text(mcp))["mcpServers"].items():
                assert await _tools_of(description, reader) == {tool.name for tool in REGISTRY}, name
        async with reader.serving(serve_with_model):
            assert await reader.python(openai) == "Noted.\n"
        # What this sets off in the background asks the same model, for JSON.
        [turn] = [asked for asked in scripted.requests if "response_format" not in asked.body]
        assert "Ada moved the review to Thursday." in turn.texts()

        keys, *_ = re.findall(r"```sh\n(.+?)```", (CHECKOUT / "docs/operations.md").read_text(), re.DOTALL)
        *_, listed = (
            await reader.shell(re.sub("^reverie", ".venv/bin/reverie", keys, flags=re.MULTILINE))
        ).splitlines()
        assert "phone" in listed


async def _tools_of(description: dict, reader: Reader) -> set[str]:
    """The names of the tools that an MCP client gets by the description of a server."""
    async with httpx2.AsyncClient(headers=description.get("headers")) as http:
        if "url" in description:
            transport = streamable_http_client(description["url"], http_client=http)
        else:
            program = str(reader.directory / description["command"])
            parameters = StdioServerParameters(command=program, args=description["args"], env=reader.environment)
            transport = stdio_client(parameters)
        async with Client(transport, mode="auto") as session:
            return {tool.name for tool in (await session.list_tools()).tools}


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= 140
