"""What only repeats others is no source of facts: the diary of the nights, its archives, those of MEMORY.md."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.facts import read_facts, reading, rows
from tests.talks import Talk

from reverie_indexer.database.upgrade import load_migrations
from reverie_server.facts import sources
from reverie_server.long_term.archive import archive_stem
from reverie_server.nights import diary
from reverie_server.nights.soul.due import is_counted
from reverie_server.runtime import Runtime
from reverie_server.text.numbered_parts import part_path

MIGRATIONS = Path(__file__).parents[2] / "migrations"
ARCHIVE = diary.archive_path("2026-04")
ENTRY = "## 2026-04-02 02:00 emergence: 1 of 7 candidates (report 1)\n\nConcluded: home of user = Rome.\n"


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(reading(runtime))


async def homes(talk: Talk) -> dict[str, str]:
    return {fact["object"]: fact["state"] for fact in await rows(talk)}


async def say_rome_then_paris(talk: Talk) -> None:
    await talk.put("memory/2026-04-01.md", "- home of user = Rome.\n")
    await talk.put("memory/2026-05-20.md", "- home of user = Paris.\n")
    await read_facts(talk)
    assert await homes(talk) == {"Rome": "superseded", "Paris": "current"}


@pytest.mark.parametrize("path", [diary.PATH, ARCHIVE, part_path(archive_stem(datetime(2026, 4, 3, tzinfo=UTC)), 2)])
async def test_what_was_said_before_does_not_hold_again_where_it_is_repeated(talk: Talk, path: str) -> None:
    await say_rome_then_paris(talk)
    await talk.put(path, f"# Dreams\n\n{ENTRY}")
    await read_facts(talk)
    assert await homes(talk) == {"Rome": "superseded", "Paris": "current"}
    assert not is_counted(path, "diary")


async def test_what_earlier_releases_read_in_the_diary_goes(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    [migration] = [step for step in load_migrations(MIGRATIONS) if step.name == "0050_no_facts_of_the_diary"]
    await say_rome_then_paris(talk)
    await talk.put(ARCHIVE, f"# Dreams of 2026-04\n\n{ENTRY}")
    with monkeypatch.context() as before:
        before.setattr(sources, "only_repeats", lambda path: False)
        await read_facts(talk)
    assert await homes(talk) == {"Rome": "current", "Paris": "superseded"}
    async with talk.runtime.database.maintenance() as connection:
        for statement in migration.statements:
            await connection.execute(statement)
    await read_facts(talk)
    assert await homes(talk) == {"Rome": "superseded", "Paris": "current"}
    assert {source["path"] for source in await rows(talk, "fact_sources")} == {
        "memory/2026-04-01.md",
        "memory/2026-05-20.md",
    }
