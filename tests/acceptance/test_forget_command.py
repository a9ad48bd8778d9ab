"""`reverie forget` as a person uses it: first what would go, then what is chosen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.acceptance.test_turn_commands import Shell

from reverie_indexer.change import overwrite
from reverie_indexer.model import Place
from reverie_server.runtime import Runtime

WREN = ["--agent", "wren", "--owner", "user:42"]
NOTE = "# 2026-04-03\n\n- The code of the boathouse is 4471.\n- Ada moved the harbour review to Thursday.\n"
PATH = "memory/2026-04-03.md"


@pytest.fixture
async def shell(conninfo: str, runtime: Runtime, tmp_path: Path) -> Shell:
    place = Place("default", "wren", "personal", "user:42")
    await runtime.pipeline.write(place, overwrite(PATH, NOTE, by="user", reason="test"))
    return Shell(conninfo, tmp_path)


async def found(shell: Shell, words: str) -> bool:
    return words in (await shell.run("search", words, *WREN)).out


async def test_what_is_about_something_is_listed_and_goes_by_its_id(shell: Shell) -> None:
    listed = await shell.run("forget", "the code of the boathouse", *WREN)
    assert listed.status == 0, listed.err
    assert "1. The code of the boathouse is 4471." in listed.out
    assert PATH in listed.out
    assert "nothing was taken out" in listed.out
    assert await found(shell, "4471")
    [item] = re.findall(r"--item (\S+)", listed.out.split("\n2.")[0])
    done = await shell.run("forget", "the code of the boathouse", "--item", item, *WREN)
    assert done.status == 0, done.err
    assert "forgotten: 1 in 1 places, receipt" in done.out
    assert not await found(shell, "4471")
    assert await found(shell, "harbour review")


async def test_the_very_words_go_once_that_is_said_for_sure(shell: Shell) -> None:
    words = "The code of the boathouse is 4471."
    listed = await shell.run("forget", words, "--text", *WREN)
    assert "repeat it with --yes" in listed.out
    assert await found(shell, "4471")
    done = await shell.run("forget", words, "--text", "--yes", *WREN)
    assert "forgotten: 1 in 1 places" in done.out, done.err
    assert not await found(shell, "4471")


async def test_what_is_not_there_and_what_cannot_be_meant_is_said(shell: Shell) -> None:
    nothing = await shell.run("forget", "A text that stands nowhere at all.", "--text", "--yes", *WREN)
    assert (nothing.status, nothing.out) == (0, "nothing found\n")
    both = await shell.run("forget", "the code", "--text", "--item", "x", *WREN)
    assert both.status != 0
    assert "--item" in both.err
    stale = await shell.run("forget", "the code of the boathouse", "--item", "nonsense", *WREN)
    assert stale.status != 0
    assert await found(shell, "4471")
