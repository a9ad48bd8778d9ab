"""`reverie mcp` as a client runs it: the official one over stdio, and line by line."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.clusters import cluster_directory

from reverie_server.runtime import Runtime

COMMAND = ["-m", "reverie_server.cli.main", "mcp"]
PATIENCE_SECONDS = 120
HANDSHAKE = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A data directory with an embedded PostgreSQL of this module's."""
    with cluster_directory() as directory:
        yield directory / "data"


def is_stopped(data_dir: Path) -> bool:
    return not (data_dir / "postgres" / "postmaster.pid").exists()


class Process:
    """The command, spoken to line by line."""

    def __init__(self, *options: object, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND, *map(str, options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "REVERIE_EMBEDDER": "hashing", **environment},
        )
        self.sent = 0

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self.sent += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}).encode())
        return self.sent

    def call(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", name=tool, arguments=arguments)

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE_SECONDS)[0], "no answer"
        line = self.process.stdout.readline()
        assert line, self.end(stdin=False)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = self.send(method, **params)
        answer = self.read()
        assert answer["id"] == number
        return answer["result"]

    def shake_hands(self) -> dict[str, Any]:
        result = self.ask(HANDSHAKE["method"], **HANDSHAKE["params"])
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return result

    def end(self, *, stdin: bool = True) -> tuple[int, str, str]:
        """Close its input, wait for it to end: exit status, the rest of stdout, stderr."""
        if stdin:
            out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        else:
            assert self.process.stdout is not None
            assert self.process.stderr is not None
            self.process.wait(PATIENCE_SECONDS)
            out, err = self.process.stdout.read(), self.process.stderr.read()
        return self.process.returncode, out.decode(), err.decode()


@contextmanager
def started(*options: object, **environment: str) -> Iterator[Process]:
    process = Process(*options, **environment)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.communicate()


@asynccontextmanager
async def connected(*options: object, mode: str = "legacy", **environment: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, *map(str, options)], env={"REVERIE_EMBEDDER": "hashing", **environment}
    )
    async with Client(stdio_client(parameters), mode=mode) as session:
        yield session


async def run(session: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, answer
    return answer.structured_content


async def refused(session: Client, tool: str, **arguments: Any) -> str:
    answer = await session.call_tool(tool, arguments)
    assert answer.is_error, answer
    return answer.structured_content["error"]["code"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_calls_every_tool(data_dir: Path, mode: str) -> None:
    where = ["--agent", mode, "--owner", "user:42", "--data-dir", data_dir]
    async with connected(*where, mode=mode) as session:
        assert session.server_info.name == "reverie"
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert len(names) == 12
        await run(session, "write_workspace_memory_file", filename="a.md", content="The quagga grazes.\n\nAt dawn.\n")
        await run(session, "edit_workspace_memory_file", filename="a.md", old_text="dawn", newText="dusk")
        found = (await run(session, "memory_search", query="quagga"))["results"][0]
        assert (found["path"], found["scope"]) == ("a.md", "personal")
        assert (await run(session, "memory_expand", id=found["id"]))["after"][0]["text"] == "At dusk."
        assert (await run(session, "knowledge_graph_search", query="quagga"))["entities"] == []
        assert (await run(session, "memory_get", path="a.md", fromLine=3))["content"] == "At dusk.\n"
        assert (await run(session, "read_workspace_memory_file", filename="a.md"))["version"] == 2
        assert (await run(session, "search_workspace_memory", query="dusk"))["total_hits"] == 1
        assert len((await run(session, "list_workspace_memory_files"))["files"]) == 5
        await run(session, "save_memory", content="Lives by the harbour in Thalvik.", category="profile")
        await run(session, "update_memory", old_text="Thalvik", new_text="Norrhavn")
        assert (
            await refused(session, "save_memory", content="Lives by the harbour in Norrhavn.") == "duplicate_detected"
        )
        await run(session, "forget_memory", text="Lives by the harbour in Norrhavn.", confirm=True)
        assert await refused(session, "memory_get", path="b.md", agent="x") == "validation_error"


def test_stdout_is_the_protocols_alone_and_the_end_of_input_is_a_clean_end(data_dir: Path) -> None:
    with started("--agent", "wren", "--data-dir", data_dir, REVERIE_LOG_LEVEL="debug") as process:
        assert process.shake_hands()["serverInfo"]["name"] == "reverie"
        process.write(b"this is no message")
        assert process.read()["error"]["code"] == -32700
        process.write(b'["neither is this"]')
        assert process.read()["error"]["code"] == -32600
        process.write(b"")
        assert process.ask("ping") == {}
        process.send("no/such")
        assert process.read()["error"]["code"] == -32601
        answer = process.ask("tools/call", name="save_memory", arguments={"content": "Lives in Thalvik."})
        assert answer["isError"] is False
        status, out, err = process.end()
    assert (status, out) == (0, "")
    assert "embedder_ready" in err
    assert is_stopped(data_dir), "the last client stops PostgreSQL"


def test_what_was_asked_before_the_end_of_input_is_still_answered(data_dir: Path) -> None:
    with started("--agent", "wren", "--data-dir", data_dir) as process:
        process.send(HANDSHAKE["method"], **HANDSHAKE["params"])
        numbers = [process.call("save_memory", content=f"Item {n} of the list is here.") for n in range(5)]
        cancelled = process.call("memory_search", query="x")
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}
        process.write(json.dumps(note).encode())
        process.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}')
        status, out, err = process.end()
    answers = {message["id"]: message for message in map(json.loads, out.splitlines())}
    assert status == 0, err
    assert {1, *numbers} <= answers.keys()
    assert all(answers[number]["result"]["isError"] is False for number in numbers)


@pytest.mark.parametrize(
    ("number", "is_open"),
    [
        (signal.SIGTERM, True),
        pytest.param(signal.SIGINT, True, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, False, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, False, marks=pytest.mark.slow),
    ],
)
def test_a_signal_is_a_clean_end_even_while_the_client_is_silent(
    data_dir: Path, number: signal.Signals, is_open: bool
) -> None:
    """Also while PostgreSQL is being started: it is then stopped too."""
    with started("--agent", "wren", "--data-dir", data_dir) as process:
        process.shake_hands()
        if is_open:
            process.ask("tools/call", name="list_workspace_memory_files", arguments={})
        process.process.send_signal(number)
        status, _, err = process.end(stdin=False)
    assert (status, err) == (0, "")
    assert is_stopped(data_dir)


def test_the_client_is_answered_at_once_whatever_the_database_does() -> None:
    """The database takes the connection and says nothing; the handshake and the list need none."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x"
        with started("--agent", "wren", REVERIE_DATABASE_URL=url) as process:
            process.shake_hands()
            assert len(process.ask("tools/list")["tools"]) == 12
            assert process.ask("ping") == {}
            process.process.send_signal(signal.SIGTERM)
            assert process.end(stdin=False)[0] == 0


def test_a_start_that_fails_answers_the_call_and_ends_with_one_line() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"postgresql://secret-name@127.0.0.1:{nobody.getsockname()[1]}/x"
        with started("--agent", "wren", REVERIE_DATABASE_URL=url) as process:
            process.shake_hands()
            answer = process.ask("tools/call", name="memory_search", arguments={"query": "x"})
            status, out, err = process.end(stdin=False)
    assert answer["isError"] is True
    assert answer["structuredContent"]["error"]["code"] == "database_unavailable"
    assert (status, out) == (1, "")
    assert err.splitlines()[-1].startswith("reverie: PostgreSQL does not answer")
    assert "Traceback" not in err


async def test_another_model_than_the_indexs_is_told_and_ends_it(conninfo: str, runtime: Runtime) -> None:
    del runtime  # its model is the one of the index, 64-dimensional
    with started("--agent", "wren", REVERIE_DATABASE_URL=conninfo, REVERIE_EMBEDDER_DIMENSION="128") as process:
        process.shake_hands()
        answer = process.ask("tools/call", name="memory_search", arguments={"query": "x"})
        status, _, err = process.end(stdin=False)
    assert answer["structuredContent"]["error"]["code"] == "model_mismatch"
    assert status == 1
    assert "reverie embeddings migrate" in err.splitlines()[-1]


async def test_a_given_key_and_its_bounds_hold(conninfo: str, runtime: Runtime) -> None:
    keys = {"REVERIE_DATABASE_URL": conninfo, "REVERIE_EMBEDDER_DIMENSION": "64"}
    key_id, bound = await runtime.keys.create("acme", "member", owner_key="user:ada", agent_ids=["wren"])
    _, viewer = await runtime.keys.create("acme", "viewer")
    async with connected("--agent", "wren", REVERIE_API_KEY=bound, **keys) as session:
        assert (await run(session, "save_memory", content="The quagga of Ada."))["scope"] == "personal"
        found = (await run(session, "memory_search", query="quagga"))["results"][0]
        async with connected("--agent", "wren", REVERIE_API_KEY=viewer, **keys) as other:
            assert await refused(other, "save_memory", content="x") == "forbidden"
            assert await refused(other, "memory_expand", id=found["id"]) == "not_found"
        async with connected("--agent", "wren", "--owner", "user:ada", **keys) as operator:
            assert await refused(operator, "memory_search", query="quagga") == "not_found", "the tenant is another"
            assert (await run(operator, "save_memory", content="Of the operator."))["scope"] == "personal"
        await runtime.keys.revoke(key_id)
        assert await refused(session, "memory_search", query="quagga") == "unauthorized"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--agent", "finch"], "bound to other agents"),
        (["--agent", "wren", "--owner", "user:bo"], "bound to another owner"),
    ],
)
async def test_what_a_key_is_not_for_ends_the_command(
    conninfo: str, runtime: Runtime, options: list[str], told: str
) -> None:
    _, key = await runtime.keys.create("acme", "member", owner_key="user:ada", agent_ids=["wren"])
    with started(
        *options, REVERIE_DATABASE_URL=conninfo, REVERIE_EMBEDDER_DIMENSION="64", REVERIE_API_KEY=key
    ) as process:
        status, out, err = process.end(stdin=False)
    assert (status, out, len(err.splitlines())) == (1, "", 1), err
    assert told in err


@pytest.mark.parametrize("has_keys", [True, False])
async def test_a_key_that_is_none_of_the_servers_ends_the_command(
    conninfo: str, runtime: Runtime, has_keys: bool
) -> None:
    if has_keys:
        await runtime.keys.create("acme", "admin")
    key = "rv_0123456789abcdef_" + "A" * 43
    with started(
        "--agent", "wren", REVERIE_DATABASE_URL=conninfo, REVERIE_EMBEDDER_DIMENSION="64", REVERIE_API_KEY=key
    ) as process:
        status, out, err = process.end(stdin=False)
    assert (status, out, err) == (1, "", "reverie: REVERIE_API_KEY is not a valid key of this server\n")


@pytest.mark.parametrize(
    "options", [[], ["--agent", "a b"], ["--agent", "wren", "--owner", "nobody"], ["--agent", "wren", "--nonsense"]]
)
def test_wrong_use_is_status_2_and_one_line(options: list[str]) -> None:
    with started(*options) as process:
        status, out, err = process.end()
    assert (status, out, len(err.splitlines())) == (2, "", 1), err
    assert err.startswith("reverie: ")
