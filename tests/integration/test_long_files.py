"""A long file that is edited again and again: the index is that of its text, whoever wrote it last."""

from __future__ import annotations

import asyncio
import random

import pytest
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer import cutting
from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules

TEAM = Place("default", "wren", "team")
PARTS = [
    "## Heading {0}\n\nA paragraph about the garden of {0}.\n\n",
    "- item {0}\n- item {0} again\n\n  with a second paragraph\n\n",
    "```\ncode {0}\n\n# no heading\n```\n\n",
    "|a|b|\n|-|-|\n|{0}|2|\n\n",
    "> a quotation of {0}\n\n",
    "[a{0}]: https://example.org\n\nThe same line.\n\n",
]


def parts(first: int, count: int) -> str:
    return "".join(PARTS[number % len(PARTS)].format(number) for number in range(first, first + count))


def editing(path: str, seed: int) -> Change:
    """An append, most often; else a part taken out or put in somewhere."""
    draw = random.Random(seed)

    def edit(text: str | None) -> str:
        text = text or ""
        at = draw.choice([len(text), len(text), draw.randrange(len(text) + 1)])
        return text[:at] + parts(1000 + seed, draw.randrange(3)) + text[at + draw.choice([0, 0, 40]) :]

    return Change(path, edit, by="user", reason="append")


@pytest.mark.parametrize("path", ["notes/a.md", "memory/2026-04-03.md"])
async def test_edits_by_two_programs_leave_the_index_of_the_text(
    database: Database, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "REUSED_FROM_CHARS", 500)
    slot = await filled_slot(database, MoodyEmbedder())
    programs = [Pipeline(database, slot, Rules()) for _ in range(2)]
    await programs[0].write(TEAM, overwrite(path, parts(0, 60), by="user", reason="put"))
    reused = 0
    for seed in range(24):
        written = await programs[seed % 3 // 2].write(TEAM, editing(path, seed))
        reused += written.reused
        assert written.embedded
    assert reused > 24 * 40
    await asyncio.gather(*(program.write(TEAM, editing(path, 100 + seed)) for seed in range(4) for program in programs))
    assert_index_consistent(database.conninfo)


async def test_passages_that_others_take_away_meanwhile_are_analysed_after_all(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two programs overwrite a file, each with what the other takes out: none is refused, and none loses a term."""
    monkeypatch.setattr(cutting, "REUSED_FROM_CHARS", 500)
    slot = await filled_slot(database, MoodyEmbedder())
    programs = [Pipeline(database, slot, Rules()) for _ in range(2)]
    texts = [parts(0, 60), parts(60, 60), parts(0, 60) + parts(60, 60)]
    for round_ in range(6):
        await asyncio.gather(
            *(
                program.write(TEAM, overwrite("notes/a.md", texts[(round_ + number) % 3], by="user", reason="put"))
                for number, program in enumerate([*programs, programs[0]])
            )
        )
    assert_index_consistent(database.conninfo)
