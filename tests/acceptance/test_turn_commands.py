"""`reverie inject`, `reverie context` and `reverie chat` as a person uses them, with a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.scripted_model import ScriptedModel, fails, says

from reverie_indexer.change import overwrite
from reverie_indexer.model import Place
from reverie_server.access.keys import OPERATOR
from reverie_server.runtime import Runtime

WREN = ["--agent", "wren", "--owner", "user:42"]


class Done(NamedTuple):
    status: int
    out: str
    err: str


class Shell:
    """Runs commands on the test's database."""

    def __init__(self, conninfo: str, directory: Path) -> None:
        self._environment = {
            **os.environ,
            "REVERIE_DATABASE_URL": conninfo,
            "REVERIE_EMBEDDER": "hashing",
            "REVERIE_EMBEDDER_DIMENSION": "64",
        }
        self._directory = directory

    async def run(self, *arguments: str, typed: str = "", **environment: str) -> Done:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "reverie_server.cli.main",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self._environment, **environment},
            cwd=self._directory,
        )
        async with asyncio.timeout(120):
            out, err = await process.communicate(typed.encode())
        return Done(process.returncode or 0, out.decode(), err.decode())


@pytest.fixture
async def shell(conninfo: str, runtime: Runtime, tmp_path: Path) -> Shell:
    place = Place("default", "wren", "personal", "user:42")
    note = "# 2026-04-03\n\nAda moved the harbour review to Thursday.\n"
    await runtime.pipeline.write(place, overwrite("memory/2026-04-03.md", note, by="user", reason="test"))
    return Shell(conninfo, tmp_path)


async def test_inject_shows_what_a_message_gets_and_why_it_gets_nothing(shell: Shell) -> None:
    done = await shell.run("inject", "When is the harbour review with Ada?", *WREN)
    assert done.status == 0, done.err
    assert "- (2026-04-03, memory/2026-04-03.md) Ada moved the harbour review to Thursday." in done.out
    done = await shell.run("inject", "thanks!", "--json", *WREN)
    assert json.loads(done.out)["skipped"] == "trivial"


async def test_context_shows_the_prompt_of_a_turn(shell: Shell) -> None:
    done = await shell.run("context", "When is the harbour review with Ada?", "--system", "You are Wren.", *WREN)
    assert done.status == 0, done.err
    assert done.out.startswith("You are Wren.\n")
    assert "Ada moved the harbour review to Thursday." in done.out
    assert done.out.rstrip().endswith("[user]\nWhen is the harbour review with Ada?")
    assert "system_prompt" in done.err


async def test_chat_injects_answers_and_remembers(shell: Shell, scripted: ScriptedModel, runtime: Runtime) -> None:
    scripted.plan(says("On Thursday."), fails(500), says("You asked about the harbour."))
    model = {"REVERIE_LLM_BASE_URL": scripted.base_url, "REVERIE_LLM_MODEL": "scripted"}
    typed = "When is the harbour review with Ada?\n\nAnd this one fails?\nWhat did I ask?\n/quit\nnever read\n"
    done = await shell.run("chat", "--session", "cli:one", *WREN, typed=typed, **model)
    assert done.status == 0, done.err
    assert done.out.splitlines() == ["On Thursday.", "You asked about the harbour."]
    assert "memory/2026-04-03.md: Ada moved the harbour review to Thursday." in done.err
    assert "HTTP 500" in done.err
    first, _, last = scripted.requests
    assert "Ada moved the harbour review to Thursday." in first.texts("system")
    said = [message["content"] for message in last.messages if message["role"] == "user"]
    assert said == ["When is the harbour review with Ada?", "What did I ask?"]
    principal = (await runtime.gate.read(OPERATOR, "wren", "user:42")).principal
    session = await runtime.sessions.find(principal, "cli:one")
    stored = await runtime.sessions.messages(principal, session, after=0, limit=10)
    assert [message.content for message in stored] == [
        "When is the harbour review with Ada?",
        "On Thursday.",
        "What did I ask?",
        "You asked about the harbour.",
    ]


async def test_chat_without_a_model_says_what_to_set(shell: Shell) -> None:
    done = await shell.run("chat", *WREN, typed="hello\n")
    assert (done.status, done.out) == (1, "")
    assert "REVERIE_LLM_BASE_URL" in done.err
